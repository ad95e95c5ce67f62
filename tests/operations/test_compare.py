"""Two texts compared with one version."""

from typing import Any

import pytest

from tests.contexts import AUTHOR, COLD, ON_SQLITE, SCORER, STRANGER, WARM, draft
from traitbench.contract.scores import Card, CompareRequest, Comparison, ScoreRequest
from traitbench.errors import (
    InvalidHandle,
    ModelArchived,
    ModelNotFound,
    ModelNotTrained,
    TraitbenchError,
    ValidationFailed,
    VersionNotFound,
)
from traitbench.operations import models, scores
from traitbench.operations.access import Caller
from traitbench.operations.context import Context

pytestmark = ON_SQLITE

A, B = COLD[1], WARM[1]


def _compare(context: Context, handle: str, *, caller: Caller = SCORER, **fields: Any) -> Comparison:
    return scores.compare(context, caller, handle, CompareRequest(**{"a": A, "b": B, **fields}), request_id="req_1")


def _score(context: Context, handle: str, text: str) -> Card:
    return scores.score(context, SCORER, handle, ScoreRequest(content=text), request_id="req_1")


def test_both_cards_are_those_of_a_score(working: Context, toned: str) -> None:
    compared = _compare(working, toned)
    assert (compared.a, compared.b) == (_score(working, toned, A), _score(working, toned, B))


def test_what_changes_is_counted_from_the_first_to_the_second(working: Context, toned: str) -> None:
    compared = _compare(working, toned)
    assert compared.improvement == compared.b.composite - compared.a.composite
    assert {key: (delta.a, delta.b) for key, delta in compared.per_trait.items()} == {
        key: (compared.a.scores[key], compared.b.scores[key]) for key in ("warmth", "coldness")
    }
    assert all(delta.delta == delta.b - delta.a for delta in compared.per_trait.values())
    assert compared.per_trait["warmth"].delta > 0 > compared.per_trait["coldness"].delta
    assert {delta.certain for delta in compared.per_trait.values()} == {True}
    assert compared.certain is False, "one trait rises and the other one falls"


def test_a_text_compared_with_itself_changes_nothing(working: Context, toned: str) -> None:
    compared = _compare(working, toned, b=A)
    assert compared.a == compared.b
    assert (compared.improvement, {delta.delta for delta in compared.per_trait.values()}) == (0, {0})
    assert {compared.certain, *(delta.certain for delta in compared.per_trait.values())} == {False}


def test_only_the_traits_asked_for_are_compared(working: Context, toned: str) -> None:
    compared, everything = _compare(working, toned, traits=["Cool"]), _compare(working, toned)
    assert set(compared.per_trait) == set(compared.a.scores) == {"coldness"}
    assert compared.per_trait["coldness"] == everything.per_trait["coldness"]


def test_a_pinned_handle_compares_by_that_version(working: Context, toned: str) -> None:
    for pin in ("v1", "first", "active"):
        assert _compare(working, f"{toned}@{pin}") == _compare(working, toned)


@pytest.mark.parametrize(
    ("pin", "fields", "caller", "error"),
    [
        ("@v7", {}, SCORER, VersionNotFound),
        ("@nightly", {}, SCORER, VersionNotFound),
        ("@", {}, SCORER, InvalidHandle),
        ("", {}, STRANGER, ModelNotFound),
        ("", {"traits": ["zeal"]}, SCORER, ValidationFailed),
    ],
)
def test_what_cannot_be_compared_is_refused(
    working: Context, toned: str, pin: str, fields: dict[str, Any], caller: Caller, error: type[TraitbenchError]
) -> None:
    with pytest.raises(error):
        _compare(working, toned + pin, caller=caller, **fields)


def test_a_model_without_a_version_cannot_compare(context: Context) -> None:
    handle = draft(context)
    with pytest.raises(ModelNotTrained):
        _compare(context, handle)
    models.delete(context, AUTHOR, handle)
    with pytest.raises(ModelArchived):
        _compare(context, handle)

"""Scores and comparisons of texts: the card of the scoring core, for one version, for some traits, for who may read."""

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.contexts import AUTHOR, COLD, ON_SQLITE, SCORER, STRANGER, WARM, draft
from tests.operations.author import active, row, score, toned_model
from traitbench import errors
from traitbench.contract.scores import Card, CompareRequest, Comparison, ScoreRequest
from traitbench.encoders import FULL, counted_apart
from traitbench.operations import models, scores
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.scoring import card
from traitbench.scoring.snapshot import Snapshot
from traitbench.store import models as stored
from traitbench.store import versions as stored_versions
from traitbench.store.database import writing

pytestmark = ON_SQLITE

TEXT = "thank you, how kind of you, my friend"
CONTENTS = (TEXT, "...", " é\u2028\U0001f600 ", f"{TEXT}. That was cold.\n\nWas it? " * 30)
A, B = COLD[1], WARM[1]


def _compare(context: Context, handle: str, *, caller: Caller = SCORER, **fields: Any) -> Comparison:
    return scores.compare(context, caller, handle, CompareRequest(**{"a": A, "b": B, **fields}), request_id="req_1")


def _built(context: Context, handle: str, content: str, names: list[str] | None = None) -> Card:
    """The card that the scoring core makes of the snapshot."""
    snapshot = active(context, handle, "v1").snapshot
    assert snapshot is not None
    result = card.score(Snapshot.from_json(snapshot), context.encoder.encode, content, traits=names).to_wire()
    metadata = {"request_id": "req_1", "version_id": "v1", "sample_ids": []}
    return Card.model_validate(result | {"input_tokens": context.encoder.count_tokens(content), "metadata": metadata})


# ---- one text --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("names", [None, ["Cool"], ["coldness", "warmth"]])
def test_a_card_is_written_as_the_scoring_core_would_have_it(
    context: Context, toned: str, content: str, names: list[str] | None
) -> None:
    """The same bytes as the core's own card, made without the service's writer; reasons come behind it."""
    alone = _built(context, toned, content, names)
    for explain in (False, True):
        request = ScoreRequest(content=content, traits=names, explain=explain)
        written = scores.written(context, SCORER, toned, request, request_id="req_1").decode()
        without, reasons, _ = written.removesuffix("}").partition(',"explanation":{')
        assert without == alone.model_dump_json().removesuffix("}")
        assert bool(reasons) == explain
    assert score(context, toned, content, traits=names, caller=SCORER) == alone


def test_the_same_text_gives_the_same_card(context: Context, toned: str) -> None:
    again = replace(context, snapshots=type(context.snapshots)())
    assert score(context, toned, TEXT) == score(again, toned, TEXT)
    assert score(context, toned, TEXT).scores["warmth"] > 60 > 40 > score(context, toned, TEXT).scores["coldness"]
    assert score(context, toned, "see https://example.org").scores, "a text with an address in it is a text"


def test_a_subset_of_traits_never_changes_a_number(context: Context, toned: str) -> None:
    everything = score(context, toned, TEXT)
    for named, key in (("coldness", "coldness"), ("Cool", "coldness"), ("warmth", "warmth")):
        part = score(context, toned, TEXT, traits=[named])
        assert part.scores == {key: everything.scores[key]}
        assert part.detail[key] == everything.detail[key]
    assert score(context, toned, TEXT, traits=["Cool", "warmth", "coldness"]) == everything
    with pytest.raises(errors.ValidationFailed) as caught:
        score(context, toned, TEXT, traits=["warmth", "zeal", "mirth"])
    assert [error["loc"] for error in caught.value.details["errors"]] == [["traits", 1], ["traits", 2]]


class Newer:
    """An encoder that was installed after a version was trained."""

    id, dimension, digest, modes = "newer-1", 4, "0" * 64, MappingProxyType[str, slice]({})

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> NDArray[np.float32]:
        return np.zeros((len(texts), self.dimension), np.float32)

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[NDArray[np.float32], list[int]]:
        return counted_apart(self, texts, mode=mode)

    def words(self) -> Sequence[str]:
        return ()


def test_a_version_is_scored_with_the_encoder_it_was_trained_with(context: Context, toned: str) -> None:
    assert score(replace(context, encoder=Newer()), toned, TEXT) == score(context, toned, TEXT)


def test_a_version_of_an_encoder_that_is_not_here_is_refused(context: Context) -> None:
    handle = toned_model(context)
    shown = active(context, handle)
    assert shown.snapshot is not None
    model_id = row(context, handle).id
    with writing(context.engine) as connection:
        stored_versions.add(
            connection,
            snapshot=shown.snapshot | {"encoder": shown.snapshot["encoder"] | {"id": "lost-1", "digest": "f" * 64}},
            model_id=model_id,
            version_no=stored.next_version_no(connection, model_id),
            **shown.model_dump(include={"triggered_by", "param_hash", "sample_count", "metrics", "created_at"}),
            run_id=None,
        )
    with pytest.raises(errors.FeatureUnavailable) as caught:
        score(context, f"{handle}@v2")
    assert caught.value.details["encoder"] == "lost-1"


# ---- two texts -------------------------------------------------------------------------------------------------------


def test_a_comparison_counts_what_changes_from_the_first_card_to_the_second(context: Context, toned: str) -> None:
    compared = _compare(context, toned)
    assert (compared.a, compared.b) == tuple(score(context, toned, text, caller=SCORER) for text in (A, B))
    assert compared.improvement == compared.b.composite - compared.a.composite
    assert {key: (delta.a, delta.b) for key, delta in compared.per_trait.items()} == {
        key: (compared.a.scores[key], compared.b.scores[key]) for key in ("warmth", "coldness")
    }
    assert all(delta.delta == delta.b - delta.a for delta in compared.per_trait.values())
    assert compared.per_trait["warmth"].delta > 0 > compared.per_trait["coldness"].delta
    assert {delta.certain for delta in compared.per_trait.values()} == {True}
    assert compared.certain is False, "one trait rises and the other one falls"
    part = _compare(context, toned, traits=["Cool"])
    assert set(part.a.scores) == {"coldness"}
    assert part.per_trait == {"coldness": compared.per_trait["coldness"]}


def test_a_text_compared_with_itself_changes_nothing(context: Context, toned: str) -> None:
    compared = _compare(context, toned, b=A)
    assert compared.a == compared.b
    assert (compared.improvement, {delta.delta for delta in compared.per_trait.values()}) == (0, {0})
    assert {compared.certain, *(delta.certain for delta in compared.per_trait.values())} == {False}


# ---- which version, and what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [score, _compare])
def test_a_handle_may_be_pinned_to_a_version_or_a_tag(context: Context, toned: str, call: Any) -> None:
    for pin in ("v1", "first", "active"):
        assert call(context, f"{toned}@{pin}") == call(context, toned)


@pytest.mark.parametrize("call", [score, _compare])
@pytest.mark.parametrize(
    ("pin", "fields", "error"),
    [
        ("@v2", {}, errors.VersionNotFound),
        ("@nightly", {}, errors.VersionNotFound),
        ("@", {}, errors.InvalidHandle),
        ("", {"caller": STRANGER}, errors.ModelNotFound),
        ("", {"traits": ["zeal"]}, errors.ValidationFailed),
    ],
)
def test_what_cannot_be_scored_is_refused(
    context: Context, toned: str, call: Any, pin: str, fields: dict[str, Any], error: type[errors.TraitbenchError]
) -> None:
    with pytest.raises(error):
        call(context, toned + pin, **fields)


@pytest.mark.parametrize("call", [score, _compare])
def test_a_model_without_a_version_cannot_score(context: Context, call: Any) -> None:
    handle = draft(context)
    with pytest.raises(errors.ModelNotTrained):
        call(context, handle)
    models.delete(context, AUTHOR, handle)
    with pytest.raises(errors.ModelArchived):
        call(context, handle)


def test_a_scoring_key_gives_no_feedback(context: Context, toned: str) -> None:
    with pytest.raises(errors.InsufficientScope):
        score(context, toned, caller=SCORER, feedback={"warmth": 1})

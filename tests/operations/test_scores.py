from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.contexts import AUTHOR, ON_SQLITE, SCORER, STRANGER, draft
from tests.operations.conftest import trained_on_both
from traitbench.contract.scores import Card, ScoreRequest
from traitbench.contract.traits import TraitInput
from traitbench.encoders import FULL, counted_apart
from traitbench.errors import (
    FeatureUnavailable,
    InsufficientScope,
    InvalidHandle,
    ModelNotFound,
    ModelNotTrained,
    TraitbenchError,
    ValidationFailed,
    VersionNotFound,
)
from traitbench.operations import scores, versions
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.scoring import card
from traitbench.scoring.snapshot import Snapshot
from traitbench.store import models as stored
from traitbench.store import versions as stored_versions
from traitbench.store.database import writing

pytestmark = ON_SQLITE

TEXT = "thank you, how kind of you, my friend"


@pytest.fixture(scope="module")
def handle(working: Context) -> str:
    return trained_on_both(working, [TraitInput(name="Warmth"), TraitInput(name="Cool", key="coldness")])


def _score(context: Context, handle: str, *, caller: Caller = SCORER, **fields: Any) -> Card:
    return scores.score(context, caller, handle, ScoreRequest(**{"content": TEXT, **fields}), request_id="req_1")


def _built(context: Context, handle: str, content: str, names: list[str] | None) -> Card:
    snapshot = versions.get(context, AUTHOR, handle, "v1").snapshot
    assert snapshot is not None
    result = card.score(Snapshot.from_json(snapshot), context.encoder.encode, content, traits=names).to_wire()
    metadata = {"request_id": "req_1", "version_id": "v1", "sample_ids": []}
    return Card.model_validate(result | {"input_tokens": context.encoder.count_tokens(content), "metadata": metadata})


def test_a_card_is_what_the_scoring_core_says(working: Context, handle: str) -> None:
    shown = _score(working, handle)
    snapshot = versions.get(working, AUTHOR, handle, "v1").snapshot
    assert snapshot is not None
    alone = card.score(Snapshot.from_json(snapshot), working.encoder.encode, TEXT)
    assert shown.model_dump(exclude={"input_tokens", "metadata"}) == alone.to_wire()
    assert shown.input_tokens == working.encoder.count_tokens(TEXT)
    assert shown.metadata.model_dump() == {"request_id": "req_1", "version_id": "v1", "sample_ids": []}
    assert shown.scores["warmth"] > 60 > 40 > shown.scores["coldness"]


CONTENTS = (TEXT, "...", " é\u2028\U0001f600 ", f"{TEXT}. That was cold.\n\nWas it? " * 30)


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("names", [None, ["Cool"], ["coldness", "warmth"]])
def test_a_card_is_written_as_the_scoring_core_would_have_it(
    working: Context, handle: str, content: str, names: list[str] | None
) -> None:
    """The same bytes as the core's own card, made without the service's writer."""
    request = ScoreRequest(content=content, traits=names)
    result = scores.written(working, SCORER, handle, request, request_id="req_1")
    assert result.decode() == _built(working, handle, content, names).model_dump_json()


@pytest.mark.parametrize("content", CONTENTS)
def test_reasons_come_behind_the_same_card(working: Context, handle: str, content: str) -> None:
    request = scores.written(
        working, SCORER, handle, ScoreRequest(content=content, explain=True), request_id="req_1"
    ).decode()
    alone = _built(working, handle, content, None).model_dump_json()
    assert request.startswith(alone.removesuffix("}") + ',"explanation":{')


def test_the_same_text_gives_the_same_card(working: Context, handle: str) -> None:
    again = replace(working, snapshots=type(working.snapshots)())
    assert _score(working, handle) == _score(again, handle)


def test_a_subset_of_traits_never_changes_a_number(working: Context, handle: str) -> None:
    everything = _score(working, handle)
    for named, key in (("coldness", "coldness"), ("Cool", "coldness"), ("warmth", "warmth")):
        part = _score(working, handle, traits=[named])
        assert part.scores == {key: everything.scores[key]}
        assert part.detail[key] == everything.detail[key]
    assert _score(working, handle, traits=["Cool", "warmth", "coldness"]) == everything


def test_unknown_traits_are_named_by_their_place(working: Context, handle: str) -> None:
    with pytest.raises(ValidationFailed) as caught:
        _score(working, handle, traits=["warmth", "zeal", "mirth"])
    assert [error["loc"] for error in caught.value.details["errors"]] == [["traits", 1], ["traits", 2]]


def test_a_handle_may_be_pinned_to_a_version_or_a_tag(working: Context, handle: str) -> None:
    versions.tag(working, AUTHOR, handle, "first")
    for pin in ("v1", "first", "active"):
        assert _score(working, f"{handle}@{pin}") == _score(working, handle)


@pytest.mark.parametrize(
    ("pin", "fields", "caller", "error"),
    [
        ("@v2", {}, SCORER, VersionNotFound),
        ("@nightly", {}, SCORER, VersionNotFound),
        ("@", {}, SCORER, InvalidHandle),
        ("", {}, STRANGER, ModelNotFound),
        ("", {"feedback": {"warmth": 1}}, SCORER, InsufficientScope),
    ],
)
def test_what_cannot_be_scored_is_refused(
    working: Context, handle: str, pin: str, fields: dict[str, Any], caller: Caller, error: type[TraitbenchError]
) -> None:
    with pytest.raises(error):
        _score(working, handle + pin, caller=caller, **fields)


def test_a_text_with_an_address_in_it_is_a_text(working: Context, handle: str) -> None:
    assert _score(working, handle, content="see https://example.org").scores


def test_a_model_without_a_version_cannot_score(context: Context) -> None:
    with pytest.raises(ModelNotTrained):
        _score(context, draft(context))


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


def test_a_version_is_scored_with_the_encoder_it_was_trained_with(working: Context, handle: str) -> None:
    assert _score(replace(working, encoder=Newer()), handle) == _score(working, handle)


def test_a_version_of_an_encoder_that_is_not_here_is_refused(working: Context, handle: str) -> None:
    shown = versions.get(working, AUTHOR, handle, "v1")
    assert shown.snapshot is not None
    with writing(working.engine) as connection:
        model = stored.hold(connection, handle)
        assert model is not None
        stored_versions.add(
            connection,
            snapshot=shown.snapshot | {"encoder": shown.snapshot["encoder"] | {"id": "lost-1", "digest": "f" * 64}},
            model_id=model.id,
            version_no=stored.next_version_no(connection, model.id),
            **shown.model_dump(include={"triggered_by", "param_hash", "sample_count", "metrics", "created_at"}),
            run_id=None,
        )
    with pytest.raises(FeatureUnavailable) as caught:
        _score(working, f"{handle}@v2")
    assert caught.value.details["encoder"] == "lost-1"

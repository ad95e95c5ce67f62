"""Feedback on a score: what is accepted, what is stored, and who may give it."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from tests.contexts import AUTHOR, SCORER, STRANGER, draft, settled, trained_here
from tests.extract.loopback import ANY_PORT, page, serve, this_machine
from traitbench.contract.models import ModelUpdate, TrainRequest
from traitbench.contract.scores import Card, ScoreRequest
from traitbench.contract.traits import TraitUpdate
from traitbench.errors import (
    FeatureUnavailable,
    InsufficientScope,
    ModelArchived,
    ModelNotTrained,
    NamespaceForbidden,
    TraitbenchError,
    ValidationFailed,
)
from traitbench.extract import extract
from traitbench.operations import extraction, feedback, models, rules, samples, scores, training, traits, versions
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.store import models as stored
from traitbench.store.database import reading

TEXT = "what a lovely surprise"


@pytest.fixture(scope="module")
def handle(working: Context) -> str:
    handle = draft(working, warm=2, cold=2)
    traits.update(
        working, AUTHOR, handle, "warmth", TraitUpdate(positive_label="Herzlich", negative_label="no", name="Warmth")
    )
    training.start(working, AUTHOR, handle, TrainRequest(effort="low"))
    assert settled(working, handle).state == "ready"
    return handle


def _score(context: Context, handle: str, *, caller: Caller = AUTHOR, **fields: Any) -> Card:
    return scores.score(context, caller, handle, ScoreRequest(**{"content": TEXT, **fields}), request_id="req_1")


def test_feedback_becomes_a_sample_that_waits(working: Context, handle: str) -> None:
    before = traits.get(working, AUTHOR, handle, "warmth").sample_count
    card = _score(working, handle, feedback={"Warmth": 0.9})
    [kept] = card.metadata.sample_ids
    sample = samples.list_samples(working, AUTHOR, handle).items[-1]
    assert (sample.id, sample.text, sample.quality, sample.provenance) == (kept, TEXT, 0.9, "score_feedback")
    assert traits.get(working, AUTHOR, handle, "warmth").sample_count == before + 1
    plain = _score(working, handle)
    assert card.model_dump(exclude={"metadata"}) == plain.model_dump(exclude={"metadata"})
    assert plain.metadata.sample_ids == []


@pytest.mark.parametrize(
    ("text", "quality"),
    [
        (0, 0.0),
        (1, 1.0),
        (0.25, 0.25),
        *((word, 1.0) for word in ("good", "yes", "high", "strong", "excellent", "positive")),
        *((word, 0.5) for word in ("fair", "moderate", "mixed", "medium")),
        *((word, 0.0) for word in ("poor", "no", "low", "weak", "bad", "negative")),
        (" HERZLICH ", 1.0),
        ("Good", 1.0),
    ],
)
def test_a_number_or_a_word_is_a_quality(working: Context, handle: str, text: float | str, quality: float) -> None:
    assert [verdict.quality for verdict in _understood(working, handle, {"warmth": text})] == [quality]


def test_a_label_of_the_trait_wins_over_a_word_of_the_language(working: Context) -> None:
    other = draft(working)
    traits.update(working, AUTHOR, other, "warmth", TraitUpdate(positive_label="low", negative_label="high"))
    assert [v.quality for text in ("low", "high") for v in _understood(working, other, {"warmth": text})] == [1.0, 0.0]
    traits.update(working, AUTHOR, other, "warmth", TraitUpdate(positive_label="same", negative_label="Same"))
    with pytest.raises(ValidationFailed):
        _understood(working, other, {"warmth": "same"})


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ({"warmth": 1, "zeal": 1}, ["zeal"]),
        ({"warmth": 1.5}, ["warmth"]),
        ({"warmth": -0.1}, ["warmth"]),
        ({"warmth": True}, ["warmth"]),
        ({"warmth": None}, ["warmth"]),
        ({"warmth": "splendid"}, ["warmth"]),
        ({"warmth": [1]}, ["warmth"]),
        ({"warmth": 1, "Warmth": 0}, ["Warmth"]),
    ],
)
def test_what_says_nothing_is_named_and_nothing_is_kept(
    working: Context, handle: str, text: dict[str, Any], wrong: list[str]
) -> None:
    before = samples.list_samples(working, AUTHOR, handle)
    with pytest.raises(ValidationFailed) as caught:
        scores.score(
            working, AUTHOR, handle, ScoreRequest.model_construct(content=TEXT, feedback=text), request_id="req"
        )
    assert [error["loc"] for error in caught.value.details["errors"]] == [["feedback", name] for name in wrong]
    assert "splendid" not in str(caught.value.details)
    assert samples.list_samples(working, AUTHOR, handle) == before


def test_a_text_too_long_for_a_sample_is_scored_and_not_kept(working: Context, handle: str) -> None:
    long = "word " * 10_001
    assert _score(working, handle, content=long).scores
    with pytest.raises(ValidationFailed) as caught:
        _score(working, handle, content=long, feedback={"warmth": 1})
    assert [error["loc"] for error in caught.value.details["errors"]] == [["content"]]


def test_feedback_on_an_address_keeps_what_stands_there_and_where(working: Context, handle: str) -> None:
    letter = "You were a great help to my mother, and we shall not forget it, wherever we may live by then."
    fetching = replace(working, extract=partial(extract, limits=ANY_PORT, permits=this_machine))
    with serve(page(f"<html><body><article><p>{letter}</p></article></body></html>")) as site:
        ids = _score(fetching, handle, content=f" {site.url}/letter\n", feedback={"warmth": "good"}).metadata.sample_ids
    kept = samples.list_samples(working, AUTHOR, handle, limit=500).items[-1]
    assert (kept.id, kept.text, kept.source_url) == (ids[-1], letter, f"{site.url}/letter")
    assert extraction.source_of(f"{site.url}/{'x' * 2_000}") is None


def test_a_pinned_version_scores_and_the_model_keeps_the_feedback(working: Context, handle: str) -> None:
    versions.tag(working, AUTHOR, handle, "old")
    card = _score(working, f"{handle}@old", feedback={"warmth": "good"})
    assert card.metadata.version_id == "v1"
    assert samples.list_samples(working, AUTHOR, handle).items[-1].id == card.metadata.sample_ids[0]


@pytest.mark.parametrize(
    ("caller", "error"),
    [(SCORER, InsufficientScope), (STRANGER, NamespaceForbidden)],
)
def test_only_an_author_of_the_namespace_gives_feedback(
    working: Context, handle: str, caller: Caller, error: type[TraitbenchError]
) -> None:
    with pytest.raises(error):
        _score(working, handle, caller=caller, feedback={"warmth": 1})


def test_a_draft_takes_no_feedback(context: Context) -> None:
    with pytest.raises(ModelNotTrained):
        _score(context, draft(context, warm=1, cold=1), feedback={"warmth": 1})


def test_under_zero_retention_feedback_is_refused(context: Context) -> None:
    handle = trained_here(context)
    models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=True))
    with pytest.raises(FeatureUnavailable):
        _score(context, handle, feedback={"warmth": 1})
    assert _score(context, handle).scores


def _understood(context: Context, handle: str, text: dict[str, Any]) -> list[feedback.FeedbackItem]:
    with reading(context.engine) as connection:
        model = stored.find(connection, handle)
        assert model is not None
        verdicts, problems = feedback.understood(connection, model, text)
        if problems:
            raise rules.invalid(problems, thing="The feedback")
        return verdicts


def test_an_archived_model_refuses_feedback_as_archived_whatever_it_may_store(context: Context) -> None:
    handle = trained_here(context)
    models.update(context, AUTHOR, handle, ModelUpdate(zero_data_retention=True))
    models.delete(context, AUTHOR, handle)
    with pytest.raises(ModelArchived):
        _score(context, handle, feedback={"warmth": 1})

"""Feedback on a score: what is accepted, what is stored, and who may give it."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from tests.contexts import AUTHOR, SCORER, STRANGER, draft, trained_here
from tests.extract.loopback import ANY_PORT, page, serve, this_machine
from tests.operations.author import add_samples, new_model, row, samples_of, score, train, update
from traitbench import errors
from traitbench.contract.scores import Card, ScoreRequest
from traitbench.contract.traits import TraitInput, TraitUpdate
from traitbench.extract import extract
from traitbench.operations import feedback, models, rules, scores, serving, traits, versions
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.store.database import reading

TEXT = "what a lovely surprise"


@pytest.fixture(scope="module")
def handle(context: Context) -> str:
    trait = TraitInput(name="Warmth", positive_label="Herzlich", negative_label="no")
    handle = new_model(context, trait)
    add_samples(context, handle, [("how kind of you", 1.0), ("send the form", 0.0)])
    train(context, handle)
    return handle


def _score(context: Context, handle: str, *, caller: Caller = AUTHOR, **fields: Any) -> Card:
    return score(context, handle, **{"content": TEXT, **fields}, caller=caller)


def test_feedback_becomes_a_sample_that_waits(context: Context, handle: str) -> None:
    before = traits.get(context, AUTHOR, handle, "warmth").sample_count
    card = _score(context, handle, feedback={"Warmth": 0.9})
    [kept] = card.metadata.sample_ids
    sample = samples_of(context, handle)[-1]
    assert (sample.id, sample.text, sample.quality, sample.provenance) == (kept, TEXT, 0.9, "score_feedback")
    assert traits.get(context, AUTHOR, handle, "warmth").sample_count == before + 1
    plain = _score(context, handle)
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
def test_a_number_or_a_word_is_a_quality(context: Context, handle: str, text: float | str, quality: float) -> None:
    assert [verdict.quality for verdict in _understood(context, handle, {"warmth": text})] == [quality]


def test_a_label_of_the_trait_wins_over_a_word_of_the_language(context: Context) -> None:
    other = draft(context)
    traits.update(context, AUTHOR, other, "warmth", TraitUpdate(positive_label="low", negative_label="high"))
    assert [v.quality for text in ("low", "high") for v in _understood(context, other, {"warmth": text})] == [1.0, 0.0]
    traits.update(context, AUTHOR, other, "warmth", TraitUpdate(positive_label="same", negative_label="Same"))
    with pytest.raises(errors.ValidationFailed):
        _understood(context, other, {"warmth": "same"})


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
    context: Context, handle: str, text: dict[str, Any], wrong: list[str]
) -> None:
    before = samples_of(context, handle)
    with pytest.raises(errors.ValidationFailed) as caught:
        scores.score(
            context, AUTHOR, handle, ScoreRequest.model_construct(content=TEXT, feedback=text), request_id="req"
        )
    assert [error["loc"] for error in caught.value.details["errors"]] == [["feedback", name] for name in wrong]
    assert "splendid" not in str(caught.value.details)
    assert samples_of(context, handle) == before


def test_a_text_too_long_for_a_sample_is_scored_and_not_kept(context: Context, handle: str) -> None:
    long = "word " * 10_001
    assert _score(context, handle, content=long).scores
    with pytest.raises(errors.ValidationFailed) as caught:
        _score(context, handle, content=long, feedback={"warmth": 1})
    assert [error["loc"] for error in caught.value.details["errors"]] == [["content"]]


def test_feedback_on_an_address_keeps_what_stands_there_and_where(context: Context, handle: str) -> None:
    letter = "You were a great help to my mother, and we shall not forget it, wherever we may live by then."
    fetching = replace(context, extract=partial(extract, limits=ANY_PORT, permits=this_machine))
    with serve(page(f"<html><body><article><p>{letter}</p></article></body></html>")) as site:
        ids = _score(fetching, handle, content=f" {site.url}/letter\n", feedback={"warmth": "good"}).metadata.sample_ids
    kept = samples_of(context, handle)[-1]
    assert (kept.id, kept.text, kept.source_url) == (ids[-1], letter, f"{site.url}/letter")
    assert serving.source_of(f"{site.url}/{'x' * 2_000}") is None


def test_a_pinned_version_scores_and_the_model_keeps_the_feedback(context: Context, handle: str) -> None:
    versions.tag(context, AUTHOR, handle, "old")
    card = _score(context, f"{handle}@old", feedback={"warmth": "good"})
    assert card.metadata.version_id == "v1"
    assert samples_of(context, handle)[-1].id == card.metadata.sample_ids[0]


@pytest.mark.parametrize(
    ("caller", "error"),
    [(SCORER, errors.InsufficientScope), (STRANGER, errors.NamespaceForbidden)],
)
def test_only_an_author_of_the_namespace_gives_feedback(
    context: Context, handle: str, caller: Caller, error: type[errors.TraitbenchError]
) -> None:
    with pytest.raises(error):
        _score(context, handle, caller=caller, feedback={"warmth": 1})


def test_a_draft_takes_no_feedback(context: Context) -> None:
    with pytest.raises(errors.ModelNotTrained):
        _score(context, draft(context, warm=1, cold=1), feedback={"warmth": 1})


def test_under_zero_retention_feedback_is_refused_and_an_archived_model_is_archived(context: Context) -> None:
    handle = trained_here(context)
    update(context, handle, zero_data_retention=True)
    with pytest.raises(errors.FeatureUnavailable):
        _score(context, handle, feedback={"warmth": 1})
    assert _score(context, handle).scores
    models.delete(context, AUTHOR, handle)
    with pytest.raises(errors.ModelArchived):
        _score(context, handle, feedback={"warmth": 1})


def _understood(context: Context, handle: str, text: dict[str, Any]) -> list[feedback.FeedbackItem]:
    with reading(context.engine) as connection:
        verdicts, problems = feedback.understood(connection, row(context, handle), text)
        if problems:
            raise rules.invalid(problems, thing="The feedback")
        return verdicts

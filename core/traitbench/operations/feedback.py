"""Feedback on a score: stored as samples, which are pending until the next automatic retrain.

The feedback on a trait is a number from 0 to 1 or a word: a label of the trait or one of `FEEDBACK_WORDS`. Labels win.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from traitbench.contract.samples import LONGEST_TEXT, LONGEST_URL, text_hash
from traitbench.contract.scores import FEEDBACK_WORDS
from traitbench.errors import FeatureUnavailable
from traitbench.operations import access, retraining, rules
from traitbench.operations.context import Context
from traitbench.operations.trait_names import TraitIndex
from traitbench.store import models, sample_changes, samples, traits
from traitbench.store.database import writing
from traitbench.store.models import ModelRow
from traitbench.store.sample_changes import Author, Writes
from traitbench.store.traits import TraitRow


@dataclass(frozen=True)
class FeedbackItem:
    """The quality that feedback gives a text on one trait, by the trait's key."""

    trait: str
    quality: float


def understood(
    connection: Connection, model: ModelRow, given: Mapping[str, Any]
) -> tuple[list[FeedbackItem], list[dict[str, Any]]]:
    """Parse feedback; return the items, and the problem of each invalid entry."""
    index = TraitIndex(traits.rows(connection, model.id))
    verdicts: list[FeedbackItem] = []
    errors = []
    for name, value in given.items():
        trait = index.find(name)
        quality = None if trait is None else _quality(trait, value)
        if trait is None:
            errors.append(rules.unknown_trait(["feedback", name[:200]], name))
        elif quality is None:
            message = (
                "use a number from 0 to 1, a word such as good, fair or poor, or a label of the trait:"
                f" {trait.positive_label}, {trait.negative_label}"
            )
            errors.append(_problem(name, "not_a_verdict", message))
        elif trait.key in (verdict.trait for verdict in verdicts):
            errors.append(_problem(name, "duplicate_trait", "the trait is given twice, by key and by name"))
        else:
            verdicts.append(FeedbackItem(trait.key, quality))
    return verdicts, errors


def check_possible(model: ModelRow) -> None:
    """Raise `FeatureUnavailable` if the model may not store texts."""
    if model.zero_data_retention:
        raise FeatureUnavailable(
            f"The model {model.handle} is under zero data retention and stores no feedback.",
            details={"field": "feedback", "handle": model.handle},
        )


def length_problems(text: str) -> list[dict[str, Any]]:
    """The problem with a text that is too long for a sample, if it is."""
    if len(text) <= LONGEST_TEXT:
        return []
    message = f"feedback stores the text as a sample, which has at most {LONGEST_TEXT:,} characters"
    return [rules.problem(["content"], "string_too_long", message)]


def store_feedback(
    context: Context,
    handle: str,
    text: str,
    verdicts: list[FeedbackItem],
    *,
    scores: Mapping[str, int],
    source_url: str | None = None,
    by: str | None = None,
) -> list[int]:
    """Store feedback as samples and return their ids; start a retrain if it is due.

    `scores` are those of the text now, by trait key; they are stored with the feedback. `by` is the name of the key.
    """
    with writing(context.engine) as connection:
        # Checked again: the model may have changed while the text was scored.
        model = access.require_model(models.hold(connection, handle), handle)
        return add_to(context, connection, model, text, verdicts, scores=scores, source_url=source_url, by=by)


def add_to(
    context: Context,
    connection: Connection,
    model: ModelRow,
    text: str,
    verdicts: list[FeedbackItem],
    *,
    scores: Mapping[str, int],
    source_url: str | None = None,
    group: str | None = None,
    note: str | None = None,
    by: str | None = None,
) -> list[int]:
    """Store feedback for a model that the connection has locked, as `store_feedback` does."""
    digest = text_hash(text)
    rules.require("use", model)
    check_possible(model)
    trait_ids = _trait_ids(connection, model, verdicts)
    rules.check_sample_count(samples.count(connection, model.id) + len(verdicts), context.settings.max_samples)
    now = rules.now()
    new = [
        {
            "trait_id": trait_ids[verdict.trait],
            "text": text,
            "quality": verdict.quality,
            "provenance": "score_feedback",
            "source_url": source_url if len(source_url or "") <= LONGEST_URL else None,
            "content_sha256": digest,
            "created_at": now,
            "pending": True,
            "score_then": scores.get(verdict.trait),
            "group": group,
            "note": note,
        }
        for verdict in verdicts
    ]
    _, ids = sample_changes.write(connection, model, Writes(adds=new), Author(by, now))
    retraining.start_if_due(connection, context.runs, context.settings, model)
    return ids


def _trait_ids(connection: Connection, model: ModelRow, verdicts: list[FeedbackItem]) -> dict[str, int]:
    """The ids of traits by key; a promotion may have replaced them, or removed one, while the text was scored."""
    index = TraitIndex(traits.rows(connection, model.id))
    by_key = {verdict.trait: index.find(verdict.trait) for verdict in verdicts}
    errors = [rules.unknown_trait(["feedback", key], key) for key, trait in by_key.items() if trait is None]
    if errors:
        raise rules.invalid(errors, thing="The score", known=index.known())
    return {key: trait.id for key, trait in by_key.items() if trait is not None}


def _quality(trait: TraitRow, value: Any) -> float | None:
    if isinstance(value, str):
        word = value.strip().casefold()
        return _labels(trait).get(word, FEEDBACK_WORDS.get(word))
    # true is an integer to Python.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value)


def _labels(trait: TraitRow) -> Mapping[str, float]:
    positive, negative = trait.positive_label.strip().casefold(), trait.negative_label.strip().casefold()
    return {} if positive == negative else {positive: 1.0, negative: 0.0}


def _problem(name: str, kind: str, message: str) -> dict[str, Any]:
    return rules.problem(["feedback", name[:200]], kind, message)

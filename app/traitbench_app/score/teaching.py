"""Teaching before a room: a text and a pole, and the trait is fitted again in memory at once. Nothing is stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.samples import Sample, text_hash
from traitbench.contract.scores import Card
from traitbench.contract.traits import Trait
from traitbench.local import preview
from traitbench.local.preview import PreviewUnavailable
from traitbench_app.parts.scorer import Scorer
from traitbench_app.score.rehearsal import AT_ONCE
from traitbench_app.shell import session
from traitbench_app.shell.service import client

_TAUGHT, _SAMPLES = "present.taught", "present.samples"


@dataclass(frozen=True)
class Taught:
    """A text that was put on a pole of a trait."""

    trait: str
    text: str
    positive: bool


def taught(handle: str) -> tuple[Taught, ...]:
    """What this tab was taught about a model, in order."""
    kept: tuple[Taught, ...] = session.get(f"{_TAUGHT}:{handle}", ())
    return kept


def teach(handle: str, trait: str, text: str, *, positive: bool) -> None:
    """Put a text on a pole; the last word on a text counts."""
    others = tuple(each for each in taught(handle) if (each.trait, each.text) != (trait, text))
    session.store(f"{_TAUGHT}:{handle}", (*others, Taught(trait, text, positive)))


def undo(handle: str) -> None:
    """Take back the last text."""
    session.store(f"{_TAUGHT}:{handle}", taught(handle)[:-1] or None)


def forget(handle: str) -> None:
    """Take back everything."""
    session.store(f"{_TAUGHT}:{handle}", None)
    session.store(f"{_SAMPLES}:{handle}", None)


def scorers(model: Model, traits: Sequence[Trait]) -> dict[str, Scorer]:
    """The refitted traits, by key; raise `PreviewUnavailable` if a trait cannot be fitted here."""
    labelled = taught(model.handle)
    return {
        trait.key: Scorer(by=_fitted(model, trait, [each for each in labelled if each.trait == trait.key]))
        for trait in traits
        if any(each.trait == trait.key for each in labelled)
    }


def retaught(card: Card, text: str, scorers: dict[str, Scorer]) -> Card:
    """The card with the scores of the refitted traits."""
    detail = dict(card.detail)
    for key, scorer in scorers.items():
        detail[key] = scorer.cards([text])[0].detail[key]
    return card.model_copy(update={"detail": detail, "scores": {key: each.score for key, each in detail.items()}})


def _fitted(model: Model, trait: Trait, labelled: Sequence[Taught]) -> preview.Rehearsal:
    if trait.kind != "extrinsic":
        raise PreviewUnavailable(f"{trait.name} is a discovered trait, and cannot be taught here.")
    if trait.sample_count > AT_ONCE:
        raise PreviewUnavailable(f"{trait.name} has more than {AT_ONCE:,} samples, too many to teach live.")
    latest = {each.text: each for each in labelled}
    samples = [each for each in _samples(model.handle) if each.trait == trait.key and each.text not in latest]
    samples += [_sample(-place, each) for place, each in enumerate(latest.values(), start=1)]
    counted = trait.model_copy(
        update={
            "positive_samples": sum(each.quality > 0.5 for each in samples),
            "negative_samples": sum(each.quality < 0.5 for each in samples),
        }
    )
    if not counted.positive_samples or not counted.negative_samples:
        raise PreviewUnavailable(f"{trait.name} needs a text at each pole. Teach it one at the other pole too.")
    # One trait at the lowest effort, because a room is waiting for the answer.
    return preview.rehearse(model, [counted], samples, effort="low")


def _samples(handle: str) -> list[Sample]:
    """The samples that the model learns from, read once."""
    key = f"{_SAMPLES}:{handle}"
    if session.get(key) is None:
        session.store(key, list(client().samples.list(handle, held_out=False, limit=LARGEST_SAMPLE_PAGE)))
    kept: list[Sample] = session.get(key)
    return kept


def _sample(number: int, label: Taught) -> Sample:
    return Sample(
        id=number,
        trait=label.trait,
        text=label.text,
        quality=1.0 if label.positive else 0.0,
        provenance="authored",
        source_url=None,
        content_sha256=text_hash(label.text),
        created_at=datetime.now(UTC),
        seed_sample_id=None,
        generator=None,
        held_out=False,
        must_pass=False,
        pending=False,
        score_then=None,
    )

"""What is lost when a model replaces a rater: fit on the rater's labels here, and score texts that it did not see.

The fit and the scores are those of a preview, so they equal those of a trained version. Nothing is stored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from traitbench.analysis.agreement import Item
from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.fitting.duplicates import joined, near_duplicates, plain
from traitbench.local import preview
from traitbench.local.samples import LocalSample
from traitbench.local.version import LocalVersion

MOST = 5_000
"""The number of a rater's labels that are fitted; if there are more, they are chosen at random."""

FEWEST = 10
"""The number of labels at each pole from which a model of your own labels is measured."""

Progress = Callable[[int, int], object]


class RatedTexts(Protocol):
    """The labels of every rater, and the labelled texts by hash."""

    @property
    def texts(self) -> Mapping[str, str]:
        """Each text by its `content_sha256`."""
        ...

    @property
    def by_rater(self) -> Mapping[str, Mapping[Item, float]]:
        """The labels of each rater: its quality of each item that it labelled."""
        ...


@dataclass(frozen=True)
class Loss:
    """Text by text, whether a rater and a model that was trained on its labels are on your side.

    `trained_on` counts the labels of the fit, and `near` those that were left out because their text is a near
    duplicate of one that you labelled.
    """

    rater: str
    rater_right: tuple[bool, ...]
    model_right: tuple[bool, ...]
    trained_on: int
    near: int


@dataclass(frozen=True)
class Own:
    """How often a model that was trained on your labels is on your side, out of fold; None with too few labels."""

    right: int | None
    texts: int
    missing: int


class NotMeasurable(Exception):
    """Nothing can be measured; the message says why."""


def loss(
    model: Model, trait: Trait, ratings: RatedTexts, rater: str, yours: Mapping[Item, float], progress: Progress
) -> Loss:
    """Fit on the labels of a rater without the texts in `yours` and their near duplicates, and score these texts.

    Only texts that you put at a pole, and that the rater labelled, are compared. Raise `NotMeasurable` or
    `preview.PreviewUnavailable` if that is not possible.
    """
    given = ratings.by_rater[rater]
    compared = {item: quality for item, quality in yours.items() if quality != 0.5 and item in given}
    if not compared:
        raise NotMeasurable(f"{rater} has no label of a text that you put at a pole.")
    labels = _labels(ratings, rater, trait, yours)
    everything = _samples(ratings, labels | dict(yours))
    preview.read(everything, progress)
    same = _same(everything)
    tested = {same[digest] for _, digest in yours}
    apart = {item: quality for item, quality in labels.items() if same[item[1]] not in tested}
    rehearsal = _fitted(model, trait, ratings, apart, rater)
    cards = rehearsal.score([ratings.texts[digest] for _, digest in compared])
    points = [card.scores[trait.key] for card in cards]
    return Loss(
        rater,
        tuple(_side(given[item]) == _side(quality) for item, quality in compared.items()),
        tuple(_side(point / 100) == _side(quality) for point, quality in zip(points, compared.values(), strict=True)),
        len(apart),
        len(labels) - len(apart),
    )


def own(model: Model, trait: Trait, ratings: RatedTexts, yours: Mapping[Item, float]) -> Own:
    """Measure a model of your labels out of fold, or say how many labels are missing at the poles."""
    sides = [_side(quality) for quality in yours.values()]
    missing = sum(max(0, FEWEST - sides.count(pole)) for pole in (-1, 1))
    if missing:
        return Own(None, 0, missing)
    figures = _fitted(model, trait, ratings, yours, "you").metrics["traits"][trait.key]["confidence"]
    if figures is None:
        return Own(None, 0, 0)
    return Own(sum(each["right"] for each in figures.values()), sum(each["samples"] for each in figures.values()), 0)


def _same(samples: Sequence[LocalSample]) -> dict[str, int]:
    """A number for each text by its hash, equal for near duplicates, also those in another case or punctuation."""
    spelled = np.unique([plain(each.text) for each in samples], return_inverse=True)[1]
    numbers = joined(near_duplicates(preview.vectors(samples)), spelled)
    return dict(zip([each.content_sha256 for each in samples], numbers.tolist(), strict=True))


def _labels(ratings: RatedTexts, rater: str, trait: Trait, yours: Mapping[Item, float]) -> dict[Item, float]:
    """The labels to fit on: those of other texts than yours, at most `MOST`, chosen by their hashes."""
    given = ratings.by_rater[rater]
    left = [item for item in given if item[0] == trait.key and item not in yours]
    return {item: given[item] for item in sorted(left, key=lambda item: item[1])[:MOST]}


def _fitted(model: Model, trait: Trait, ratings: RatedTexts, labels: Mapping[Item, float], rater: str) -> LocalVersion:
    sides = [_side(quality) for quality in labels.values()]
    positive, negative = sides.count(1), sides.count(-1)
    if not positive or not negative:
        raise NotMeasurable(
            f"The labels of {rater} for other texts have {positive:,} at the positive and {negative:,} at the negative"
            " pole. A model needs both. Label fewer texts yourself, or upload more."
        )
    return preview.rehearse(model, [trait], _samples(ratings, labels))


def _samples(ratings: RatedTexts, labels: Mapping[Item, float]) -> list[LocalSample]:
    """The labels as samples. Their ids are below zero, so that no stored sample is mistaken for one of them."""
    return [
        LocalSample(at - len(labels), trait, ratings.texts[digest], quality, digest)
        for at, ((trait, digest), quality) in enumerate(sorted(labels.items()))
    ]


def _side(quality: float) -> int:
    return (quality > 0.5) - (quality < 0.5)

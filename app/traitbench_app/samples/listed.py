"""Which samples the page lists and in which order, and what it counts about them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from traitbench.contract.metrics import Pole as Side
from traitbench.contract.samples import Pole, Provenance, Sample

Chip = Literal["all", "wrong", "test", "no group", "draft", "synthesized", "corrected"]
"""What a listing is narrowed to besides its trait and its words; `draft` is what a draft changed."""

CHIPS: tuple[Chip, ...] = get_args(Chip)
ORIGINS: Mapping[Chip, Provenance] = {"synthesized": "synthesized", "corrected": "score_feedback"}
"""The chips that say where samples come from."""


@dataclass(frozen=True)
class Unseen:
    """The score 0-100 of a sample by a model that had not seen it, and the label that the sample had then."""

    points: int
    quality: float


@dataclass(frozen=True)
class Chosen:
    """What a listing is narrowed to: a trait's key, a pole, the first score of a tenth, a chip, words, and ids.

    `newest_first` is the order; otherwise the samples that are farthest from their label come first.
    """

    trait: str | None = None
    pole: Pole | None = None
    tenth: int | None = None
    chip: Chip = "all"
    words: str = ""
    ids: frozenset[int] = frozenset()
    newest_first: bool = False


@dataclass(frozen=True)
class ChosenSamples:
    """The samples that a listing has: how many, and the first ones."""

    count: int
    first: Callable[[int], Sequence[Sample]]


def is_wrong(quality: float, points: int) -> bool:
    """Whether a score is not on the side of the label; a score of 50 is on neither, a label in the middle has none."""
    return (quality > 0.5 and points <= 50) or (quality < 0.5 and points >= 50)


def distance(quality: float, points: int) -> float:
    """How far a score is from the pole of the label, 0..1; from the middle for a label there, 0..0.5."""
    if quality == 0.5:
        return abs(points - 50) / 100
    return (100 - points if quality > 0.5 else points) / 100


def rank(quality: float, unseen: Unseen | None) -> float:
    """Return how early a sample comes, the largest first; one without a score comes last.

    A sample whose label was changed keeps the place that it had with its label before.
    """
    if unseen is None:
        return -1.0
    return max(distance(quality, unseen.points), distance(unseen.quality, unseen.points))


class LoadedListing:
    """A listing of samples that the page holds, which come sorted by id.

    `samples` are all of them, `unseen` has their scores by id; `changed` has the ids that a draft changed, and is None
    if there is no version to differ from.
    """

    def __init__(self, samples: Sequence[Sample], unseen: Mapping[int, Unseen], changed: frozenset[int] | None) -> None:
        self.samples, self.unseen, self._changed = samples, unseen, changed
        self.total = len(samples)
        self.tests = sum(sample.held_out for sample in samples)
        self.wrong = sum(map(self._is_wrong, samples))
        self.has_groups = any(sample.group for sample in samples)
        self.has_scores = bool(unseen)

    def chips(self) -> dict[Chip, int]:
        """Return the number of samples of each chip that can be chosen."""
        counts = {chip: sum(self._passes(chip, sample) for sample in self.samples) for chip in CHIPS}
        shown: dict[Chip, bool] = {
            "all": True,
            "wrong": self.has_scores,
            "test": self.tests > 0,
            "no group": self.has_groups,
            "draft": self._changed is not None,
            "synthesized": counts["synthesized"] > 0,
            "corrected": counts["corrected"] > 0,
        }
        return {chip: number for chip, number in counts.items() if shown[chip]}

    def score_counts(self, trait: str) -> Mapping[Side, Sequence[int]]:
        """Return how many samples of a trait have each score from 0 to 100, by the pole of their label now."""
        counts: dict[Side, list[int]] = {"negative": [0] * 101, "positive": [0] * 101}
        for sample in self.samples:
            unseen = self.unseen.get(sample.id)
            if unseen is not None and sample.trait == trait and sample.quality != 0.5:
                counts["positive" if sample.quality > 0.5 else "negative"][unseen.points] += 1
        return counts

    def at_poles(self, trait: str) -> tuple[int, int]:
        """Return how many samples of a trait are nearer to the negative and to the positive pole."""
        own = [sample.quality for sample in self.samples if sample.trait == trait]
        return sum(quality < 0.5 for quality in own), sum(quality > 0.5 for quality in own)

    def looks_wrong(self, is_sure: Callable[[str, int], bool]) -> int:
        """Return how many samples score surely on the other side."""
        return sum(
            self._is_wrong(sample) and is_sure(sample.trait, self.unseen[sample.id].points) for sample in self.samples
        )

    def copies_of(self, sample: Sample) -> int | None:
        """Return how many other samples of the trait have the same text."""
        same_text = (
            each.trait == sample.trait and each.content_sha256 == sample.content_sha256 for each in self.samples
        )
        return sum(same_text) - 1

    def in_group_of(self, sample: Sample) -> int | None:
        """Return how many other samples are in the group of a sample."""
        return sum(each.group == sample.group for each in self.samples) - 1 if sample.group else 0

    def synthesized(self) -> Sequence[Sample]:
        """Return all synthesized samples."""
        return [sample for sample in self.samples if sample.provenance == "synthesized"]

    def find(self, chosen: Chosen) -> ChosenSamples:
        """Return the samples that pass, in the order asked for."""
        words = [word.casefold() for word in chosen.words.split()]
        passing = [sample for sample in self.samples if self._matches(chosen, words, sample)]
        passing.reverse()
        if self.has_scores and not chosen.newest_first:
            passing.sort(key=lambda sample: -rank(sample.quality, self.unseen.get(sample.id)))
        return ChosenSamples(len(passing), lambda number: passing[:number])

    def _matches(self, chosen: Chosen, words: Iterable[str], sample: Sample) -> bool:
        return (
            (chosen.trait is None or sample.trait == chosen.trait)
            and (chosen.pole is None or pole_of(sample.quality) == chosen.pole)
            and (not chosen.ids or sample.id in chosen.ids)
            and (chosen.tenth is None or self._is_in_tenth(chosen.tenth, sample))
            and self._passes(chosen.chip, sample)
            and all(word in sample.text.casefold() for word in words)
        )

    def _passes(self, chip: Chip, sample: Sample) -> bool:
        if chip in ORIGINS:
            return sample.provenance == ORIGINS[chip]
        return {
            "all": True,
            "wrong": self._is_wrong(sample),
            "test": sample.held_out,
            "no group": not sample.group,
            "draft": sample.id in (self._changed or ()),
        }[chip]

    def _is_wrong(self, sample: Sample) -> bool:
        unseen = self.unseen.get(sample.id)
        return unseen is not None and is_wrong(sample.quality, unseen.points)

    def _is_in_tenth(self, first: int, sample: Sample) -> bool:
        unseen = self.unseen.get(sample.id)
        return unseen is not None and is_in_tenth(first, unseen.points)


def is_in_tenth(first: int, points: int) -> bool:
    """Whether a score is in the tenth that begins with this score; the last one has 100 too."""
    return first <= points <= (100 if first == 90 else first + 9)


def pole_of(quality: float) -> Pole:
    """Return the pole that a label is nearer to."""
    return "positive" if quality > 0.5 else "negative" if quality < 0.5 else "between"

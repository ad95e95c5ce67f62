"""What a search weighs against each other, and how: by what held-out values say of each, and what was likely before.

A candidate is a direction (a shrinkage, and factors of the encoder's blocks) and the slope at which the axis of the
labels has a say beside it. That axis never saw a sample, so its values are as honest as held-out ones. Its slope is
not fitted but stands in a row of few, with even odds that the labels tell nothing at all: samples that speak against
the labels soon silence them, and where they speak for them a few samples are enough. A free slope, or a mere share in
a mix, would only be turned down, and the labels would go on drowning what the samples have taught.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from traitbench.scoring.axis import Floats
from traitbench.scoring.calibrate import Calibration, calibrate, smoothed

LABEL_SLOPES = (0.0, 0.5, 1.0, 1.6, 2.5)
"""Slopes of the labels' axis, in logits per deviation of its values."""

_HEARD = 0.5
_CENTRE = 0.75
_WIDEST = 10.0
_FLATTEST = 1e-12
_UNLIKELY = 1e-3
_BLOCKS_KEPT = 1.0


@dataclass(frozen=True, order=True)
class Candidate:
    """A power of ten for the shrinkage, the slope of the labels' axis, factors of the blocks (none: all of them 1)."""

    power: float
    labels: float = 0.0
    blocks: tuple[float, ...] = ()

    def __str__(self) -> str:
        """`0.5`, `0.5 labels 1`, `0.5 labels 1 blocks 1:2:1`: how metrics name it."""
        told = [f"{self.power:g}"]
        told += [f"labels {self.labels:g}"] if self.labels else []
        told += ["blocks " + ":".join(f"{factor:g}" for factor in self.blocks)] if self.blocks else []
        return " ".join(told)

    @staticmethod
    def read(told: object) -> "Candidate":
        """The candidate of that name; `ValueError` unless a search can have had it."""
        words = str(told).split()
        named = dict(zip(words[1::2], words[2::2], strict=True))
        if not words or not named.keys() <= {"labels", "blocks"}:
            raise ValueError("This names no candidate.")
        blocks = tuple(float(factor) for factor in named["blocks"].split(":")) if "blocks" in named else ()
        found = Candidate(float(words[0]), float(named.get("labels", 0)), blocks)
        numbers = (abs(found.power), found.labels, *found.blocks)
        if not all(0 <= number <= _WIDEST for number in numbers):
            raise ValueError("No search goes as wide as that.")
        return found

    @property
    def direction(self) -> "Candidate":
        """What decides its direction: the same without the labels."""
        return Candidate(self.power, 0.0, self.blocks)

    @property
    def log_odds(self) -> float:
        """Of its direction, before a sample is seen."""
        bent = sum(math.log(factor) ** 2 for factor in self.blocks if factor > 0)
        return -((self.power - _CENTRE) ** 2) / 2 - _BLOCKS_KEPT * bent / 2


@dataclass(frozen=True, eq=False)
class Slate:
    """Candidates side by side."""

    candidates: Sequence[Candidate]

    @cached_property
    def labels(self) -> Floats:
        """(k,): the slopes of the labels' axis."""
        return np.array([candidate.labels for candidate in self.candidates], np.float64)

    @cached_property
    def powers(self) -> Floats:
        """(k,): the shrinkages, as powers of ten."""
        return np.array([candidate.power for candidate in self.candidates], np.float64)

    @cached_property
    def log_odds(self) -> Floats:
        """(k,): of the directions, before a sample is seen."""
        return np.array([candidate.log_odds for candidate in self.candidates], np.float64)

    @cached_property
    def beside(self) -> Sequence[tuple[float, NDArray[np.intp]]]:
        """The log-odds of every slope of the labels, before a sample is seen, and the places of its candidates."""
        slopes = np.unique(self.labels).tolist()
        return [
            (math.log(odds), np.flatnonzero(self.labels == slope))
            for slope, odds in zip(slopes, _label_odds(slopes), strict=True)
        ]

    def only(self, places: NDArray[np.intp]) -> "Slate":
        """Some of them."""
        return Slate([self.candidates[place] for place in places.tolist()])


@dataclass(frozen=True, eq=False)
class Told:
    """What can be said of the samples a trait is judged by, before any calibration.

    Qualities, weights (both poles the same) and folds (n,), held-out values (n, k) of directions, and the values (n,)
    of the labels' axis, None without one.
    """

    y: Floats
    balance: Floats
    folds: NDArray[np.int64]
    directions: Sequence[Candidate]
    values: Floats
    labels: Floats | None

    def of(self, slate: Slate) -> "Told":
        """The same with a column of values for each candidate: its direction's."""
        places = {direction: place for place, direction in enumerate(self.directions)}
        columns = [places[candidate.direction] for candidate in slate.candidates]
        return replace(self, directions=slate.candidates, values=self.values[:, columns])

    def part(self, rows: NDArray[np.bool_]) -> "Told":
        """What is told of some of the samples."""
        balance = self.balance[rows]
        return replace(
            self,
            y=self.y[rows],
            balance=balance / balance.sum(),
            folds=self.folds[rows],
            values=self.values[rows],
            labels=None if self.labels is None else self.labels[rows],
        )


@dataclass(frozen=True, eq=False)
class Weighed:
    """Candidates with their calibrations and shares, learnt from one set of samples.

    The logit of a text is the mean, by share, of `value / scale * slope + labels * (told - middle) / spread + offset`.
    """

    slate: Slate
    scale: Floats
    middle: float
    spread: float
    calibration: Calibration
    share: Floats

    @property
    def gains(self) -> Floats:
        """(k,): what a value of each direction counts."""
        found: Floats = self.share * self.calibration.slopes / self.scale
        return found

    @property
    def label_slope(self) -> float:
        """The mean slope of the labels' axis."""
        return float(self.share @ self.slate.labels)

    @property
    def label_gain(self) -> float:
        """What a value on the labels' axis counts."""
        return self.label_slope / self.spread

    @property
    def offset(self) -> float:
        """What is added to the counted values."""
        return float(self.share @ self.calibration.offsets) - self.label_gain * self.middle

    @property
    def label_share(self) -> float:
        """How much of the whole slope the labels have, 0..1."""
        return self.label_slope / (self.label_slope + float(self.share @ self.calibration.slopes))

    def logits(self, told: Told) -> Floats:
        """(n,) of samples of whom the values of the candidates' directions are told."""
        found: Floats = told.values @ self.gains + self.offset
        return found if told.labels is None else found + self.label_gain * told.labels


def weigh(told: Told, slate: Slate, *, fixed: Floats | None = None, start: Calibration | None = None) -> Weighed:
    """Each candidate's calibration, and its share: the one in `fixed`, or what the evidence gives it.

    `told` has a column for each of them.
    """
    scale = np.sqrt(told.balance @ np.square(told.values))
    scale = np.where(scale > _FLATTEST, scale, 1.0)
    middle, spread = _place(told)
    said = None if told.labels is None else ((told.labels - middle) / spread)[:, None] * slate.labels
    n = len(told.y)
    targets = smoothed(told.y, n)
    calibration = calibrate(told.values / scale, targets, told.balance * n, said=said, start=start)
    if fixed is None:
        fixed = _shares(slate, calibration.cross_entropies, float(told.balance @ np.square(2 * targets - 1)))
    return Weighed(slate, scale, middle, spread, calibration, fixed)


def pruned(found: Weighed) -> Weighed:
    """Without the candidates that have next to no share."""
    kept = np.flatnonzero(found.share >= _UNLIKELY * found.share.max())
    calibration, share = found.calibration, found.share[kept]
    return replace(
        found,
        slate=found.slate.only(kept),
        scale=found.scale[kept],
        calibration=Calibration(
            calibration.log_slopes[kept], calibration.offsets[kept], calibration.cross_entropies[kept]
        ),
        share=share / share.sum(),
    )


def blind(told: Told, found: Weighed) -> Floats:
    """(n,): logits from held-out values, through calibrations and shares that did not see the sample's fold either."""
    logits = np.empty(len(told.y))
    for fold in range(int(told.folds.max()) + 1):
        out = told.folds == fold
        logits[out] = weigh(told.part(~out), found.slate, start=found.calibration).logits(told.part(out))
    return logits


def cross_entropy(told: Told, logits: Floats) -> float:
    """Of logits (n,) with the qualities, both poles weighing the same."""
    return float(told.balance @ (np.logaddexp(0, logits) - told.y * logits))


def label_slope(y: Floats, balance: Floats, labels: Floats) -> tuple[float, float]:
    """What a value on the labels' axis counts, where there is no other judge than these samples, and its middle."""
    middle = float(balance @ labels)
    spread = float(np.sqrt(balance @ np.square(labels - middle))) or 1.0
    slopes, targets = np.array(LABEL_SLOPES), smoothed(y, len(y))
    logits = ((labels - middle) / spread)[:, None] * slopes
    entropies = len(y) * balance @ (np.logaddexp(0, logits) - targets[:, None] * logits)
    told = float(balance @ np.square(2 * targets - 1))
    odds = _softmax(np.log(_label_odds(LABEL_SLOPES)) - entropies / told)
    return float(odds @ slopes) / spread, middle


def _label_odds(slopes: Sequence[float]) -> list[float]:
    """Even odds that the labels tell something, whatever slopes there are for it."""
    return [_HEARD / max(1, sum(map(bool, slopes))) if slope else 1 - _HEARD for slope in slopes]


def _place(told: Told) -> tuple[float, float]:
    """Middle and spread of the values on the labels' axis."""
    if told.labels is None:
        return 0.0, 1.0
    middle = float(told.balance @ told.labels)
    spread = float(np.sqrt(told.balance @ np.square(told.labels - middle)))
    return middle, spread if spread > _FLATTEST else 1.0


def _shares(slate: Slate, cross_entropies: Floats, told: float) -> Floats:
    """(k,): first among the slopes of the labels, then, beside each of these, among the directions.

    A coin's side is the least that a target can tell. Grades and smoothed poles, being nearer to the middle, vary less
    and so tell more than their cross-entropy says: `told`, their mean square on -1..1, is how much less. Without that
    the labels would win over what the samples know.
    """
    shares, odds = np.empty(len(cross_entropies)), []
    for log_odds, own in slate.beside:
        before, entropies = slate.log_odds[own], cross_entropies[own]
        shares[own] = _softmax(before - entropies)
        odds.append(log_odds + _log_sum(before - entropies / told) - _log_sum(before))
    for part, (_, own) in zip(_softmax(np.array(odds)).tolist(), slate.beside, strict=True):
        shares[own] *= part
    return shares


def _softmax(logs: Floats) -> Floats:
    found: Floats = np.exp(logs - logs.max())
    found /= found.sum()
    return found


def _log_sum(logs: Floats) -> float:
    most = float(logs.max())
    return most + math.log(float(np.exp(logs - most).sum()))

"""The candidates of a search, and how they are averaged: by prior times held-out likelihood (pseudo-BMA, see
core/docs/scoring.md, section 5).

A candidate is a direction (a shrinkage, and factors for the encoder's blocks) and a slope for the label axis. The label
axis never saw a sample, so its values are as unbiased as held-out ones. Its slope is not fitted but taken from a short
list; slope 0, where the labels say nothing, has half of the prior. So a few samples are enough to confirm the labels,
and a few that contradict them outweigh them. A freely fitted slope, or a fixed share in a mixture, would only shrink
the label axis, and the labels would still outweigh the samples.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from traitbench.fitting.calibrate import Calibration, calibrate, smoothed
from traitbench.scoring.inputs import Floats

LABEL_SLOPES = (0.0, 0.5, 1.0, 1.6, 2.5)
"""Slopes of the label axis, in logits per standard deviation of its values."""

# Even odds that the labels say nothing. The price: with four samples per pole, labels about the form of texts cost
# about 0.01 AUROC.
_LABEL_PRIOR = 0.5
# A few samples tell hardly anything about the slope, so part of it does not depend on them: with four samples per pole,
# this is worth 0.02 AUROC where names say much, and costs 0.005 where they say nothing.
_LEAST_LABEL_SLOPE, _LEAST_UNTIL = 0.25, 16
# The mean of the prior of a shrinkage 10^k; its standard deviation is 1 (core/docs/scoring.md, section 5).
_PRIOR_POWER = 0.75
# No search goes so far. A name may come from an imported version, and 10^k must not overflow.
_WIDEST = 10.0
_FLATTEST = 1e-12
# Nested calibrations take every candidate again for each fold, so those that change nothing are dropped first.
_LEAST_WEIGHT = 1e-3
# The prior of a block's factor is log-normal around 1, with this precision.
_BLOCK_PENALTY = 1.0


@dataclass(frozen=True, order=True)
class Candidate:
    """The shrinkage as a power of ten, the slope of the label axis, and a factor per block (empty: all are 1)."""

    power: float
    labels: float = 0.0
    blocks: tuple[float, ...] = ()

    def __str__(self) -> str:
        """The name in metrics, such as `0.5`, `0.5 labels 1` or `0.5 labels 1 blocks 1:2:1`."""
        words = [f"{self.power:g}"]
        words += [f"labels {self.labels:g}"] if self.labels else []
        words += ["blocks " + ":".join(f"{factor:g}" for factor in self.blocks)] if self.blocks else []
        return " ".join(words)

    @staticmethod
    def read(name: object) -> "Candidate":
        """The candidate with this name; raise `ValueError` if no search could have produced it."""
        words = str(name).split()
        options = dict(zip(words[1::2], words[2::2], strict=True))
        if not words or not options.keys() <= {"labels", "blocks"}:
            raise ValueError("This is not the name of a candidate.")
        blocks = tuple(float(factor) for factor in options["blocks"].split(":")) if "blocks" in options else ()
        candidate = Candidate(float(words[0]), float(options.get("labels", 0)), blocks)
        numbers = (abs(candidate.power), candidate.labels, *candidate.blocks)
        if not all(0 <= number <= _WIDEST for number in numbers):
            raise ValueError("The candidate is outside the range of every search.")
        return candidate

    @property
    def direction(self) -> "Candidate":
        """The candidate without its label slope: the part that decides its direction."""
        return Candidate(self.power, 0.0, self.blocks)

    @property
    def log_odds(self) -> float:
        """Prior log-odds of its direction."""
        squared_logs = sum(math.log(factor) ** 2 for factor in self.blocks if factor > 0)
        return -((self.power - _PRIOR_POWER) ** 2) / 2 - _BLOCK_PENALTY * squared_logs / 2


@dataclass(frozen=True, eq=False)
class CandidateSet:
    """Candidates, with their parameters as arrays."""

    candidates: Sequence[Candidate]

    @cached_property
    def labels(self) -> Floats:
        """(k,): the slopes of the label axis."""
        return np.array([candidate.labels for candidate in self.candidates], np.float64)

    @cached_property
    def powers(self) -> Floats:
        """(k,): the shrinkages, as powers of ten."""
        return np.array([candidate.power for candidate in self.candidates], np.float64)

    @cached_property
    def log_odds(self) -> Floats:
        """(k,): prior log-odds of the directions."""
        return np.array([candidate.log_odds for candidate in self.candidates], np.float64)

    @cached_property
    def label_priors(self) -> Sequence[tuple[float, NDArray[np.intp]]]:
        """For every slope of the label axis: its prior log-odds, and the indices of its candidates."""
        slopes = np.unique(self.labels).tolist()
        return [
            (math.log(odds), np.flatnonzero(self.labels == slope))
            for slope, odds in zip(slopes, _label_odds(slopes), strict=True)
        ]

    def subset(self, positions: NDArray[np.intp]) -> "CandidateSet":
        """The candidates at these indices."""
        return CandidateSet([self.candidates[position] for position in positions.tolist()])


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The input of calibration: the evaluated samples with their held-out values.

    Qualities, weights (equal totals for both poles) and folds (n,), held-out values (n, k) of the directions, and
    values (n,) on the label axis, None without one. `least_slope` of the label axis is added to that of each candidate.
    """

    y: Floats
    balance: Floats
    folds: NDArray[np.int64]
    directions: Sequence[Candidate]
    values: Floats
    labels: Floats | None
    least_slope: float = 0.0

    def for_candidates(self, candidates: CandidateSet) -> "HeldOut":
        """Return a copy with one column of values per candidate: that of its direction."""
        positions = {direction: position for position, direction in enumerate(self.directions)}
        columns = [positions[candidate.direction] for candidate in candidates.candidates]
        return replace(self, directions=candidates.candidates, values=self.values[:, columns])

    def subset(self, rows: NDArray[np.bool_]) -> "HeldOut":
        """Return a copy with only these samples."""
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
class ModelAverage:
    """Candidates with their calibrations and their weights in the average.

    The logit of a text is the weighted mean of `value / scale * slope + labels * (label_value - middle) / spread +
    offset`.
    """

    candidates: CandidateSet
    scale: Floats
    middle: float
    spread: float
    calibration: Calibration
    weights: Floats
    least_slope: float = 0.0

    @property
    def gains(self) -> Floats:
        """(k,): the factor of a value of each direction in the averaged logit."""
        gains: Floats = self.weights * self.calibration.slopes / self.scale
        return gains

    @property
    def label_slope(self) -> float:
        """The mean slope of the label axis."""
        return self.least_slope + float(self.weights @ self.candidates.labels)

    @property
    def label_gain(self) -> float:
        """The factor of a value on the label axis in the averaged logit."""
        return self.label_slope / self.spread

    @property
    def offset(self) -> float:
        """The constant of the averaged logit."""
        return float(self.weights @ self.calibration.offsets) - self.label_gain * self.middle

    @property
    def label_share(self) -> float:
        """The share of the label axis in the total slope, 0..1."""
        return self.label_slope / (self.label_slope + float(self.weights @ self.calibration.slopes))

    def logits(self, held_out: HeldOut) -> Floats:
        """(n,): averaged logits of samples with held-out values."""
        logits: Floats = held_out.values @ self.gains + self.offset
        return logits if held_out.labels is None else logits + self.label_gain * held_out.labels


def average_candidates(
    held_out: HeldOut, candidates: CandidateSet, *, fixed: Floats | None = None, start: Calibration | None = None
) -> ModelAverage:
    """Calibrate each candidate and weight it: by `fixed` or, by default, by how well it predicts the held-out samples.

    The values must have one column for each candidate.
    """
    scale = np.sqrt(held_out.balance @ np.square(held_out.values))
    scale = np.where(scale > _FLATTEST, scale, 1.0)
    middle, spread = _label_scale(held_out)
    label_logits = (
        None
        if held_out.labels is None
        else ((held_out.labels - middle) / spread)[:, None] * (candidates.labels + held_out.least_slope)
    )
    n = len(held_out.y)
    targets = smoothed(held_out.y, n)
    calibration = calibrate(
        held_out.values / scale, targets, held_out.balance * n, fixed_logits=label_logits, start=start
    )
    if fixed is None:
        fixed = _weights(candidates, calibration.cross_entropies, float(held_out.balance @ np.square(2 * targets - 1)))
    return ModelAverage(candidates, scale, middle, spread, calibration, fixed, held_out.least_slope)


def least_label_slope(y: Floats) -> float:
    """The slope that the label axis has whatever samples of these qualities (n,) say; it fades with their number."""
    smaller_pole = min(int((y > 0.5).sum()), int((y < 0.5).sum()))
    return _LEAST_LABEL_SLOPE * _LEAST_UNTIL / (_LEAST_UNTIL + smaller_pole)


def pruned(average: ModelAverage) -> ModelAverage:
    """The average without candidates of negligible weight."""
    heavy = np.flatnonzero(average.weights >= _LEAST_WEIGHT * average.weights.max())
    calibration, weights = average.calibration, average.weights[heavy]
    return replace(
        average,
        candidates=average.candidates.subset(heavy),
        scale=average.scale[heavy],
        calibration=Calibration(
            calibration.log_slopes[heavy], calibration.offsets[heavy], calibration.cross_entropies[heavy]
        ),
        weights=weights / weights.sum(),
    )


def nested_out_of_fold(held_out: HeldOut, average: ModelAverage) -> Floats:
    """(n,): nested out-of-fold logits: calibration and weights did not see the sample's fold either."""
    logits = np.empty(len(held_out.y))
    for fold in range(int(held_out.folds.max()) + 1):
        out = held_out.folds == fold
        # Started at the fit to all samples, Newton's method needs fewer steps and ends at the same point.
        logits[out] = average_candidates(held_out.subset(~out), average.candidates, start=average.calibration).logits(
            held_out.subset(out)
        )
    return logits


def cross_entropy(held_out: HeldOut, logits: Floats) -> float:
    """The mean cross-entropy of logits (n,) and qualities, both poles with equal weight."""
    return float(held_out.balance @ (np.logaddexp(0, logits) - held_out.y * logits))


def gains_by_column(
    values: Floats, labels: Floats, y: Floats, weights: Floats, least_slope: float = 0.0
) -> tuple[Floats, Floats]:
    """The factors (m,) for held-out values (n, m) and for values (n,) on the label axis, chosen for each column.

    The samples of a column are those with a weight (n, m); its weights sum to one, a half at each pole.
    """
    scale = np.sqrt(np.einsum("nm,nm->m", weights, np.square(values)))
    scale = np.where(scale > _FLATTEST, scale, 1.0)
    middle = labels @ weights
    spread = np.sqrt(np.einsum("nm,nm->m", weights, np.square(labels[:, None] - middle)))
    spread = np.where(spread > _FLATTEST, spread, 1.0)
    slopes, (n, m) = np.array(LABEL_SLOPES) + least_slope, values.shape
    counts = np.count_nonzero(weights, axis=0)
    # One set of targets for all columns, so that one call calibrates them all.
    targets = smoothed(y, int(counts.max()))
    label_logits = ((labels[:, None] - middle) / spread)[:, :, None] * slopes
    fitted = calibrate(
        np.repeat(values / scale, len(slopes), axis=1),
        targets,
        np.repeat(weights * counts, len(slopes), axis=1),
        fixed_logits=label_logits.reshape(n, m * len(slopes)),
    )
    mean_squares = np.square(2 * targets - 1) @ weights
    entropies = fitted.cross_entropies.reshape(m, len(slopes)) / mean_squares[:, None]
    odds = np.apply_along_axis(_softmax, 1, np.log(_label_odds(LABEL_SLOPES)) - entropies)
    direction_slopes = (odds * fitted.slopes.reshape(m, len(slopes))).sum(axis=1)
    return direction_slopes / scale, odds @ slopes / spread


def label_slope(y: Floats, balance: Floats, labels: Floats) -> tuple[float, float]:
    """The factor for values on the label axis, chosen with these samples alone, and the mean of the values."""
    middle = float(balance @ labels)
    spread = float(np.sqrt(balance @ np.square(labels - middle))) or 1.0
    slopes, targets = np.array(LABEL_SLOPES), smoothed(y, len(y))
    logits = ((labels - middle) / spread)[:, None] * slopes
    entropies = len(y) * balance @ (np.logaddexp(0, logits) - targets[:, None] * logits)
    mean_square = float(balance @ np.square(2 * targets - 1))
    odds = _softmax(np.log(_label_odds(LABEL_SLOPES)) - entropies / mean_square)
    return float(odds @ slopes) / spread, middle


def _label_odds(slopes: Sequence[float]) -> list[float]:
    """Prior probability of each slope: one half for 0, the rest shared equally by the slopes above 0."""
    return [_LABEL_PRIOR / max(1, sum(map(bool, slopes))) if slope else 1 - _LABEL_PRIOR for slope in slopes]


def _label_scale(held_out: HeldOut) -> tuple[float, float]:
    """The weighted mean and standard deviation of the values on the label axis."""
    if held_out.labels is None:
        return 0.0, 1.0
    middle = float(held_out.balance @ held_out.labels)
    spread = float(np.sqrt(held_out.balance @ np.square(held_out.labels - middle)))
    return middle, spread if spread > _FLATTEST else 1.0


def _weights(candidates: CandidateSet, cross_entropies: Floats, mean_square: float) -> Floats:
    """(k,): weights over the slopes of the label axis, divided among the directions at each slope.

    A unit of cross-entropy is the weakest evidence when targets are 0 or 1. Targets nearer to the middle vary less, so
    a unit is stronger evidence. `mean_square`, the mean square of the targets on -1..1, corrects for that. Without the
    correction the label axis would outweigh the samples.
    """
    shares, odds = np.empty(len(cross_entropies)), []
    for log_odds, members in candidates.label_priors:
        prior, entropies = candidates.log_odds[members], cross_entropies[members]
        shares[members] = _softmax(prior - entropies)
        odds.append(log_odds + _log_sum(prior - entropies / mean_square) - _log_sum(prior))
    for part, (_, members) in zip(_softmax(np.array(odds)).tolist(), candidates.label_priors, strict=True):
        shares[members] *= part
    return shares


def _softmax(logs: Floats) -> Floats:
    odds: Floats = np.exp(logs - logs.max())
    odds /= odds.sum()
    return odds


def _log_sum(logs: Floats) -> float:
    most = float(logs.max())
    return most + math.log(float(np.exp(logs - most).sum()))

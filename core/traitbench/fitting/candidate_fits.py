"""Fits of the candidate directions: the directions themselves, and their held-out values.

A block of the encoder's features may be scaled. Scaling its columns and then fitting equals fitting a direction on the
plain columns and scaling it back. So no vector ever has to be encoded again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from traitbench.fitting.axis import Path, path, path_and_left_out, pole_weights
from traitbench.fitting.candidates import Candidate, HeldOut, ModelAverage, least_label_slope
from traitbench.scoring.inputs import Floats


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Distinct vectors (n, d). Quality, sample weight, fold and whether the sample is evaluated are (n,).

    A fold of -1 is never held out. With `leave_one_out`, leave-one-out in closed form replaces the folds.
    """

    X: NDArray[np.float32]
    y: Floats
    sample_weight: Floats
    is_evaluated: NDArray[np.bool_]
    folds: NDArray[np.int64]
    leave_one_out: bool

    @property
    def fits(self) -> int:
        """How many fits one path of directions takes."""
        return 1 if self.leave_one_out else int(self.folds.max()) + 2


@dataclass
class _Steps:
    """Counts the fits that are done."""

    total: int
    tell: Callable[[int, int], None]
    done: int = 0

    def next(self) -> None:
        self.done += 1
        self.tell(self.done, self.total)


@dataclass(frozen=True, eq=False)
class CandidateFits:
    """Fitted directions (k, d) and offsets (k,) on the plain columns, the label axis, and the held-out values."""

    directions: Sequence[Candidate]
    vectors: Floats
    offsets: Floats
    label_axis: Floats | None
    held_out: HeldOut

    def averaged(self, average: ModelAverage) -> tuple[Floats, float]:
        """The calibrated average: its direction (d,) and offset."""
        positions = {direction: position for position, direction in enumerate(self.directions)}
        gains = np.zeros(len(self.directions))
        np.add.at(gains, [positions[each.direction] for each in average.candidates.candidates], average.gains)
        vector, offset = gains @ self.vectors, float(gains @ self.offsets) + average.offset
        return (vector if self.label_axis is None else vector + average.label_gain * self.label_axis), offset


def ignore(_done: int, _total: int) -> None:
    """Ignores progress."""


def fit_candidates(
    training_set: TrainingSet,
    directions: Sequence[Candidate],
    *,
    blocks: Sequence[slice],
    label_axis: Floats | None,
    on_fit: Callable[[int, int], None] = ignore,
) -> CandidateFits:
    """Fit the directions to all samples and, for held-out values, to all samples but those of each fold.

    `on_fit(done, total)` counts the fits: one for each choice of block factors, and one for each of its folds.
    """
    d, evaluated = training_set.X.shape[1], training_set.is_evaluated
    order: list[Candidate] = []
    vectors, offsets, values = [], [], []
    scalings = dict.fromkeys(direction.blocks for direction in directions)
    steps = _Steps(len(scalings) * training_set.fits, on_fit)
    for factors in scalings:
        group = [direction for direction in directions if direction.blocks == factors]
        scales = columns(factors, blocks, d)
        fitted, held_out = _fit(training_set, scales, [10.0**direction.power for direction in group], steps)
        order += group
        vectors.append(fitted.directions if scales is None else fitted.directions * scales)
        offsets.append(fitted.offsets)
        values.append(held_out[evaluated])
    y = training_set.y[evaluated]
    held_out_values = HeldOut(
        y=y,
        balance=pole_weights(y, training_set.sample_weight[evaluated]),
        folds=training_set.folds[evaluated],
        directions=order,
        values=np.hstack(values),
        labels=None if label_axis is None else training_set.X[evaluated].astype(np.float64) @ label_axis,
        least_slope=0.0 if label_axis is None else least_label_slope(y),
    )
    return CandidateFits(order, np.vstack(vectors), np.concatenate(offsets), label_axis, held_out_values)


def columns(factors: Sequence[float], blocks: Sequence[slice], d: int) -> Floats | None:
    """(d,): the factor of every column; None if all are 1."""
    if not factors:
        return None
    scales = np.ones(d)
    for factor, block in zip(factors, blocks, strict=True):
        scales[block] = factor
    return scales


def _fit(
    training_set: TrainingSet, scales: Floats | None, shrinkages: Sequence[float], steps: "_Steps"
) -> tuple[Path, Floats]:
    X = training_set.X if scales is None else (training_set.X * scales).astype(np.float32)
    if training_set.leave_one_out:
        result = path_and_left_out(X, training_set.y, shrinkages)
        steps.next()
        return result
    fitted = path(X, training_set.y, shrinkages, training_set.sample_weight)
    steps.next()
    values = np.empty((len(X), len(shrinkages)))
    for fold in range(int(training_set.folds.max()) + 1):
        out = training_set.folds == fold
        partial = path(X[~out], training_set.y[~out], shrinkages, training_set.sample_weight[~out])
        # A fit without a fold has a mean quality that is shifted away from that fold, so use the mean over all samples.
        values[out] = partial.values(X[out]) - partial.middle + fitted.middle
        steps.next()
    return fitted, values

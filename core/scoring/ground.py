"""What the samples say of directions before any of them is chosen: the directions themselves, and held-out values.

A block of the encoder's features may count more or less. To scale its columns and to learn is to learn a direction
among the columns as they are, with its own columns scaled back: no vector ever has to be made anew.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from traitbench.scoring.axis import Floats, Path, path, path_and_left_out, pole_weights
from traitbench.scoring.candidates import Candidate, Told, Weighed


@dataclass(frozen=True, eq=False)
class Lesson:
    """Distinct vectors (n, d), their qualities, masses and folds (n,), and which of them the trait is judged by.

    A fold of -1 is never left out. With `alone`, samples are left out one by one, in closed form, not by folds.
    """

    X: NDArray[np.float32]
    y: Floats
    mass: Floats
    judged: NDArray[np.bool_]
    folds: NDArray[np.int64]
    alone: bool


@dataclass(frozen=True, eq=False)
class Ground:
    """Directions (k, d) and offsets (k,) among the columns as they are, the axis of the labels, and what is told."""

    directions: Sequence[Candidate]
    vectors: Floats
    offsets: Floats
    label_axis: Floats | None
    told: Told

    def learnt(self, weighed: Weighed) -> tuple[Floats, float]:
        """The averaged direction (d,) and its offset, calibrated."""
        places = {direction: place for place, direction in enumerate(self.directions)}
        gains = np.zeros(len(self.directions))
        np.add.at(gains, [places[each.direction] for each in weighed.slate.candidates], weighed.gains)
        vector, offset = gains @ self.vectors, float(gains @ self.offsets) + weighed.offset
        return (vector if self.label_axis is None else vector + weighed.label_gain * self.label_axis), offset


def survey(
    lesson: Lesson, directions: Sequence[Candidate], *, blocks: Sequence[slice], label_axis: Floats | None
) -> Ground:
    """Learn the directions from all samples and, to see what they are worth, from all but those of each fold."""
    d, judged = lesson.X.shape[1], lesson.judged
    order: list[Candidate] = []
    vectors, offsets, values = [], [], []
    for factors in dict.fromkeys(direction.blocks for direction in directions):
        own = [direction for direction in directions if direction.blocks == factors]
        scales = columns(factors, blocks, d)
        found, held_out = _learn(lesson, scales, [10.0**direction.power for direction in own])
        order += own
        vectors.append(found.directions if scales is None else found.directions * scales)
        offsets.append(found.offsets)
        values.append(held_out[judged])
    told = Told(
        y=lesson.y[judged],
        balance=pole_weights(lesson.y[judged], lesson.mass[judged]),
        folds=lesson.folds[judged],
        directions=order,
        values=np.hstack(values),
        labels=None if label_axis is None else lesson.X[judged].astype(np.float64) @ label_axis,
    )
    return Ground(order, np.vstack(vectors), np.concatenate(offsets), label_axis, told)


def columns(factors: Sequence[float], blocks: Sequence[slice], d: int) -> Floats | None:
    """(d,): the factor of every column; None where all are 1."""
    if not factors:
        return None
    scales = np.ones(d)
    for factor, block in zip(factors, blocks, strict=True):
        scales[block] = factor
    return scales


def _learn(lesson: Lesson, scales: Floats | None, shrinkages: Sequence[float]) -> tuple[Path, Floats]:
    X = lesson.X if scales is None else (lesson.X * scales).astype(np.float32)
    if lesson.alone:
        return path_and_left_out(X, lesson.y, shrinkages)
    found = path(X, lesson.y, shrinkages, lesson.mass)
    values = np.empty((len(X), len(shrinkages)))
    for fold in range(int(lesson.folds.max()) + 1):
        out = lesson.folds == fold
        part = path(X[~out], lesson.y[~out], shrinkages, lesson.mass[~out])
        # The middle of the grades moves against those that are left out: it stays where it is with all of them.
        values[out] = part.values(X[out]) - part.middle + found.middle
    return found, values

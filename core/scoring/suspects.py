"""Samples that others contradict, and texts that have no neighbours: what the doctor knows from vectors alone."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from traitbench.scoring.again import Again, Tally, among, folds_of
from traitbench.scoring.axis import Floats, pole_weights
from traitbench.scoring.calibrate import calibrate, smoothed
from traitbench.scoring.duplicates import Vectors
from traitbench.scoring.search import Evidence, Recipe
from traitbench.scoring.unit import unit

_FEWEST = 8
_FOLDS = 10
_DIVISIONS = 3
_AT_ONCE = 1_024
_SHRINKAGE = 0.4
_SYNTHESISED_MASS = 4.0
_WRONG = 0.1
_MOST = 0.1
_TELLS = 0.65
_NEIGHBOURS = 3
_COMPARED = 4_000
_FEWEST_TEXTS = 20
_DEVIATIONS = 3.0
_TO_DEVIATION = 1.4826


@dataclass(frozen=True, eq=False)
class Judgement:
    """Held-out scores (n,), 0.5 where there is none, the AUROC of them, and the rows that look wrong, worst first."""

    scores: Floats
    area: float
    suspects: NDArray[np.intp]


def judge(X: Vectors, y: Floats, kin: NDArray[np.int64], made: NDArray[np.bool_]) -> Judgement | None:
    """Every sample by the others, kin aside; None where a pole has too few different texts.

    A label looks wrong when its pole gets less than a tenth; a tenth of the samples at most, and none where the trait
    hardly tells its poles apart.
    """
    samples = _evidence(X, y, kin, made)
    if samples.smaller_pole < _FEWEST:
        return None
    scores, tally = np.full(len(y), 0.5), Tally()
    told = np.flatnonzero(np.any(X != 0, axis=1))
    for rows in _parts(samples, told):
        found, own = _held_out(among(samples, rows))
        scores[rows] = found
        tally += own
    return Judgement(scores, tally.area, _suspects(scores, y, samples.judged) if tally.area >= _TELLS else _NOBODY)


def lonely(X: Vectors) -> NDArray[np.bool_]:
    """(n,): rows that are much farther from their nearest others than rows are; none among few."""
    told = np.flatnonzero(np.any(X != 0, axis=1))
    found = np.zeros(len(X), bool)
    if len(told) < _FEWEST_TEXTS:
        return found
    near = _nearness(unit(X[told]).astype(np.float32))
    middle = np.median(near)
    spread = _TO_DEVIATION * np.median(np.abs(near - middle))
    found[told] = near < middle - _DEVIATIONS * max(spread, 1e-6)
    return found


_NOBODY = np.zeros(0, np.intp)


def _evidence(X: Vectors, y: Floats, kin: NDArray[np.int64], made: NDArray[np.bool_]) -> Evidence:
    """As a training takes the samples, but every one by itself, in the order given."""
    mass = np.ones(len(y))
    for pole in (y > 0.5, y < 0.5, y == 0.5):
        mass[pole & made] = min(1.0, _SYNTHESISED_MASS / max(1, int((pole & made).sum())))
    return Evidence(X, y, kin, made, mass, ~made & np.any(X != 0, axis=1))


def _parts(samples: Evidence, told: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """The samples in as few parts as can be judged by themselves, kin in one, both poles in each."""
    count = -(-len(told) // _AT_ONCE)
    if count == 1:
        return [told]
    part = folds_of(samples, count, 0)[told]
    return [told[part == each] for each in range(count)]


def _held_out(samples: Evidence) -> tuple[Floats, Tally]:
    """(n,): scores, the mean of several divisions into folds; and how the samples of one fold compare."""
    if samples.smaller_pole < 2:
        return np.full(len(samples.y), 0.5), Tally()
    again, tally = Again(samples, Recipe(_SHRINKAGE, 0.0, None, None)), Tally()
    values, count = np.zeros(len(samples.y)), min(_FOLDS, samples.smaller_pole)
    for turn in range(_DIVISIONS):
        folds = folds_of(samples, count, turn)
        values += np.where(folds >= 0, again.left_out(folds), 0.0) / _DIVISIONS
        tally += again.tally_of_folds(folds)
    told = samples.judged
    scale = float(np.sqrt(np.square(values[told]).mean())) or 1.0
    column = (values / scale)[:, None]
    y = samples.y[told]
    found = calibrate(column[told], smoothed(y, len(y)), pole_weights(y) * len(y))
    return expit(found.logits(column))[:, 0], tally


def _suspects(scores: Floats, y: Floats, judged: NDArray[np.bool_]) -> NDArray[np.intp]:
    own = np.where(y > 0.5, scores, 1 - scores)
    wrong = np.flatnonzero(judged & (y != 0.5) & (own < _WRONG))
    return wrong[np.argsort(own[wrong], kind="stable")][: max(1, int(_MOST * judged.sum()))]


def _nearness(X: Vectors) -> Floats:
    """(n,): the mean cosine to the nearest others; of many rows, to some that lie evenly among them."""
    others = X[:: -(-len(X) // _COMPARED)]
    found = np.empty(len(X))
    for start in range(0, len(X), _AT_ONCE):
        products = X[start : start + _AT_ONCE] @ others.T
        # The nearest is mostly the row itself: one more is taken, and the best left out.
        nearest = np.partition(products, -_NEIGHBOURS - 1, axis=1)[:, -_NEIGHBOURS - 1 :]
        found[start : start + _AT_ONCE] = np.sort(nearest, axis=1)[:, :-1].mean(axis=1)
    return found

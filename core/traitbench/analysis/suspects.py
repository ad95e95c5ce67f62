"""Suspect labels, which the other samples contradict, and isolated texts: the checks that need only vectors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from traitbench.analysis.nuisance import Counts, on_their_side
from traitbench.fitting.axis import pole_weights
from traitbench.fitting.calibrate import calibrate, smoothed
from traitbench.fitting.duplicates import Vectors
from traitbench.fitting.resampling import PairCounts, Resampler, among, folds_of
from traitbench.fitting.search import Recipe, TrainingSamples
from traitbench.scoring.inputs import Floats, unit

_FEWEST = 8
_FOLDS = 10
_DIVISIONS = 3
_AT_ONCE = 1_024
_SHRINKAGE = 0.4
# As in a training (`traitbench.fitting.search`).
_SYNTHESIZED_WEIGHT = 4.0
# core/docs/scoring.md, section 11.
_SUSPECT_BELOW = 0.1
_MOST_SUSPECT = 0.1
_LEAST_AUROC = 0.65
_NEIGHBOURS = 3
# The products of all pairs would take the square of the rows in memory.
_COMPARED = 4_000
_FEWEST_TEXTS = 20
_DEVIATIONS = 3.0
# A median absolute deviation times this is the standard deviation of normally distributed values.
_TO_DEVIATION = 1.4826


@dataclass(frozen=True, eq=False)
class LabelCheck:
    """Out-of-fold scores (n,), 0.5 where there is none, their AUROC, how many are on the side of their label, and the
    rows with suspect labels, worst first.
    """

    scores: Floats
    auroc: float
    counts: Counts
    suspects: NDArray[np.intp]


def out_of_fold_check(
    X: Vectors,
    y: Floats,
    groups: NDArray[np.int64],
    made: NDArray[np.bool_],
    texts: NDArray[np.int64] | None = None,
) -> LabelCheck | None:
    """Score every sample by a fit to the other groups; None if a pole has too few of them.

    `texts` (n,) are equal for texts that count once, by default the groups.

    A label is suspect if its own pole gets a probability below one tenth. At most a tenth of the samples are reported,
    and none if the trait hardly separates its poles.
    """
    samples = _evidence(X, y, groups, made, texts)
    if samples.smaller_pole < _FEWEST:
        return None
    scores, tally = np.full(len(y), 0.5), PairCounts()
    non_empty = np.flatnonzero(np.any(X != 0, axis=1))
    for rows in _parts(samples, non_empty):
        part_scores, part_tally = _held_out(among(samples, rows))
        scores[rows] = part_scores
        tally += part_tally
    evaluated = samples.is_evaluated
    suspects = _suspects(scores, y, evaluated) if tally.auroc >= _LEAST_AUROC else _NO_ROWS
    return LabelCheck(scores, tally.auroc, on_their_side(scores[evaluated] > 0.5, y[evaluated]), suspects)


def isolated(X: Vectors) -> NDArray[np.bool_]:
    """(n,): rows much farther from their nearest neighbours than usual; none among few texts."""
    non_empty = np.flatnonzero(np.any(X != 0, axis=1))
    isolated = np.zeros(len(X), bool)
    if len(non_empty) < _FEWEST_TEXTS:
        return isolated
    near = _nearness(unit(X[non_empty]).astype(np.float32))
    middle = np.median(near)
    spread = _TO_DEVIATION * np.median(np.abs(near - middle))
    isolated[non_empty] = near < middle - _DEVIATIONS * max(spread, 1e-6)
    return isolated


_NO_ROWS = np.zeros(0, np.intp)


def _evidence(
    X: Vectors, y: Floats, groups: NDArray[np.int64], made: NDArray[np.bool_], texts: NDArray[np.int64] | None
) -> TrainingSamples:
    """The samples with the weights that a training would give them, but not merged and in the given order."""
    weights = np.ones(len(y))
    for pole in (y > 0.5, y < 0.5, y == 0.5):
        weights[pole & made] = min(1.0, _SYNTHESIZED_WEIGHT / max(1, int((pole & made).sum())))
    return TrainingSamples(X, y, groups, made, weights, ~made & np.any(X != 0, axis=1), texts)


def _parts(samples: TrainingSamples, non_empty: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """The samples in as few parts as possible, small enough to be checked.

    A group stays in one part, and each part has both poles.
    """
    count = -(-len(non_empty) // _AT_ONCE)
    if count == 1:
        return [non_empty]
    part = folds_of(samples, count, 0)[non_empty]
    return [non_empty[part == each] for each in range(count)]


def _held_out(samples: TrainingSamples) -> tuple[Floats, PairCounts]:
    """(n,): out-of-fold scores, averaged over several divisions into folds, and the comparisons within folds."""
    if samples.smaller_pole < 2:
        return np.full(len(samples.y), 0.5), PairCounts()
    resampler, tally = Resampler(samples, Recipe(_SHRINKAGE, 0.0, None, None)), PairCounts()
    values, count = np.zeros(len(samples.y)), min(_FOLDS, samples.smaller_pole)
    for repeat in range(_DIVISIONS):
        folds = folds_of(samples, count, repeat)
        out_of_fold = resampler.out_of_fold(folds)
        values += np.where(folds >= 0, out_of_fold, 0.0) / _DIVISIONS
        tally += resampler.within_fold_pairs(folds, out_of_fold)
    evaluated = samples.is_evaluated
    scale = float(np.sqrt(np.square(values[evaluated]).mean())) or 1.0
    column = (values / scale)[:, None]
    y = samples.y[evaluated]
    calibration = calibrate(column[evaluated], smoothed(y, len(y)), pole_weights(y) * len(y))
    return expit(calibration.logits(column))[:, 0], tally


def _suspects(scores: Floats, y: Floats, is_evaluated: NDArray[np.bool_]) -> NDArray[np.intp]:
    own_pole = np.where(y > 0.5, scores, 1 - scores)
    suspects = np.flatnonzero(is_evaluated & (y != 0.5) & (own_pole < _SUSPECT_BELOW))
    return suspects[np.argsort(own_pole[suspects], kind="stable")][: max(1, int(_MOST_SUSPECT * is_evaluated.sum()))]


def _nearness(X: Vectors) -> Floats:
    """(n,): the mean cosine to the nearest neighbours; with many rows, neighbours come from an even selection."""
    others = X[:: -(-len(X) // _COMPARED)]
    means = np.empty(len(X))
    for start in range(0, len(X), _AT_ONCE):
        products = X[start : start + _AT_ONCE] @ others.T
        # The nearest row is mostly the row itself, so take one more and drop the nearest.
        nearest = np.partition(products, -_NEIGHBOURS - 1, axis=1)[:, -_NEIGHBOURS - 1 :]
        means[start : start + _AT_ONCE] = np.sort(nearest, axis=1)[:, :-1].mean(axis=1)
    return means

"""Resampling: refits the chosen configuration on subsets of the samples, for AUROC and learning curves.

With shrinkage and columns fixed, a fit is one linear solve on the products of the samples, and leaving out a fold has a
closed form. This makes it possible to use many divisions into folds at less than the cost of one search. How much the
label axis counts is chosen for each fold, by the other folds. With a few samples, a choice that saw the samples it is
measured on makes wrong labels look right.

Two samples are compared only if both were left out of the same fit. Values of different folds have different scales,
and the middle of a fit shifts away from the samples that are left out. Comparisons between folds would make a small set
look worse than it is (Airola et al., Computational Statistics & Data Analysis 55, 2011).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from traitbench.fitting.axis import pole_weights
from traitbench.fitting.candidates import gains_by_column, least_label_slope
from traitbench.fitting.search import Recipe, TrainingSamples
from traitbench.fitting.search import divided as folds_for
from traitbench.scoring.inputs import Floats

Rows = NDArray[np.intp]

# What does not depend on the label axis.
_SHARED = ("products", "pair_weights", "_closed")

MOST_PER_POLE = 256
"""The products of all pairs stay in memory, so `part` limits the samples per pole to this many."""


@dataclass(frozen=True)
class PairCounts:
    """How often a positive sample scored above a negative one, ties counting half, and in how many comparisons."""

    won: float = 0.0
    compared: float = 0.0

    def __add__(self, other: "PairCounts") -> "PairCounts":
        return PairCounts(self.won + other.won, self.compared + other.compared)

    @property
    def auroc(self) -> float:
        """AUROC; 0.5 if nothing was compared."""
        return self.won / self.compared if self.compared else 0.5


@dataclass(frozen=True, eq=False)
class Resampler:
    """Samples and the configuration to refit; rows are indices of samples."""

    samples: TrainingSamples
    recipe: Recipe

    @cached_property
    def products(self) -> Floats:
        """(n, n): the inner products of all samples."""
        X = self.samples.X
        X = X if self.recipe.weights is None else X * self.recipe.weights.astype(np.float32)
        return (X @ X.T).astype(np.float64)

    @cached_property
    def pair_weights(self) -> Floats:
        """(n,): weights in a comparison. Those of a group at a pole add up to one; 0 for a sample that is not
        evaluated.
        """
        samples, weights = self.samples, np.zeros(len(self.samples.y))
        for pole in (samples.is_evaluated & (samples.y > 0.5), samples.is_evaluated & (samples.y < 0.5)):
            _, group_of, counts = np.unique(samples.groups[pole], return_inverse=True, return_counts=True)
            weights[pole] = 1 / counts[group_of]
        return weights

    def fit_and_score(self, rows: Rows, others: Rows) -> Floats:
        """(n_others,): values of `others` from a fit to `rows`, which must include both poles."""
        system = self._system(rows)
        dual = system.root * scipy.linalg.solve(system.matrix, system.pull, assume_a="pos", check_finite=False)
        # The direction is a sum of centred rows, so the mean's part is subtracted from each coefficient.
        return self._with_labels(self.products[np.ix_(others, rows)] @ (dual - system.weights * dual.sum()), others)

    def out_of_fold(self, folds: NDArray[np.int64]) -> Floats:
        """(n,): the value of each sample from a fit without its fold.

        Values of fold -1, which is never held out, are meaningless.
        """
        return self.out_of_folds([folds])[0]

    def out_of_folds(self, divisions: Sequence[NDArray[np.int64]]) -> list[Floats]:
        """`out_of_fold` for each of the divisions into folds (n,)."""
        values = [self._left_out(folds) for folds in divisions]
        if self.recipe.label_axis is None or not self.recipe.label_share:
            return values
        return self._with_labels_by_fold(values, divisions)

    def without_labels(self) -> "Resampler":
        """The same fits without the label axis."""
        recipe = replace(self.recipe, label_share=0.0, label_axis=None)
        plain = Resampler(self.samples, recipe)
        vars(plain).update({name: vars(self)[name] for name in _SHARED if name in vars(self)})
        return plain

    def _left_out(self, folds: NDArray[np.int64]) -> Floats:
        """(n,): the value of each sample on the direction that is fitted without its fold."""
        target, root, residual_maker, residuals = self._closed
        values = np.zeros(len(folds))
        for out in _members_of_folds(folds):
            block = residual_maker[out[:, :, None], out[:, None, :]]
            values[out] = target[out] - np.linalg.solve(block, residuals[out][:, :, None])[:, :, 0] / root[out]
        return values

    def _with_labels_by_fold(self, values: Sequence[Floats], divisions: Sequence[NDArray[np.int64]]) -> list[Floats]:
        """The values (n,) of each division with those on the label axis, which counts for a fold as much as the samples
        of the other folds suggest.
        """
        y, sample_weight = self.samples.y, self.samples.sample_weight
        counts = [int(folds.max()) + 1 for folds in divisions]
        is_rest = np.hstack(
            [folds[:, None] != np.arange(count) for folds, count in zip(divisions, counts, strict=True)]
        )
        is_rest &= self.samples.is_evaluated[:, None]
        positive = np.where(y > 0.5, 1.0, np.where(y < 0.5, 0.0, 0.5))
        poles = [(share * sample_weight)[:, None] * is_rest for share in (positive, 1 - positive)]
        weights = sum(0.5 * pole / pole.sum(axis=0) for pole in poles)
        columns = np.repeat(np.array(values).T, counts, axis=1)
        least = least_label_slope(y[self.samples.is_evaluated])
        value_gains, label_gains = gains_by_column(columns, self._labels, y, weights, least)
        firsts = np.cumsum([0, *counts[:-1]])
        return [
            own * value_gains[first + folds] + self._labels * label_gains[first + folds]
            for own, folds, first in zip(values, divisions, firsts.tolist(), strict=True)
        ]

    def tally(self, values: Floats, rows: Rows) -> PairCounts:
        """Count how often a positive sample scores above a negative one, among the samples at `rows` with these values
        (n_rows,).
        """
        y, weights = self.samples.y[rows], self.pair_weights[rows]
        above, below = y > 0.5, y < 0.5
        wins = (np.sign(values[above, None] - values[below]) + 1) / 2
        return PairCounts(
            float(weights[above] @ wins @ weights[below]), float(weights[above].sum() * weights[below].sum())
        )

    def within_fold_pairs(self, folds: NDArray[np.int64], values: Floats | None = None) -> PairCounts:
        """Compare every sample with the others of its fold, by out-of-fold values, which are computed if not given."""
        values = self.out_of_fold(folds) if values is None else values
        above, below = (np.flatnonzero((folds >= 0) & pole) for pole in (self.samples.y > 0.5, self.samples.y < 0.5))
        together = folds[above, None] == folds[below]
        wins = together * (np.sign(values[above, None] - values[below]) + 1) / 2
        weights = self.pair_weights
        return PairCounts(
            float(weights[above] @ wins @ weights[below]), float(weights[above] @ together @ weights[below])
        )

    @cached_property
    def _closed(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Targets, roots of the weights, identity minus hat matrix, and weighted residuals, for the closed form."""
        system = self._system(np.arange(len(self.samples.y)))
        inverse = scipy.linalg.inv(system.matrix, check_finite=False, assume_a="pos")
        residual_maker = system.penalty * inverse - np.outer(system.root, system.root)
        target = 2 * self.samples.y - 1
        return target, system.root, residual_maker, residual_maker @ (system.root * target)

    def _system(self, rows: Rows) -> "_System":
        samples, inner = self.samples, self.products[np.ix_(rows, rows)]
        weights = pole_weights(samples.y[rows], samples.sample_weight[rows])
        root, target, middle = np.sqrt(weights), 2 * samples.y[rows] - 1, inner @ weights
        matrix = root[:, None] * (inner - middle[:, None] - middle + weights @ middle) * root
        variance = float(np.trace(matrix)) / min(max(1, len(rows) - 1), samples.X.shape[1])
        penalty = 10.0**self.recipe.power * (variance if variance > 1e-12 else 1.0)
        matrix[np.diag_indices(len(rows))] += penalty
        return _System(matrix, penalty, weights, root, root * (target - weights @ target))

    def _with_labels(self, values: Floats, rows: Rows) -> Floats:
        """The values mixed with the values on the label axis, both on one scale."""
        share, axis = self.recipe.label_share, self.recipe.label_axis
        if axis is None or not share:
            return values
        return (1 - share) * _scaled(values) + share * _scaled(self._labels[rows])

    @cached_property
    def _labels(self) -> Floats:
        """(n,): the values on the label axis, which the recipe must have."""
        assert self.recipe.label_axis is not None
        labels: Floats = self.samples.X.astype(np.float64) @ self.recipe.label_axis
        return labels


@dataclass(frozen=True, eq=False)
class _System:
    """The linear system of a fit: centred and weighted products with the penalty, and its right-hand side."""

    matrix: Floats
    penalty: float
    weights: Floats
    root: Floats
    pull: Floats


def folds_of(samples: TrainingSamples, count: int, repeat: int) -> NDArray[np.int64]:
    """(n,): the fold of each sample; every `repeat` gives another division.

    A group shares a fold, and each pole is spread over all. -1 for groups without an evaluated sample.
    """
    return divided(samples, count, [repeat])[0]


def divided(samples: TrainingSamples, count: int, repeats: Iterable[int]) -> list[NDArray[np.int64]]:
    """`folds_of` for each of the repeats."""
    return folds_for(samples, count, map(np.random.default_rng, repeats))


def _members_of_folds(folds: NDArray[np.int64]) -> Iterator[Rows]:
    """For every size of a fold, the samples (n_folds, size) of the folds of that size."""
    order, sizes = np.argsort(folds, kind="stable"), np.bincount(folds[folds >= 0])
    order = order[len(order) - sizes.sum() :]
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]).tolist():
        yield order[starts[sizes == size, None] + np.arange(size)]


def part(samples: TrainingSamples, most: int = MOST_PER_POLE) -> TrainingSamples:
    """At most `most` samples of each pole, evaluated ones first, otherwise in their order."""
    order = np.argsort(~samples.is_evaluated, kind="stable")
    sides = np.sign(samples.y[order] - 0.5)
    taken = [order[sides == side][:most] for side in (-1, 0, 1)]
    return among(samples, np.sort(np.concatenate(taken))) if len(samples.y) > most else samples


def among(samples: TrainingSamples, rows: Rows | Sequence[int]) -> TrainingSamples:
    """The samples at these rows."""
    names = ("X", "y", "groups", "synthesized", "sample_weight", "is_evaluated", "texts")
    own: dict[str, Any] = {name: value[rows] for name in names if (value := getattr(samples, name)) is not None}
    return TrainingSamples(**own)


def _scaled(values: Floats) -> Floats:
    centred = values - values.mean()
    spread = float(np.sqrt(np.square(centred).mean()))
    scaled: Floats = centred / (spread if spread > 1e-12 else 1.0)
    return scaled

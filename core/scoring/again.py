"""What the search chose, learnt again and again from parts of the samples: the ground of areas and learning curves.

With shrinkage, columns and the share of the labels fixed, learning is one linear solve on the products of the samples,
and leaving a fold out is a closed form: many divisions into folds cost less than one search. Two samples are compared
only when both were left out at once. Values of different folds stand on scales of their own, the middle moves against
what is left out, and pooled they make a small set look worse than it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from traitbench.scoring.axis import Floats, pole_weights
from traitbench.scoring.search import Evidence, Recipe

Rows = NDArray[np.intp]

MOST_PER_POLE = 256
"""Products of all pairs are kept: of more samples at a pole, `part` takes as many."""


@dataclass(frozen=True)
class Tally:
    """How often a positive sample stood above a negative one, ties counting half, in how many comparisons."""

    won: float = 0.0
    compared: float = 0.0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.won + other.won, self.compared + other.compared)

    @property
    def area(self) -> float:
        """AUROC; one half where nothing was compared."""
        return self.won / self.compared if self.compared else 0.5


@dataclass(frozen=True, eq=False)
class Again:
    """Samples and a recipe; rows are places among the samples."""

    samples: Evidence
    recipe: Recipe

    @cached_property
    def products(self) -> Floats:
        """(n, n)."""
        X = self.samples.X
        X = X if self.recipe.weights is None else X * self.recipe.weights.astype(np.float32)
        return (X @ X.T).astype(np.float64)

    @cached_property
    def votes(self) -> Floats:
        """(n,): what a sample counts in a comparison: every kinship at a pole has one vote; none is not judged."""
        samples, votes = self.samples, np.zeros(len(self.samples.y))
        for pole in (samples.judged & (samples.y > 0.5), samples.judged & (samples.y < 0.5)):
            _, own, counts = np.unique(samples.kin[pole], return_inverse=True, return_counts=True)
            votes[pole] = 1 / counts[own]
        return votes

    def learnt(self, rows: Rows, others: Rows) -> Floats:
        """(n_others,): values of `others`, learnt from `rows`, where both poles are."""
        system = self._system(rows)
        dual = system.root * scipy.linalg.solve(system.matrix, system.pull, assume_a="pos", check_finite=False)
        # The direction is a sum over rows less their middle: the middle's share goes back to the rows.
        return self._with_labels(self.products[np.ix_(others, rows)] @ (dual - system.weights * dual.sum()), others)

    def left_out(self, folds: NDArray[np.int64]) -> Floats:
        """(n,): the value of each sample learnt without its fold; those of fold -1, never left out, have no meaning."""
        target, root, kept, residuals = self._closed
        values = np.zeros(len(folds))
        for fold in range(int(folds.max()) + 1):
            out = np.flatnonzero(folds == fold)
            values[out] = target[out] - np.linalg.solve(kept[np.ix_(out, out)], residuals[out]) / root[out]
        told = np.flatnonzero(folds >= 0)
        values[told] = self._with_labels(values[told], told)
        return values

    def tally(self, values: Floats, rows: Rows) -> Tally:
        """The samples at `rows` compared with one another by their values (n_rows,)."""
        y, votes = self.samples.y[rows], self.votes[rows]
        above, below = y > 0.5, y < 0.5
        wins = (np.sign(values[above, None] - values[below]) + 1) / 2
        return Tally(float(votes[above] @ wins @ votes[below]), float(votes[above].sum() * votes[below].sum()))

    def tally_of_folds(self, folds: NDArray[np.int64]) -> Tally:
        """Every sample compared with those of its own fold."""
        values, found = self.left_out(folds), Tally()
        for fold in range(int(folds.max()) + 1):
            rows = np.flatnonzero(folds == fold)
            found += self.tally(values[rows], rows)
        return found

    @cached_property
    def _closed(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Targets, roots of the weights, the identity less the hat matrix, and the weighted residuals."""
        system = self._system(np.arange(len(self.samples.y)))
        inverse = scipy.linalg.inv(system.matrix, check_finite=False)
        kept = system.penalty * inverse - np.outer(system.root, system.root)
        target = 2 * self.samples.y - 1
        return target, system.root, kept, kept @ (system.root * target)

    def _system(self, rows: Rows) -> "_System":
        samples, inner = self.samples, self.products[np.ix_(rows, rows)]
        weights = pole_weights(samples.y[rows], samples.mass[rows])
        root, target, middle = np.sqrt(weights), 2 * samples.y[rows] - 1, inner @ weights
        matrix = root[:, None] * (inner - middle[:, None] - middle + weights @ middle) * root
        variance = float(np.trace(matrix)) / min(max(1, len(rows) - 1), samples.X.shape[1])
        penalty = 10.0**self.recipe.power * (variance if variance > 1e-12 else 1.0)
        matrix[np.diag_indices(len(rows))] += penalty
        return _System(matrix, penalty, weights, root, root * (target - weights @ target))

    def _with_labels(self, values: Floats, rows: Rows) -> Floats:
        """The values mixed with the places on the axis of the labels, both on one scale."""
        share, axis = self.recipe.label_share, self.recipe.label_axis
        if axis is None or not share:
            return values
        return (1 - share) * _scaled(values) + share * _scaled(self.samples.X[rows].astype(np.float64) @ axis)


@dataclass(frozen=True, eq=False)
class _System:
    """What is to be solved for some samples: products about their middle, weighted, with the penalty."""

    matrix: Floats
    penalty: float
    weights: Floats
    root: Floats
    pull: Floats


def folds_of(samples: Evidence, count: int, turn: int) -> NDArray[np.int64]:
    """(n,): another division for every turn; kin share a fold, each pole is spread over all, -1 has nothing judged."""
    kin, own = np.unique(samples.kin, return_inverse=True)
    lean = np.sign(np.bincount(own, weights=(samples.y - 0.5) * samples.judged))
    judged = np.bincount(own, weights=samples.judged) > 0
    folds, rng = np.full(len(kin), -1), np.random.default_rng(turn)
    for side in (-1, 0, 1):
        members = rng.permutation(np.flatnonzero((lean == side) & judged))
        folds[members] = np.arange(len(members)) % count
    found: NDArray[np.int64] = folds[own]
    return found


def part(samples: Evidence, most: int = MOST_PER_POLE) -> Evidence:
    """The samples, of either pole `most` at most: judged ones first, in the order of their own."""
    order = np.argsort(~samples.judged, kind="stable")
    sides = np.sign(samples.y[order] - 0.5)
    taken = [order[sides == side][:most] for side in (-1, 0, 1)]
    return among(samples, np.sort(np.concatenate(taken))) if len(samples.y) > most else samples


def among(samples: Evidence, rows: Rows | Sequence[int]) -> Evidence:
    """Some of the samples."""
    names = ("X", "y", "kin", "synthesized", "mass", "judged")
    return Evidence(*(getattr(samples, name)[rows] for name in names))


def _scaled(values: Floats) -> Floats:
    spread = float(values.std())
    scaled: Floats = (values - values.mean()) / (spread if spread > 1e-12 else 1.0)
    return scaled

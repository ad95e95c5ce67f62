"""Differences of AUROC and of error between a and b on the same samples, with intervals.

Both score the same texts, so most of the noise is common to both and cancels out. A difference therefore has a
narrower interval than either figure. Near duplicates and equal texts form a group, and a group counts once at its pole,
as in `evaluate`.

Two versions on test samples, AUROC: the paired variance of DeLong, DeLong and Clarke-Pearson (Biometrics 44, 1988,
837-845), with groups in place of samples as in Obuchowski (Biometrics 53, 1997, 567-578), and Student's t with
Satterthwaite's degrees of freedom, as Brunner and Munzel (Biometrical Journal 42, 2000, 17-25) do for one AUROC. That
variance is too small where both versions order nearly all pairs alike, and 0 if they order all alike. So each pole gets
one more, imaginary group whose placements differ a little, in the spirit of Agresti and Min (Statistics in Medicine 24,
2005, 729-740).

Error: the share of samples whose score is not on the side of their own pole. Its difference has the score interval of
Tango (Statistics in Medicine 17, 1998, 891-908), which stays valid if no sample differs.

Two fits on the same folds: the interval combines the intervals of the two AUROCs and their correlation (MOVER: Zou and
Donner, Statistics in Medicine 27, 2008, 1693-1702). The correlation is that of DeLong et al. over groups. From few
groups it is unreliable, so it is shrunk towards 0, which widens the interval.

`tests/benchmarks/versions.py` measures how often the intervals contain the truth; see core/docs/scoring.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from traitbench.contract.comparisons import VersionVerdict as Verdict
from traitbench.fitting.auroc import group_weights, out_of_fold_interval, zero
from traitbench.fitting.search import TrainingSamples
from traitbench.scoring.inputs import Floats

__all__ = ["Difference", "FoldTally", "Verdict", "auroc_difference", "error_difference", "fold_difference", "shown"]

Groups = NDArray[np.int64]

LEVEL = 0.95
IMAGINARY = 0.1
"""By how much the placements of the imaginary group differ; chosen by measured coverage."""

_SHRINK_GROUPS = 4.0


@dataclass(frozen=True)
class Difference:
    """A figure of a and of b on the same samples; `delta` is b - a, and `interval` is that of the delta."""

    a: float
    b: float
    interval: tuple[float, float]

    @property
    def delta(self) -> float:
        """The figure of b minus that of a."""
        return self.b - self.a

    @property
    def sign(self) -> int:
        """1 or -1 if the interval excludes 0; 0 if it does not."""
        return (self.interval[0] > 0) - (self.interval[1] < 0)

    @property
    def verdict(self) -> Verdict:
        """What the interval shows of a figure that is better when larger."""
        return shown(self.sign)


def shown(sign: int) -> Verdict:
    """The verdict by the sign of what is shown: 1, -1, or 0 for nothing."""
    return "better" if sign > 0 else "worse" if sign < 0 else "no_difference"


def auroc_difference(a: Floats, b: Floats, y: Floats, groups: Groups, *, level: float = LEVEL) -> Difference:
    """The AUROC of two versions by their values (n,) of samples with qualities (n,) and groups (n,).

    Each pole needs at least two groups. Samples at 0.5 are ignored.
    """
    weights = group_weights(y, groups)
    poles = [np.flatnonzero(y > 0.5), np.flatnonzero(y < 0.5)]
    counts = [float(weights[pole].sum()) for pole in poles]
    # For each sample of each pole: the share of the other pole that it is on the right side of.
    first, second = (
        [won / other for won, other in zip(_won(values, weights, poles), counts[::-1], strict=True)]
        for values in (a, b)
    )
    area_a, area_b = (float(weights[poles[0]] @ own[0] / counts[0]) for own in (first, second))
    spread = _Spread(level)
    for pole, one, other in zip(poles, first, second, strict=True):
        spread.add(_by_group(weights[pole] * (other - one), groups[pole]), area_b - area_a)
    return Difference(area_a, area_b, _around(area_b - area_a, spread.reach()))


def error_difference(a: Floats, b: Floats, y: Floats, groups: Groups, *, level: float = LEVEL) -> Difference:
    """The error of two versions by their scores (n,), 0-100, of samples with qualities (n,) and groups (n,).

    There must be at least one sample that is not at 0.5.
    """
    weights = np.where(y == 0.5, 0.0, group_weights(y, groups))
    wrong_a, wrong_b = (~on_side(scores, y) for scores in (a, b))
    count = float(weights.sum())
    only_a, only_b = float(weights @ (wrong_a & ~wrong_b)), float(weights @ (wrong_b & ~wrong_a))
    error_a, error_b = float(weights @ wrong_a) / count, float(weights @ wrong_b) / count
    return Difference(error_a, error_b, paired_shares(only_b, only_a, count, level=level))


def on_side(scores: Floats, y: Floats) -> NDArray[np.bool_]:
    """(n,): whether a score, 0-100, is on the side of the sample's pole; the middle itself is on neither side."""
    return np.where(y > 0.5, scores > 50, scores < 50)


def paired_shares(more: float, less: float, count: float, *, level: float = LEVEL) -> tuple[float, float]:
    """The interval of the difference of two shares of the same `count` samples.

    `more` samples count in the second share only, and `less` in the first only.
    """
    z = float(ndtri((1 + level) / 2))

    def excess(difference: float, sign: float) -> float:
        """How far the observed difference is from the assumed one, beyond z standard errors."""
        linear = -more - less + (2 * count - more + less) * difference
        constant = -less * difference * (1 - difference)
        root = np.sqrt(max(linear**2 - 8 * count * constant, 0.0))
        least = max((root - linear) / (4 * count), 0.0)
        variance = max(count * (2 * least + difference * (1 - difference)), 0.0)
        return float(more - less - count * difference - sign * z * np.sqrt(variance))

    observed = (more - less) / count
    return (
        zero(lambda at: excess(at, 1.0), -1.0, observed),
        zero(lambda at: excess(at, -1.0), observed, 1.0),
    )


@dataclass(frozen=True, eq=False)
class FoldTally:
    """The out-of-fold comparisons of a fit: by sample (n,), the weight of those it was part of, and of those it won.

    A sample is compared with all evaluated samples of the other pole or, if they are few, with those of its fold.
    """

    samples: TrainingSamples
    won: Floats
    compared: Floats

    @classmethod
    def within_folds(
        cls, samples: TrainingSamples, weights: Floats, divided: Sequence[tuple[Floats, NDArray[np.int64]]]
    ) -> "FoldTally":
        """Compare samples of a fold, by the values (n,) and folds (n,) of each division; `weights` (n,) are theirs."""
        won, compared = np.zeros(len(samples.y)), np.zeros(len(samples.y))
        for values, folds in divided:
            for fold in range(int(folds.max()) + 1):
                above, below = (np.flatnonzero((folds == fold) & pole) for pole in (samples.y > 0.5, samples.y < 0.5))
                wins = (np.sign(values[above, None] - values[below]) + 1) / 2
                one, other = weights[above], weights[below]
                won[above] += one * (wins @ other)
                won[below] += other * (one @ wins)
                compared[above] += one * other.sum()
                compared[below] += other * one.sum()
        return cls(samples, won, compared)

    @classmethod
    def pooled(cls, samples: TrainingSamples, held_out: Floats) -> "FoldTally":
        """Compare all samples, by values (n_evaluated,) of all folds."""
        rows = np.flatnonzero(samples.is_evaluated)
        y, weights = samples.y[rows], group_weights(samples.y[rows], samples.groups[rows])
        poles = [np.flatnonzero(y > 0.5), np.flatnonzero(y < 0.5)]
        won, compared = np.zeros(len(samples.y)), np.zeros(len(samples.y))
        for own, others, wins in zip(poles, poles[::-1], _won(held_out, weights, poles), strict=True):
            won[rows[own]] = weights[own] * wins
            compared[rows[own]] = weights[own] * weights[others].sum()
        return cls(samples, won, compared)

    @property
    def auroc(self) -> float:
        """The share of comparisons that the positive sample won."""
        positive = self.samples.y > 0.5
        return float(self.won[positive].sum() / self.compared[positive].sum())

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the AUROC."""
        evaluated = self.samples.is_evaluated
        poles = (evaluated & (self.samples.y > 0.5), evaluated & (self.samples.y < 0.5))
        positive, negative = (len(np.unique(self.samples.groups[pole])) for pole in poles)
        return out_of_fold_interval(self.auroc, positive, negative)

    @property
    def influence(self) -> Floats:
        """(n_groups,): how much each group moves the AUROC, up to a factor; adds up to 0."""
        return np.bincount(self.samples.groups, weights=self.won - self.auroc * self.compared).astype(np.float64)


def fold_difference(a: FoldTally, b: FoldTally) -> Difference:
    """The out-of-fold AUROC of two fits to the same samples and folds, with the MOVER interval."""
    down_a, up_a = (abs(a.auroc - end) for end in a.interval)
    down_b, up_b = (abs(b.auroc - end) for end in b.interval)
    correlation, delta = _correlation(a.influence, b.influence), b.auroc - a.auroc
    low = delta - _combined(down_b, up_a, correlation)
    high = delta + _combined(up_b, down_a, correlation)
    return Difference(a.auroc, b.auroc, (max(low, -1.0), min(high, 1.0)))


def _combined(one: float, other: float, correlation: float) -> float:
    return float(np.sqrt(max(0.0, one**2 + other**2 - 2 * correlation * one * other)))


def _correlation(one: Floats, other: Floats) -> float:
    """The correlation of both AUROCs over the choice of groups; 0 where one of them has no variance."""
    scale = float(np.sqrt((one @ one) * (other @ other)))
    groups = int(((one != 0) | (other != 0)).sum())
    return float(one @ other) / scale * groups / (groups + _SHRINK_GROUPS) if scale > 1e-12 else 0.0


class _Spread:
    """The variance of a mean difference, summed over the poles, with its degrees of freedom."""

    def __init__(self, level: float) -> None:
        self._level, self._variance, self._squares = level, 0.0, 0.0

    def add(self, differences: Floats, mean: float) -> None:
        """Add the variance of a pole, by the differences (n_groups,) of its groups."""
        count = len(differences)
        pole = (float(np.square(differences - mean).sum()) + IMAGINARY**2) / (count - 1) / count
        self._variance += pole
        self._squares += pole**2 / (count - 1)

    def reach(self) -> float:
        """Half the width of the interval."""
        freedom = self._variance**2 / self._squares
        return float(stdtrit(freedom, (1 + self._level) / 2) * np.sqrt(self._variance))


def _won(values: Floats, weights: Floats, poles: Sequence[NDArray[np.intp]]) -> tuple[Floats, Floats]:
    """For each sample of each pole: the weight of the other pole that it is on the right side of; ties count half."""
    above, below = poles
    return (
        _beaten(values[below], weights[below], values[above]),
        _beaten(-values[above], weights[above], -values[below]),
    )


def _beaten(others: Floats, weights: Floats, values: Floats) -> Floats:
    order = np.argsort(others, kind="stable")
    ranked, heights = others[order], np.concatenate([[0.0], np.cumsum(weights[order])])
    won: Floats = (heights[ranked.searchsorted(values, "left")] + heights[ranked.searchsorted(values, "right")]) / 2
    return won


def _by_group(values: Floats, groups: Groups) -> Floats:
    """(n_groups,): the sums of values by group."""
    _, group_of = np.unique(groups, return_inverse=True)
    return np.bincount(group_of, weights=values).astype(np.float64)


def _around(middle: float, reach: float) -> tuple[float, float]:
    return max(-1.0, middle - reach), min(1.0, middle + reach)

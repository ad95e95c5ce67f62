"""Two versions on the same test samples: the differences of AUROC and of error, with intervals.

Both versions score the same texts, so most of the noise is common to both and cancels out. A difference therefore has
a narrower interval than either figure. Near duplicates and equal texts form a group, and a group counts once at its
pole, as in `evaluate`.

AUROC: the paired variance of DeLong, DeLong and Clarke-Pearson (Biometrics 44, 1988, 837-845), with groups in place of
samples as in Obuchowski (Biometrics 53, 1997, 567-578), and Student's t with Satterthwaite's degrees of freedom, as
Brunner and Munzel (Biometrical Journal 42, 2000, 17-25) do for one AUROC. That variance is too small where both
versions order nearly all pairs alike, and 0 if they order all alike. So each pole gets one more, imaginary group whose
placements differ a little, in the spirit of Agresti and Min (Statistics in Medicine 24, 2005, 729-740).

Error: the share of samples whose score is not on the side of their own pole. Its difference has the score interval of
Tango (Statistics in Medicine 17, 1998, 891-908), which stays valid if no sample differs.

`tests/benchmarks/versions.py` measures how often the intervals contain the truth; see core/docs/scoring.md.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from traitbench.fitting.evaluate import group_weights
from traitbench.scoring.inputs import Floats

Groups = NDArray[np.int64]

LEVEL = 0.95
IMAGINARY = 0.1
"""By how much the placements of the imaginary group differ; chosen by measured coverage."""

_HALVINGS = 52


@dataclass(frozen=True)
class Difference:
    """A figure of two versions; `delta` is b - a, and `interval` is that of the delta."""

    a: float
    b: float
    interval: tuple[float, float]

    @property
    def delta(self) -> float:
        """The figure of b minus that of a."""
        return self.b - self.a


def auroc_difference(a: Floats, b: Floats, y: Floats, groups: Groups, *, level: float = LEVEL) -> Difference:
    """The AUROC of two versions by their values (n,) of samples with qualities (n,) and groups (n,).

    Each pole needs at least two groups. Samples at 0.5 are ignored.
    """
    weights = group_weights(y, groups)
    poles = [np.flatnonzero(y > 0.5), np.flatnonzero(y < 0.5)]
    counts = [float(weights[pole].sum()) for pole in poles]
    first, second = (_placements(values, weights, poles, counts) for values in (a, b))
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
        _root(lambda at: excess(at, 1.0), -1.0, observed),
        _root(lambda at: excess(at, -1.0), observed, 1.0),
    )


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


def _placements(
    values: Floats, weights: Floats, poles: list[NDArray[np.intp]], counts: list[float]
) -> tuple[Floats, Floats]:
    """For each sample of each pole: the share of the other pole that it is on the right side of; ties count half."""
    above, below = poles
    return (
        _beaten(values[below], weights[below], values[above]) / counts[1],
        _beaten(-values[above], weights[above], -values[below]) / counts[0],
    )


def _beaten(others: Floats, weights: Floats, values: Floats) -> Floats:
    order = np.argsort(others, kind="stable")
    ranked, heights = others[order], np.concatenate([[0.0], np.cumsum(weights[order])])
    beaten: Floats = (heights[ranked.searchsorted(values, "left")] + heights[ranked.searchsorted(values, "right")]) / 2
    return beaten


def _by_group(values: Floats, groups: Groups) -> Floats:
    """(n_groups,): the sums of values by group."""
    _, group_of = np.unique(groups, return_inverse=True)
    return np.bincount(group_of, weights=values).astype(np.float64)


def _around(middle: float, reach: float) -> tuple[float, float]:
    return max(-1.0, middle - reach), min(1.0, middle + reach)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """The zero of a falling function between two places, by bisection."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return (low + high) / 2

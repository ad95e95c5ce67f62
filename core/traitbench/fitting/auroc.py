"""AUROC and its 95 % interval.

The interval is method 5 of Newcombe (Statistics in Medicine 25, 2006, 559-573). It is the score interval with the
variance of Hanley and McNeil (Radiology 143, 1982, 29-36), in which the mean of both sample sizes replaces each of
them. It stays valid at an AUROC of 1.0. `out_of_fold_interval` adapts it to out-of-fold values. These come from fits to
fewer samples than the final trait, so it counts only six of ten samples. That factor was chosen by measured coverage.

Texts that belong together are not independent, so an interval must not count all of them; if they say nothing about one
another, it need not count each group once only. `independent` measures which it is: the variance of the AUROC over
groups (Obuchowski, Biometrics 53, 1997, 567-578) by that over texts is the design effect, and so many times fewer texts
count. From few groups it is unreliable, so it is shrunk towards the largest one, at which a group counts once.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from traitbench.scoring.certainty import EVIDENCE
from traitbench.scoring.inputs import Floats

# The 97.5 % quantile of the normal distribution.
_Z = 1.959963984540054
_END = 1e-9
# Groups that a measured design effect is worth as much as the largest one.
_SHRINK_GROUPS = 10
# As many as a double has bits of fraction, so further ones would change nothing.
_HALVINGS = 52


def auroc(values: Floats, y: Floats, sample_weight: Floats | None = None) -> float:
    """The chance that a positive sample has a higher value than a negative one, ties counting half."""
    above, below = y > 0.5, y < 0.5
    weights = np.ones(len(y)) if sample_weight is None else sample_weight
    order = np.argsort(values[below], kind="stable")
    ranked = values[below][order]
    heights = np.concatenate([[0.0], np.cumsum(weights[below][order])])
    beaten = heights[ranked.searchsorted(values[above], "left")] + heights[ranked.searchsorted(values[above], "right")]
    return float(weights[above] @ beaten / 2 / (weights[above].sum() * heights[-1]))


def group_weights(y: Floats, groups: NDArray[np.int64]) -> Floats:
    """(n,): weights that add up to one for every group at a pole."""
    weights = np.empty(len(y))
    for pole in (y > 0.5, y < 0.5, y == 0.5):
        _, group_of, counts = np.unique(groups[pole], return_inverse=True, return_counts=True)
        weights[pole] = 1 / counts[group_of]
    return weights


def independent(
    values: Floats, y: Floats, groups: NDArray[np.int64], texts: NDArray[np.int64] | None = None
) -> tuple[float, float]:
    """How many independent samples the positive and the negative pole have, by values (n,) of samples with qualities.

    These are the groups, unless `texts` (n,) are more, which are equal for texts that count once.
    """
    poles = [y > 0.5, y < 0.5]
    fewest = [len(np.unique(groups[pole])) for pole in poles]
    if texts is None or len(np.unique(texts)) == len(np.unique(groups)) or min(fewest) < 2:
        return float(fewest[0]), float(fewest[1])
    weights = group_weights(y, groups)
    most = [_size(weights[pole], texts[pole]) for pole in poles]
    largest = max(1.0, 2 / sum(each / size for each, size in zip(fewest, most, strict=True)))
    parts = _parts(values, y, weights)
    count = len(np.unique(groups))
    of_texts, of_groups = (_sum_of_squares(parts, labels) for labels in (texts, groups))
    effect = np.clip(of_groups / of_texts * count / (count - 1), 1, largest) if of_texts > _END else largest
    effect = (_SHRINK_GROUPS * largest + count * effect) / (_SHRINK_GROUPS + count)
    positive, negative = (max(each, size / effect) for each, size in zip(fewest, most, strict=True))
    return float(positive), float(negative)


def _size(weights: Floats, texts: NDArray[np.int64]) -> float:
    """How many texts of equal weight say as much as these (Kish)."""
    own = np.bincount(np.unique(texts, return_inverse=True)[1], weights=weights)
    return float(np.square(own.sum()) / np.square(own).sum())


def _parts(values: Floats, y: Floats, weights: Floats) -> Floats:
    """(n,): what each sample adds to the AUROC beyond its share; adds up to 0 at each pole."""
    above, below = y > 0.5, y < 0.5
    area, parts = auroc(values, y, weights), np.zeros(len(y))
    for own, other in ((above, below), (below, above)):
        order = np.argsort(values[other], kind="stable")
        ranked, heights = values[other][order], np.concatenate([[0.0], np.cumsum(weights[other][order])])
        ends = [heights[ranked.searchsorted(values[own], side)] for side in ("left", "right")]
        lower = (ends[0] + ends[1]) / 2 / heights[-1]
        share = weights[own] / weights[own].sum()
        parts[own] = share * ((lower if own is above else 1 - lower) - area)
    return parts


def _sum_of_squares(parts: Floats, labels: NDArray[np.int64]) -> float:
    return float(np.square(np.bincount(np.unique(labels, return_inverse=True)[1], weights=parts)).sum())


def out_of_fold_interval(area: float, positive: float, negative: float) -> tuple[float, float]:
    """The 95 % interval of an out-of-fold AUROC; counts are of independent samples, see `independent`."""
    return interval(area, EVIDENCE * positive, EVIDENCE * negative)


def interval(area: float, positive: float, negative: float) -> tuple[float, float]:
    """The 95 % interval: every true AUROC that a 95 % test of `area` does not reject."""

    def excess(true: float) -> float:
        mean = (positive + negative) / 2 - 1
        spread = 1 + mean * (1 - true) / (2 - true) + mean * true / (1 + true)
        return float(np.square(area - true) - _Z**2 * true * (1 - true) * spread / (positive * negative))

    # At 0 or 1 that end is a root of the equation, but not the one wanted, so search away from it.
    low = 0.0 if area == 0 else zero(excess, 0.0, min(area, 1 - _END))
    high = 1.0 if area == 1 else zero(excess, 1.0, max(area, _END))
    return low, high


def zero(function: Callable[[float], float], above: float, below: float) -> float:
    """The zero of a function that is positive at `above` and negative at `below`, by bisection."""
    for _ in range(_HALVINGS):
        middle = (above + below) / 2
        above, below = (middle, below) if function(middle) > 0 else (above, middle)
    return (above + below) / 2

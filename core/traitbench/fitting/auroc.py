"""AUROC and its 95 % interval.

The interval is method 5 of Newcombe (Statistics in Medicine 25, 2006, 559-573). It is the score interval with the
variance of Hanley and McNeil (Radiology 143, 1982, 29-36), in which the mean of both sample sizes replaces each of
them. It stays valid at an AUROC of 1.0. `out_of_fold_interval` adapts it to out-of-fold values. These come from fits to
fewer samples than the final trait, so it counts only six of ten samples. That factor was chosen by measured coverage.
"""

from collections.abc import Callable

import numpy as np

from traitbench.scoring.certainty import EVIDENCE
from traitbench.scoring.inputs import Floats

# The 97.5 % quantile of the normal distribution.
_Z = 1.959963984540054
_END = 1e-9
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


def out_of_fold_interval(area: float, positive: int, negative: int) -> tuple[float, float]:
    """The 95 % interval of an out-of-fold AUROC; counts are of independent samples, that is of groups."""
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

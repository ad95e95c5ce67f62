"""How well values order two poles: AUROC, and the 95 % interval in which the true one lies.

The interval is Newcombe's score interval on the variance of Hanley and McNeil, which stays honest at a perfect 1.0.
`sure` is that interval for areas that come from folds: they were learnt from fewer samples, and from other ones than
the trait that is kept, so six of ten samples are taken to be evidence. Measured, that is what it takes.
"""

from collections.abc import Callable

import numpy as np

from traitbench.scoring.axis import Floats

_Z = 1.959963984540054
_EVIDENCE = 0.6
_END = 1e-9
_HALVINGS = 52


def auroc(values: Floats, y: Floats, votes: Floats | None = None) -> float:
    """The chance that a positive sample stands above a negative one, ties counting half; `votes` are their weights."""
    above, below = y > 0.5, y < 0.5
    weights = np.ones(len(y)) if votes is None else votes
    order = np.argsort(values[below], kind="stable")
    ranked = values[below][order]
    heights = np.concatenate([[0.0], np.cumsum(weights[below][order])])
    beaten = heights[ranked.searchsorted(values[above], "left")] + heights[ranked.searchsorted(values[above], "right")]
    return float(weights[above] @ beaten / 2 / (weights[above].sum() * heights[-1]))


def sure(area: float, positive: int, negative: int) -> tuple[float, float]:
    """95 %, for an area of samples that were held out by turns; counts are of what is independent, kinships."""
    return interval(area, _EVIDENCE * positive, _EVIDENCE * negative)


def interval(area: float, positive: float, negative: float) -> tuple[float, float]:
    """95 %: all areas that would not be surprised by this one."""

    def surprise(true: float) -> float:
        mean = (positive + negative) / 2 - 1
        spread = 1 + mean * (1 - true) / (2 - true) + mean * true / (1 + true)
        return float(np.square(area - true) - _Z**2 * true * (1 - true) * spread / (positive * negative))

    # The ends themselves are solutions of no meaning when the area lies there.
    low = 0.0 if area == 0 else _root(surprise, 0.0, min(area, 1 - _END))
    high = 1.0 if area == 1 else _root(surprise, 1.0, max(area, _END))
    return low, high


def _root(of: Callable[[float], float], above: float, below: float) -> float:
    """Where a function that is positive at `above` and negative at `below` is zero."""
    for _ in range(_HALVINGS):
        middle = (above + below) / 2
        above, below = (middle, below) if of(middle) > 0 else (above, middle)
    return (above + below) / 2

"""Honest figures of a trait, from held-out logits only.

AUROC compares samples above 0.5 with samples below; its interval is Newcombe's score interval on the variance of Hanley
and McNeil, which stays honest at a perfect 1.0. Brier, calibration error (ten bins) and cross-entropy compare the score
with the quality, both poles weighing the same.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit

from core.scoring.axis import Floats, pole_weights
from core.scoring.search import Evidence, Found

_Z = 1.959963984540054
_BINS = 10
_END = 1e-9
_HALVINGS = 52


def figures(samples: Evidence, found: Found) -> dict[str, Any]:
    """The figures and what they were measured on; all null, with the reason, when nothing could be held out."""
    if found.held_out is None or samples.synthesized[samples.judged].any():
        return unmeasured(_why_not(samples))
    return {
        **measured(found.held_out, samples.y[samples.judged]),
        "measured_on": _measured_on(samples, found),
        "folds": found.folds,
    }


def measured(logits: Floats, y: Floats) -> dict[str, Any]:
    """The figures of logits (n,) that have not seen the qualities (n,), both poles being there."""
    scores, weights = expit(logits), pole_weights(y)
    area = auroc(logits, y)
    return {
        "auroc": area,
        "auroc_interval": list(interval(area, int((y > 0.5).sum()), int((y < 0.5).sum()))),
        "brier": float(weights @ np.square(scores - y)),
        "calibration_error": _calibration_error(scores, y, weights),
        "cross_entropy": float(weights @ (np.logaddexp(0, logits) - y * logits)),
    }


def unmeasured(reason: str) -> dict[str, Any]:
    """No figure, and why."""
    names = ("auroc", "auroc_interval", "brier", "calibration_error", "cross_entropy")
    return {**dict.fromkeys(names), "measured_on": f"not measured: {reason}", "folds": None}


def auroc(values: Floats, y: Floats) -> float:
    """The chance that a positive sample stands above a negative one, ties counting half."""
    positive, negative = values[y > 0.5], values[y < 0.5]
    below = np.sort(negative)
    above = below.searchsorted(positive, "left").sum() + below.searchsorted(positive, "right").sum()
    return float(above / 2 / (len(positive) * len(negative)))


def interval(area: float, positive: int, negative: int) -> tuple[float, float]:
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


def _calibration_error(scores: Floats, y: Floats, weights: Floats) -> float:
    bins = np.minimum((scores * _BINS).astype(int), _BINS - 1)
    return float(np.abs(np.bincount(bins, weights=weights * (scores - y), minlength=_BINS)).sum())


def _measured_on(samples: Evidence, found: Found) -> str:
    how = "leave-one-out" if found.folds is None else f"out-of-fold, {found.folds} folds"
    return f"{how}, {samples.judged.sum()} distinct samples"


def _why_not(samples: Evidence) -> str:
    real = ~samples.synthesized
    if not real.any() and len(real):
        return "only synthesised samples"
    positive, negative = (len(np.unique(samples.kin[real & pole])) for pole in (samples.y > 0.5, samples.y < 0.5))
    side = "positive" if positive <= negative else "negative"
    how_many = "no distinct text" if min(positive, negative) == 0 else "one distinct text"
    beside = ", synthesised samples aside" if samples.synthesized.any() else ""
    return f"{how_many} at the {side} pole{beside}, two are needed to hold one out"

"""Honest figures of a trait, from held-out logits only.

AUROC compares samples above 0.5 with samples below; its interval is Newcombe's score interval on the variance of Hanley
and McNeil, which stays honest at a perfect 1.0. Brier, calibration error (ten bins) and cross-entropy compare the score
with the quality, both poles weighing the same.
"""

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import rankdata

from core.scoring.axis import Floats, pole_weights
from core.scoring.search import Evidence, Found

_Z = 1.959963984540054
_BINS = 10
_END = 1e-9


def figures(samples: Evidence, found: Found) -> dict[str, Any]:
    """The figures and what they were measured on; all null, with the reason, when nothing could be held out."""
    if found.held_out is None:
        names = ("auroc", "auroc_interval", "brier", "calibration_error", "cross_entropy")
        return {**dict.fromkeys(names), "measured_on": _why_not(samples), "folds": None}
    scores, weights = expit(found.held_out), pole_weights(samples.y)
    area = auroc(found.held_out, samples.y)
    return {
        "auroc": area,
        "auroc_interval": list(interval(area, int((samples.y > 0.5).sum()), int((samples.y < 0.5).sum()))),
        "brier": float(weights @ np.square(scores - samples.y)),
        "calibration_error": _calibration_error(scores, samples.y, weights),
        "cross_entropy": float(weights @ (np.logaddexp(0, found.held_out) - samples.y * found.held_out)),
        "measured_on": _measured_on(samples, found),
        "folds": found.folds,
    }


def auroc(values: Floats, y: Floats) -> float:
    """The chance that a positive sample stands above a negative one, ties counting half."""
    positive, negative = values[y > 0.5], values[y < 0.5]
    ranks = rankdata(np.concatenate([positive, negative]))[: len(positive)]
    above = ranks.sum() - len(positive) * (len(positive) + 1) / 2
    return float(above / (len(positive) * len(negative)))


def interval(area: float, positive: int, negative: int) -> tuple[float, float]:
    """95 %: all areas that would not be surprised by this one."""

    def surprise(true: float) -> float:
        mean = (positive + negative) / 2 - 1
        spread = 1 + mean * (1 - true) / (2 - true) + mean * true / (1 + true)
        return float(np.square(area - true) - _Z**2 * true * (1 - true) * spread / (positive * negative))

    # The ends themselves are solutions of no meaning when the area lies there.
    low = 0.0 if area == 0 else brentq(surprise, 0.0, min(area, 1 - _END))
    high = 1.0 if area == 1 else brentq(surprise, max(area, _END), 1.0)
    return float(low), float(high)


def _calibration_error(scores: Floats, y: Floats, weights: Floats) -> float:
    bins = np.minimum((scores * _BINS).astype(int), _BINS - 1)
    return float(np.abs(np.bincount(bins, weights=weights * (scores - y), minlength=_BINS)).sum())


def _measured_on(samples: Evidence, found: Found) -> str:
    how = "leave-one-out" if found.folds is None else f"out-of-fold, {found.folds} folds"
    return f"{how}, {len(samples.y)} distinct samples"


def _why_not(samples: Evidence) -> str:
    side = "positive" if (samples.y > 0.5).sum() <= (samples.y < 0.5).sum() else "negative"
    how_many = "no distinct text" if samples.smaller_pole == 0 else "one distinct text"
    return f"not measured: {how_many} at the {side} pole, two are needed to hold one out"

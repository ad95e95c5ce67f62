"""From values on an axis to scores: sigmoid(a u + b), a kept positive and b near zero by their priors.

Two parameters with proper priors cannot degenerate at four samples a pole: the slope never turns the axis round, and
the midpoint between the poles stays near 0.5. Many columns of values are calibrated at once.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]

_SLOPE_SPREAD = 1.5
_OFFSET_SPREAD = 0.25
_STEPS = 60
_HALVINGS = 12
_CLOSE = 1e-9
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Calibration:
    """Per column (k,): the natural logarithm of the slope, the offset, and the cross-entropy in units of samples."""

    log_slopes: Floats
    offsets: Floats
    cross_entropies: Floats

    @property
    def slopes(self) -> Floats:
        """(k,), all positive."""
        return np.exp(self.log_slopes)

    def logits(self, values: Floats) -> Floats:
        """(n, k) for values (n, k)."""
        return values * self.slopes + self.offsets


def smoothed(y: Floats, n: int) -> Floats:
    """Qualities as targets: the poles stand a little inside 0..1, the less the more samples there are."""
    margin = 1 / (n / 2 + 2)
    return np.clip(y, margin, 1 - margin)


def calibrate(values: Floats, targets: Floats, weights: Floats, *, start: Calibration | None = None) -> Calibration:
    """The most probable slope and offset of each column of `values` (n, k); `weights` (n,) sum to the evidence."""
    k = values.shape[1]
    at = np.stack([start.log_slopes, start.offsets]) if start else np.zeros((2, k))
    losses = _losses(values, targets, weights, at)
    for _ in range(_STEPS):
        step = _newton(values, targets, weights, at)
        at, losses, moved = _descend(values, targets, weights, at, losses, step)
        if moved < _CLOSE:
            break
    return Calibration(at[0], at[1], losses - _penalty(at))


def _losses(values: Floats, targets: Floats, weights: Floats, at: Floats) -> Floats:
    logits = values * np.exp(at[0]) + at[1]
    entropies: Floats = weights @ (np.logaddexp(0, logits) - targets[:, None] * logits)
    return entropies + _penalty(at)


def _penalty(at: Floats) -> Floats:
    penalty: Floats = np.square(at[0] / _SLOPE_SPREAD) / 2 + np.square(at[1] / _OFFSET_SPREAD) / 2
    return penalty


def _newton(values: Floats, targets: Floats, weights: Floats, at: Floats) -> Floats:
    """(2, k): the step to the bottom of a parabola; a curvature that is not positive is left out."""
    scaled = values * np.exp(at[0])
    scores = expit(scaled + at[1])
    residuals = weights[:, None] * (scores - targets[:, None])
    spread = weights[:, None] * scores * (1 - scores)
    pulls = (residuals * scaled).sum(axis=0)
    slope = pulls + at[0] / _SLOPE_SPREAD**2
    offset = residuals.sum(axis=0) + at[1] / _OFFSET_SPREAD**2
    bend = (spread * np.square(scaled)).sum(axis=0) + np.maximum(pulls, 0) + 1 / _SLOPE_SPREAD**2
    cross = (spread * scaled).sum(axis=0)
    flat = spread.sum(axis=0) + 1 / _OFFSET_SPREAD**2
    determinant = bend * flat - np.square(cross)
    step: Floats = -np.stack([flat * slope - cross * offset, bend * offset - cross * slope]) / determinant
    return step


def _descend(
    values: Floats, targets: Floats, weights: Floats, at: Floats, losses: Floats, step: Floats
) -> tuple[Floats, Floats, float]:
    """Take the step, or half of it, and so on, column by column, until the loss does not rise."""
    for _ in range(_HALVINGS):
        there = at + step
        found = _losses(values, targets, weights, there)
        worse = found > losses * (1 + _ROUNDING)
        if not worse.any():
            break
        step = np.where(worse, step / 2, step)
    better = ~worse
    moved = float(np.abs(np.where(better, step, 0)).max(initial=0))
    return np.where(better, there, at), np.where(better, found, losses), moved

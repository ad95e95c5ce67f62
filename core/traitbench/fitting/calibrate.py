"""Calibration: from values u on an axis to scores sigmoid(a u + b), as in Platt scaling.

See Platt, Probabilistic outputs for support vector machines, in Advances in Large Margin Classifiers (1999).

Priors keep a positive and b near zero, so the two parameters cannot degenerate even with four samples per pole. The
slope never reverses the axis, and the midpoint between the poles stays near 0.5. Many columns of values are calibrated
at once, by Newton's method.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Standard deviations of the priors of log a and b (core/docs/scoring.md, section 4).
_SLOPE_SPREAD = 1.5
_OFFSET_SPREAD = 0.25
_STEPS = 60
_HALVINGS = 12
_CONVERGED = 1e-7
_NEARLY_CONVERGED = 1e-3
_CONVEX = 0.1
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Calibration:
    """Per column (k,): the natural logarithm of the slope, the offset, and the total cross-entropy over the samples."""

    log_slopes: Floats
    offsets: Floats
    cross_entropies: Floats

    @property
    def slopes(self) -> Floats:
        """(k,): all positive."""
        return np.exp(self.log_slopes)

    def logits(self, values: Floats) -> Floats:
        """(n, k): logits of values (n, k)."""
        return values * self.slopes + self.offsets


def smoothed(y: Floats, n: int) -> Floats:
    """Qualities as targets: a little inside 0..1, but closer to 0 and 1 the more samples there are.

    With n / 2 samples at each pole, these are the targets of Platt (1999).
    """
    margin = 1 / (n / 2 + 2)
    return np.clip(y, margin, 1 - margin)


def calibrate(
    values: Floats,
    targets: Floats,
    weights: Floats,
    *,
    fixed_logits: Floats | None = None,
    start: Calibration | None = None,
) -> Calibration:
    """Fit the most probable slope and offset of each column of `values` (n, k); `weights` (n,) sum to the sample count.

    `fixed_logits` (n, k) are logits that are added to the calibrated values. Weights (n, k) are those of each column.
    """
    task = _Task(values, targets[:, None], weights, fixed_logits)
    at = np.stack([start.log_slopes, start.offsets]) if start else np.zeros((2, values.shape[1]))
    point = _evaluate(task, at)
    # A converged column is frozen: the other columns must not change its last digits.
    active = np.ones(values.shape[1], bool)
    for _ in range(_STEPS):
        point, step = _descend(task, point, np.where(active, _newton(task, point), 0.0))
        active &= np.abs(step).max(axis=0) >= _CONVERGED
        if not active.any():
            break
    return Calibration(point.at[0], point.at[1], point.losses - _penalty(point.at))


@dataclass(frozen=True, eq=False)
class _Task:
    values: Floats
    targets: Floats
    weights: Floats
    fixed_logits: Floats | None


@dataclass(frozen=True, eq=False)
class _Point:
    """A point (2, k) in the parameters: with values times slopes and scores (n, k), and the losses (k,)."""

    at: Floats
    scaled: Floats
    scores: Floats
    losses: Floats


def _evaluate(task: _Task, at: Floats) -> _Point:
    scaled = task.values * np.exp(at[0])
    logits = scaled + at[1]
    if task.fixed_logits is not None:
        logits += task.fixed_logits
    # One exponential e = exp(-|x|) gives the score 1 / (1 + e) or e / (1 + e) and the cross-entropy
    # max(x, 0) + log(1 + e) - t x.
    small = np.exp(-np.abs(logits))
    scores = np.where(logits > 0, 1.0, small) / (1 + small)
    entropies = np.maximum(logits, 0) + np.log(1 + small) - task.targets * logits
    return _Point(at, scaled, scores, _totals(task, entropies) + _penalty(at))


def _totals(task: _Task, values: Floats) -> Floats:
    """(k,): the weighted sum of each column of values (n, k)."""
    totals: Floats = task.weights @ values if task.weights.ndim == 1 else np.einsum("nk,nk->k", task.weights, values)
    return totals


def _penalty(at: Floats) -> Floats:
    penalty: Floats = np.square(at[0] / _SLOPE_SPREAD) / 2 + np.square(at[1] / _OFFSET_SPREAD) / 2
    return penalty


def _newton(task: _Task, point: _Point) -> Floats:
    """(2, k): the Newton step.

    Where the loss is not clearly convex, the Hessian is used without the term that may be negative.
    """
    at, scaled, scores = point.at, point.scaled, point.scores
    residuals = scores - task.targets
    gradients = _totals(task, residuals * scaled)
    slope = gradients + at[0] / _SLOPE_SPREAD**2
    offset = _totals(task, residuals) + at[1] / _OFFSET_SPREAD**2
    spread = scores * (1 - scores)
    spread_scaled = spread * scaled
    curvature = _totals(task, spread_scaled * scaled) + 1 / _SLOPE_SPREAD**2
    cross = _totals(task, spread_scaled)
    flat = _totals(task, spread) + 1 / _OFFSET_SPREAD**2
    convex = (curvature + gradients) * flat - np.square(cross) > _CONVEX * curvature * flat
    bend = curvature + np.where(convex, gradients, np.maximum(gradients, 0))
    determinant = bend * flat - np.square(cross)
    step: Floats = -np.stack([flat * slope - cross * offset, bend * offset - cross * slope]) / determinant
    return step


def _descend(task: _Task, current: _Point, step: Floats) -> tuple[_Point, Floats]:
    """Take the step, halved per column until the loss does not rise; return the new point and the step taken."""
    for _ in range(_HALVINGS):
        point = _evaluate(task, current.at + step)
        # Near the minimum losses differ only by rounding, so the step is accepted without comparing them.
        worse = (point.losses > current.losses * (1 + _ROUNDING)) & (np.abs(step).max(axis=0) > _NEARLY_CONVERGED)
        if not worse.any():
            return point, step
        step = np.where(worse, step / 2, step)
    step = np.where(worse, 0, step)
    return _evaluate(task, current.at + step), step

"""From values on an axis to scores: sigmoid(a u + b), a kept positive and b near zero by their priors.

Two parameters with proper priors cannot degenerate at four samples a pole: the slope never turns the axis round, and
the midpoint between the poles stays near 0.5. Many columns of values are calibrated at once.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SLOPE_SPREAD = 1.5
_OFFSET_SPREAD = 0.25
_STEPS = 60
_HALVINGS = 12
_CLOSE = 1e-7
_NEAR = 1e-3
_CONVEX = 0.1
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


def calibrate(
    values: Floats,
    targets: Floats,
    weights: Floats,
    *,
    said: Floats | None = None,
    start: Calibration | None = None,
) -> Calibration:
    """The most probable slope and offset of each column of `values` (n, k); `weights` (n,) sum to the evidence.

    `said` (n, k) are logits that are there already; what is found is added to them.
    """
    task = _Task(values, targets[:, None], weights, said)
    at = np.stack([start.log_slopes, start.offsets]) if start else np.zeros((2, values.shape[1]))
    there = _look(task, at)
    # A column that has arrived stays: what else is calibrated with it must not change its last digits.
    moving = np.ones(values.shape[1], bool)
    for _ in range(_STEPS):
        there, step = _descend(task, there, np.where(moving, _newton(task, there), 0.0))
        moving &= np.abs(step).max(axis=0) >= _CLOSE
        if not moving.any():
            break
    return Calibration(there.at[0], there.at[1], there.losses - _penalty(there.at))


@dataclass(frozen=True, eq=False)
class _Task:
    values: Floats
    targets: Floats
    weights: Floats
    said: Floats | None


@dataclass(frozen=True, eq=False)
class _Place:
    """A point (2, k), and what is to be seen from it: values times slopes and scores (n, k), and the losses (k,)."""

    at: Floats
    scaled: Floats
    scores: Floats
    losses: Floats


def _look(task: _Task, at: Floats) -> _Place:
    scaled = task.values * np.exp(at[0])
    logits = scaled + at[1]
    if task.said is not None:
        logits += task.said
    # One exponential e gives both: the score 1 / (1 + e) or e / (1 + e), the entropy max(x, 0) + log(1 + e) - t x.
    small = np.exp(-np.abs(logits))
    scores = np.where(logits > 0, 1.0, small) / (1 + small)
    entropies = np.maximum(logits, 0) + np.log(1 + small) - task.targets * logits
    return _Place(at, scaled, scores, task.weights @ entropies + _penalty(at))


def _penalty(at: Floats) -> Floats:
    penalty: Floats = np.square(at[0] / _SLOPE_SPREAD) / 2 + np.square(at[1] / _OFFSET_SPREAD) / 2
    return penalty


def _newton(task: _Task, there: _Place) -> Floats:
    """(2, k): the step to the bottom of a parabola; what would bend it down is left out until the bottom is near."""
    at, scaled, scores = there.at, there.scaled, there.scores
    residuals = scores - task.targets
    pulls = task.weights @ (residuals * scaled)
    slope = pulls + at[0] / _SLOPE_SPREAD**2
    offset = task.weights @ residuals + at[1] / _OFFSET_SPREAD**2
    spread = scores * (1 - scores)
    spread_scaled = spread * scaled
    sure = task.weights @ (spread_scaled * scaled) + 1 / _SLOPE_SPREAD**2
    cross = task.weights @ spread_scaled
    flat = task.weights @ spread + 1 / _OFFSET_SPREAD**2
    convex = (sure + pulls) * flat - np.square(cross) > _CONVEX * sure * flat
    bend = sure + np.where(convex, pulls, np.maximum(pulls, 0))
    determinant = bend * flat - np.square(cross)
    step: Floats = -np.stack([flat * slope - cross * offset, bend * offset - cross * slope]) / determinant
    return step


def _descend(task: _Task, here: _Place, step: Floats) -> tuple[_Place, Floats]:
    """Take the step, or half of it, and so on, column by column, until the loss does not rise; the step taken, too."""
    for _ in range(_HALVINGS):
        there = _look(task, here.at + step)
        # Near the bottom losses differ by rounding only, and a step is right without asking them.
        worse = (there.losses > here.losses * (1 + _ROUNDING)) & (np.abs(step).max(axis=0) > _NEAR)
        if not worse.any():
            return there, step
        step = np.where(worse, step / 2, step)
    step = np.where(worse, 0, step)
    return _look(task, here.at + step), step

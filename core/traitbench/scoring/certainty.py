"""How sure a score is about its side: from which scores on held-out samples lie on the side of their own pole.

A logistic regression of the pole on the held-out logit says how often the side is right at each place of the scale. Its
prior is that the scores are right as they are (slope 1, offset 0). The inverse of its Hessian says how uncertain it is
(Laplace's approximation; MacKay, Neural Computation 4, 1992). A place counts as sure only if the chance is high enough
one standard error below the estimate. Both poles count equally, and so does every group of a pole. Held-out values come
from fits to fewer samples than the final trait, so they count as fewer, as in the interval of the AUROC.

Where the interval of the AUROC reaches down to 0.5, no score is sure: the poles may not differ at all.

One standard error was chosen on seven sets of real texts with 2 to 256 samples a pole, see `core/docs/scoring.md`.

The same regression says how far apart two scores must be. If exactly one of two texts belongs to the positive pole, the
odds that it is the second one are exp(slope * difference of the logits). A difference is sure if that chance is high
enough with the slope one standard error below its estimate. So two moderate scores on opposite sides always differ.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from traitbench.scoring.inputs import Floats

Confidence = Literal["high", "moderate", "low"]
Reason = Literal["few_samples", "not_separable", "overlap", "unlike_samples"]

WEAKEST_FIRST: tuple[Confidence, ...] = ("low", "moderate", "high")
_HIGH, _MODERATE = 0.9, 0.75  # how often the side is right at least: the promise of both levels
# With up to four samples at each pole no score is sure: that is the price of the promise. The share of held-out samples
# that a score gets right, with its Wilson bound, would need twice as many samples for the same promise.
_STANDARD_ERRORS = 1.0
_SPREAD = np.array([0.5, 0.5])  # of the prior: standard deviations of slope and offset
_STEPS, _CONVERGED = 50, 1e-10
_POINTS = np.arange(101)
# Chosen by measured coverage: the interval then held the true AUROC 93 to 100 times in 100.
EVIDENCE = 0.6
"""How many of ten independent samples count for an out-of-fold figure: each fit had fewer than the final one."""

_LOGITS: Floats = logit(np.clip(_POINTS / 100, 0.005, 0.995))  # where scores from 0 to 100 are rounded from
_NEVER = (-1, 101)
_MAY_SEPARATE = 0.75  # an AUROC that more samples may turn out to have


@dataclass(frozen=True)
class Levels:
    """Scores up to the first number or from the second one on have this confidence; -1 and 101 if none has."""

    high: tuple[int, int] = _NEVER
    moderate: tuple[int, int] = _NEVER

    def at(self, points: int) -> Confidence:
        """The confidence of a score."""
        if points <= self.high[0] or points >= self.high[1]:
            return "high"
        return "moderate" if points <= self.moderate[0] or points >= self.moderate[1] else "low"


NOWHERE = Levels()


@dataclass(frozen=True)
class Certainty:
    """Where a trait's scores are sure, and where they would be if the samples were many (`likely`).

    `limit` says why no score is sure; None if some are. Two scores surely differ if their logits are `difference` or
    more apart; None if no two scores do.
    """

    proven: Levels = NOWHERE
    likely: Levels = NOWHERE
    limit: Reason | None = None
    difference: float | None = None

    @property
    def nowhere(self) -> Reason | None:
        """Why no score is sure; None if some are."""
        return self.limit or ("few_samples" if self.proven == NOWHERE else None)

    def at(self, points: int, most: Confidence) -> tuple[Confidence, Reason | None]:
        """The confidence of a score, at most `most`, and why it is not high."""
        if self.limit is not None:
            return "low", self.limit
        sure = weaker(self.proven.at(points), most)
        if sure == "high":
            return sure, None
        return sure, "overlap" if sure == weaker(self.likely.at(points), most) else "few_samples"

    def differ(self, one: int, other: int) -> bool:
        """Whether the text with the higher one of two scores is surely the more positive one."""
        if self.limit is not None or self.difference is None:
            return False
        return abs(float(_LOGITS[one] - _LOGITS[other])) >= self.difference


def weaker(one: Confidence, other: Confidence) -> Confidence:
    """The lower of two confidences."""
    return min(one, other, key=WEAKEST_FIRST.index)


def certainty(
    held_out: Floats | None, y: Floats, groups: NDArray[np.int64], area: tuple[float, float] | None
) -> Certainty:
    """Return where scores are sure, by held-out logits (n,) of samples with qualities and groups (n,).

    `area` is the 95 % interval of the trait's AUROC.
    """
    if held_out is None or area is None:
        return Certainty(limit="few_samples")
    positive, negative = y > 0.5, y < 0.5
    counts = len(np.unique(groups[positive])), len(np.unique(groups[negative]))
    lowest, highest = area
    if lowest <= 0.5:
        return Certainty(limit="few_samples" if highest >= _MAY_SEPARATE else "not_separable")
    weights = np.zeros(len(y))
    # The evidence of both poles is that of the smaller one, or little more (a harmonic mean).
    evidence = EVIDENCE * 2 / (1 / counts[0] + 1 / counts[1])
    for pole, count in ((positive, counts[0]), (negative, counts[1])):
        _, group_of, sizes = np.unique(groups[pole], return_inverse=True, return_counts=True)
        weights[pole] = evidence / count / sizes[group_of]
    mean, covariance = _posterior(held_out, positive.astype(np.float64), weights)
    features = np.stack([_LOGITS, np.ones(len(_LOGITS))])
    logits = mean @ features
    errors = np.sqrt(np.einsum("ip,ij,jp->p", features, covariance, features))
    likely = _levels(logits, np.zeros(len(logits)))
    if likely == NOWHERE:
        return Certainty(limit="not_separable")
    slope = float(mean[0] - _STANDARD_ERRORS * np.sqrt(covariance[0, 0]))
    return Certainty(_levels(logits, _STANDARD_ERRORS * errors), likely, difference=_difference(slope))


def _posterior(values: Floats, targets: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """The most probable slope and offset (2,) and their covariance (2, 2), by Newton's method."""
    X = np.stack([values, np.ones(len(values))], axis=1)
    prior, precision = np.array([1.0, 0.0]), np.diag(1 / np.square(_SPREAD))
    mean = prior.copy()
    for _ in range(_STEPS):
        scores = expit(X @ mean)
        gradient = X.T @ (weights * (scores - targets)) + precision @ (mean - prior)
        hessian = (X.T * (weights * scores * (1 - scores))) @ X + precision
        step = np.linalg.solve(hessian, gradient)
        mean = mean - step
        if np.abs(step).max() < _CONVERGED:
            break
    return mean, np.linalg.inv(hessian)


def _difference(slope: float) -> float | None:
    """The least difference of two logits that is sure with this slope; None if it does not fit on the scale."""
    if slope <= 0:
        return None
    needed = float(np.float32(logit(_HIGH) / slope))
    return needed if needed <= _LOGITS[-1] - _LOGITS[0] else None


def _levels(logits: Floats, errors: Floats) -> Levels:
    return Levels(*(_outside(logits, errors, float(logit(chance))) for chance in (_HIGH, _MODERATE)))


def _outside(logits: Floats, errors: Floats, needed: float) -> tuple[int, int]:
    """The innermost scores below and above the middle whose side is sure enough; what lies further out is too."""
    negative = _POINTS[(_POINTS < 50) & (-(logits + errors) >= needed)]
    positive = _POINTS[(_POINTS > 50) & (logits - errors >= needed)]
    return int(negative.max(initial=_NEVER[0])), int(positive.min(initial=_NEVER[1]))

"""How sure a score is about its side: from which scores on held-out samples lie on the side of their own pole.

A logistic regression of the pole on the held-out logit says how often the side is right at each place of the scale. Its
prior is that the scores are right as they are (slope 1, offset 0). The inverse of its Hessian says how uncertain it is
(Laplace's approximation; MacKay, Neural Computation 4, 1992). Both poles count equally, and so does every group of a
pole. Held-out values come from fits to fewer samples than the final trait, so they count as fewer, as in the interval
of the AUROC.

A text may come from another source than the samples. So two witnesses are asked, and the answer is a mixture:

- `near`, for a text from where the samples come from: a regression on the logit and on the value on the label axis.
- `far`, for a text from elsewhere: two fifths of that logit, and three fifths of a regression on the label axis alone.
  That axis saw no sample, so it knows as much about any source.

How likely the text is from the source of the samples follows from its subject (`resemblance`). Either witness may also
be worthless. The samples say how likely that is, by the likelihood of their poles over that of a coin. `high` starts
from odds of nine to one that the witness is worthless, `moderate` from even odds, so that a lucky draw of few samples
promises little. The constants were chosen on eight sets of real texts with one question, and hold on seven other
questions, see `core/docs/scoring.md`.

Versions of earlier releases have no `Chance`. Their scores are sure from `Levels` on, one standard error below the
estimate, and nowhere if the interval of the AUROC reaches down to 0.5.

The regression on the logit alone also says how far apart two scores must be. If exactly one of two texts belongs to the
positive pole, the odds that it is the second one are exp(slope * difference of the logits). A difference is sure if
that chance is high enough with the slope one standard error below its estimate. Two moderate scores on opposite sides
always differ: both are right three times in four, so their order is right nine times in ten.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from traitbench.scoring.inputs import Floats

Confidence = Literal["high", "moderate", "low"]
Reason = Literal["few_samples", "not_separable", "overlap", "unlike_samples"]

WEAKEST_FIRST: tuple[Confidence, ...] = ("low", "moderate", "high")
_HIGH, _MODERATE = 0.9, 0.75  # how often the side is right at least: the promise of both levels
# Of the slope that a difference needs; it was chosen on seven sets of real texts with 2 to 256 samples a pole.
_STANDARD_ERRORS = 1.0
# Mean and standard deviation of the weights of the logit, of the value on the label axis, and of 1.
_PRIOR = ((1.0, 0.5), (0.0, 0.0), (0.0, 0.5))
_STEPS, _CONVERGED = 50, 1e-10
# Chosen by measured coverage: the interval then held the true AUROC 93 to 100 times in 100.
EVIDENCE = 0.6
"""How many of ten independent samples count for an out-of-fold figure: each fit had fewer than the final one."""

# Where scores from 0 to 100 are rounded from.
_LOGITS: Sequence[float] = logit(np.clip(np.arange(101) / 100, 0.005, 0.995)).tolist()
_NEVER = (-1, 101)
_MAY_SEPARATE = 0.75  # an AUROC that more samples may turn out to have

# Of `Chance`. The priors of the weights are for logits and for values on the label axis with a standard deviation of 1.
_NEAR_PRIOR = ((1.0, 0.5), (0.0, 0.25), (0.0, 0.5))
_LABEL_PRIOR = ((0.0, 0.0), (0.9, 0.8), (0.0, 0.5))
_NO_NAMES_PRIOR = ((0.0, 0.0),) * 3
_LOGIT_ELSEWHERE = 0.4
_CAUTION = 0.2  # standard errors
_PROMISES: Sequence[tuple[Confidence, float]] = (("high", _HIGH), ("moderate", _MODERATE))
_WORTHLESS: Mapping[Confidence, float] = {"high": 0.9, "moderate": 0.25}  # prior chance that a witness says nothing
_FEWEST = 4  # groups at each pole
_MIDDLE, _SAME = 50, 100


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
Row = tuple[float, float, float]
Answers = tuple[float, float, float, float]
Doubts = tuple[tuple[float, float], ...]
_NO_DOUBTS: Doubts = ((0.0, 0.0), (0.0, 0.0))


@dataclass(frozen=True)
class PoleRegression:
    """A logistic regression of the pole: the weights of the logit of the score, of the value on the label axis and of
    1, and the rows of their covariance.
    """

    weights: Row
    covariance: tuple[Row, Row, Row]

    def logit(self, score: float, names: float) -> tuple[float, float]:
        """The logit of the positive pole and its standard error."""
        by_score, by_names, constant = self.weights
        (ss, sn, s1), (_, nn, n1), (_, _, one) = self.covariance
        variance = ss * score * score + nn * names * names + one + 2 * (sn * score * names + s1 * score + n1 * names)
        return by_score * score + by_names * names + constant, math.sqrt(max(0.0, variance))


@dataclass(frozen=True)
class Chance:
    """What the samples say about both witnesses.

    `near` is the regression on both values, `names` the one on the label axis alone. `evidence` and `names_evidence`
    are the log-likelihoods of the samples by both, over that of a coin.
    """

    near: PoleRegression
    names: PoleRegression
    evidence: float
    names_evidence: float

    def at(self, points: int, names: int, same: int) -> tuple[Confidence, Reason | None]:
        """The confidence of a score and why it is not high, by the place of the text on the label axis (0-100) and the
        chance in percent that it comes from the source of the samples.
        """
        if points == _MIDDLE:
            return "low", "overlap"
        answers = self._answers(points, names)
        sure = _level(answers, same, _CAUTION, self._doubts)
        if sure == "high":
            return sure, None
        if same < _SAME and sure != _level(answers, _SAME, _CAUTION, self._doubts):
            return sure, "unlike_samples"
        # More samples would help if they are all that is missing.
        return sure, "overlap" if sure == _level(answers, same, 0.0, _NO_DOUBTS) else "few_samples"

    def may_be_sure(self) -> bool:
        """Whether any score would be sure with more samples."""
        ends = [self._answers(points, names) for points in (0, 100) for names in (points, _MIDDLE)]
        return any(_level(answers, _SAME, 0.0, _NO_DOUBTS) != "low" for answers in ends)

    def is_ever_sure(self) -> bool:
        """Whether a score at either end of the scale is sure."""
        ends = [self._answers(points, names) for points in (0, 100) for names in (points, _MIDDLE)]
        return any(_level(each, same, _CAUTION, self._doubts) != "low" for each in ends for same in (0, _SAME))

    def _answers(self, points: int, names: int) -> Answers:
        """The logits of the side by both regressions, each with its standard error."""
        score, on_label_axis, side = _LOGITS[points], _LOGITS[names], 1 if points > _MIDDLE else -1
        near, near_error = self.near.logit(score, on_label_axis)
        by_names, names_error = self.names.logit(score, on_label_axis)
        return side * near, near_error, side * by_names, names_error

    @cached_property
    def _doubts(self) -> Doubts:
        """How likely either witness says nothing, for each level."""
        return tuple(
            (_doubt(self.evidence, prior), _doubt(self.names_evidence, prior)) for prior in _WORTHLESS.values()
        )


def _level(answers: Answers, same: int, caution: float, doubts: Doubts) -> Confidence:
    """The confidence of a side by both witnesses, so many standard errors below their answers."""
    near, near_error, by_names, names_error = answers
    far, far_error, names_share = _LOGIT_ELSEWHERE * near, _LOGIT_ELSEWHERE * near_error, 1 - _LOGIT_ELSEWHERE
    if_same, if_other = _chance(near - caution * near_error), _chance(far - caution * far_error)
    both_error = math.hypot(far_error, names_share * names_error)
    with_names = _chance(far + names_share * by_names - caution * both_error)
    for (level, needed), (doubt, names_doubt) in zip(_PROMISES, doubts, strict=True):
        # Of a text from elsewhere, a score alone is never high: where names say nothing, it was right too rarely.
        alone = if_other - doubt * (if_other - 0.5) if level == "moderate" else 0.5
        sure_if_other = (1 - names_doubt) * with_names + names_doubt * alone
        # What holds for a text from anywhere holds for one from here.
        sure_if_same = max(if_same - doubt * (if_same - 0.5), sure_if_other)
        if same * sure_if_same + (_SAME - same) * sure_if_other >= _SAME * needed:
            return level
    return "low"


@dataclass(frozen=True)
class Certainty:
    """Where a trait's scores are sure, and where they would be if the samples were many (`likely`).

    `limit` says why no score is sure; None if some are. Two scores surely differ if their logits are `difference` or
    more apart; None if no two scores do. Versions of earlier releases have the levels instead of a `chance`.
    """

    proven: Levels = NOWHERE
    likely: Levels = NOWHERE
    limit: Reason | None = None
    difference: float | None = None
    chance: Chance | None = None

    @property
    def nowhere(self) -> Reason | None:
        """Why no score is sure; None if some are."""
        return self.limit or ("few_samples" if self.chance is None and self.proven == NOWHERE else None)

    def at(
        self, points: int, most: Confidence = "high", names: int = _MIDDLE, same: int = _SAME
    ) -> tuple[Confidence, Reason | None]:
        """The confidence of a score and why it is not high.

        `names` and `same` are those of `Chance.at`. Without a chance, they say nothing, and the confidence is at most
        `most`.
        """
        if self.limit is not None:
            return "low", self.limit
        if self.chance is None:
            sure, likely = weaker(self.proven.at(points), most), weaker(self.likely.at(points), most)
            return _with_reason(sure, likely)
        return self.chance.at(points, names, same)

    def differ(self, one: int, other: int) -> bool:
        """Whether the text with the higher one of two scores is surely the more positive one."""
        if self.limit is not None or self.difference is None:
            return False
        return abs(_LOGITS[one] - _LOGITS[other]) >= self.difference


def _with_reason(sure: Confidence, likely: Confidence) -> tuple[Confidence, Reason | None]:
    """The confidence, and why it is not high: more samples would help if they are all that `likely` lacks."""
    if sure == "high":
        return sure, None
    return sure, "overlap" if sure == likely else "few_samples"


def weaker(one: Confidence, other: Confidence) -> Confidence:
    """The lower of two confidences."""
    return min(one, other, key=WEAKEST_FIRST.index)


def certainty(
    held_out: Floats | None,
    y: Floats,
    groups: NDArray[np.int64],
    area: tuple[float, float] | None,
    names: Floats | None = None,
    independent: tuple[float, float] | None = None,
) -> Certainty:
    """Return where scores are sure, by held-out logits (n,) of samples with qualities and groups (n,).

    `area` is the 95 % interval of the trait's AUROC, and `names` are the values (n,) on the label axis, with a mean of
    0 and a standard deviation of 1 if both poles count equally; None without that axis. `independent` are the samples
    at the positive and at the negative pole that the evidence counts, by default the groups.
    """
    if held_out is None or area is None:
        return Certainty(limit="few_samples")
    positive, negative = y > 0.5, y < 0.5
    counts = len(np.unique(groups[positive])), len(np.unique(groups[negative]))
    if min(counts) < _FEWEST:
        return Certainty(limit="few_samples")
    # The names might still know the side, but the samples show that they mean something else.
    if area[0] <= 0.5 and area[1] < _MAY_SEPARATE:
        return Certainty(limit="not_separable")
    # The evidence of both poles is that of the smaller one, or little more (a harmonic mean).
    each = independent or counts
    count = 2 / (1 / each[0] + 1 / each[1])
    shares = np.zeros(len(y))
    for pole, groups_there in ((positive, counts[0]), (negative, counts[1])):
        _, group_of, sizes = np.unique(groups[pole], return_inverse=True, return_counts=True)
        shares[pole] = count / groups_there / sizes[group_of]
    targets, by_names = positive.astype(np.float64), np.zeros(len(y)) if names is None else names
    X = np.stack([held_out, by_names, np.ones(len(y))], axis=1)
    weights = EVIDENCE * shares
    # The label axis saw no sample, so its values count in full.
    chance = Chance(
        _posterior(X, targets, weights, _NEAR_PRIOR),
        _posterior(X, targets, shares, _NO_NAMES_PRIOR if names is None else _LABEL_PRIOR),
        _evidence(held_out, targets, weights),
        _evidence(_LABEL_PRIOR[1][0] * by_names, targets, shares),
    )
    if (limit := _limit(chance, area)) is not None:
        return Certainty(limit=limit)
    alone = _posterior(X, targets, weights, _PRIOR)
    slope = alone.weights[0] - _STANDARD_ERRORS * math.sqrt(alone.covariance[0][0])
    return Certainty(difference=_difference(slope) if area[0] > 0.5 else None, chance=chance)


def _limit(chance: Chance, area: tuple[float, float]) -> Reason | None:
    """Why not even the scores at both ends are sure; None if they are."""
    if chance.is_ever_sure():
        return None
    return "few_samples" if chance.may_be_sure() and area[1] >= _MAY_SEPARATE else "not_separable"


def _posterior(X: Floats, targets: Floats, weights: Floats, prior: Sequence[tuple[float, float]]) -> PoleRegression:
    """The most probable weights of the features (n, 3) and their covariance, by Newton's method.

    The prior has a mean and a standard deviation for each; a weight whose deviation is 0 stays at its mean.
    """
    start, spread = np.array(prior).T
    free = spread > 0
    mean, precision, features = start.copy(), np.diag(1 / np.square(spread[free])), X[:, free]
    covariance = np.zeros((3, 3))
    for _ in range(_STEPS if free.any() else 0):
        scores = expit(X @ mean)
        gradient = features.T @ (weights * (scores - targets)) + precision @ (mean - start)[free]
        hessian = (features.T * (weights * scores * (1 - scores))) @ features + precision
        step = np.linalg.solve(hessian, gradient)
        mean[free] -= step
        covariance[np.ix_(free, free)] = np.linalg.inv(hessian)
        if np.abs(step).max() < _CONVERGED:
            break
    one, two, three = (covariance + covariance.T) / 2
    return PoleRegression(_row(mean), (_row(one), _row(two), _row(three)))


def _evidence(logits: Floats, targets: Floats, weights: Floats) -> float:
    """The log-likelihood of the targets by these logits, over that of a coin."""
    return float(np.float32(weights @ (math.log(2) + targets * logits - np.logaddexp(0, logits))))


def _row(values: Floats) -> Row:
    """Three values in single precision, as a snapshot has them."""
    one, two, three = values.astype(np.float32).tolist()
    return one, two, three


def _chance(logit_of: float) -> float:
    """The chance with this logit."""
    small = math.exp(-abs(logit_of))
    return 1 / (1 + small) if logit_of > 0 else small / (1 + small)


def _doubt(evidence: float, prior: float) -> float:
    """The chance that a witness says nothing, by the evidence for it."""
    return _chance(math.log(prior / (1 - prior)) - evidence)


def _difference(slope: float) -> float | None:
    """The least difference of two logits that is sure with this slope; None if it does not fit on the scale."""
    if slope <= 0:
        return None
    needed = float(np.float32(logit(_HIGH) / slope))
    return needed if needed <= _LOGITS[-1] - _LOGITS[0] else None

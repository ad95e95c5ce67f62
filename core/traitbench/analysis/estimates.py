"""Answers about a corpus: all texts have a score, and a random sample of them has labels of a person.

Scores alone mislead: whoever counts scores above 50 counts the mistakes of the version too. Labels alone are few. The
estimate combines them: the mean of all scores, corrected by how far scores are from labels in the sample. This is the
difference estimator of survey sampling (Cassel, Sarndal and Wretman, Biometrika 63, 1976, 615-620), known today as
prediction-powered inference (Angelopoulos et al., Science 382, 2023, 669-674). The weight of the scores is the one with
the least variance ("power tuning", Angelopoulos, Duchi and Zrnic, arXiv 2311.01453, 2023): useless scores do no harm.

The interval is that of Wilson (Journal of the American Statistical Association 22, 1927, 209-212) with an effective
sample size. That is the number of labels that would be as exact without scores, with the correction for a finite
corpus. It has Student's t with n - 2 degrees of freedom, residuals corrected for their leverage (HC2 of MacKinnon and
White, Journal of Econometrics 29, 1985, 305-325), and one imaginary error, because a sample without errors does not
prove that there are none. Differences and totals of groups combine the intervals of their parts (Newcombe, Statistics
in Medicine 17, 1998, 873-890; Zou and Donner, Statistics in Medicine 27, 2008, 1693-1702).

`tests/benchmarks/corpus.py` measures how often the intervals contain the truth; see core/docs/scoring.md.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import ceil, log

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, stdtrit

from traitbench.scoring.inputs import Floats

Interval = tuple[float, float]
Rows = NDArray[np.int64]

LEVEL = 0.95
FEWEST = 8
"""The fewest labels that give an interval, also of a group."""

# Without it and the other corrections, the normal interval held the truth only 58 to 94 times in 100 where a version is
# good or positive texts are few.
_IMAGINARY = 0.25
"""The square of the imaginary error; chosen by measured coverage."""

# A text with an extreme score has nearly all leverage, and its residual would be divided by almost 0.
_MOST_LEVERAGE = 0.8
_NO_SPREAD = 1e-9


@dataclass(frozen=True)
class Estimate:
    """A share or a mean over a corpus of `total` texts, of which `labelled` have a label. All between 0 and 1.

    `counted` is what the scores alone say. `weight` is that of the scores: with 0 they did not help.
    """

    value: float
    interval: Interval
    counted: float
    labelled: int
    total: int
    weight: float


@dataclass(frozen=True)
class ShareDifference:
    """The figure of group `a` minus that of group `b`, between -1 and 1."""

    value: float
    interval: Interval
    counted: float


def estimate_share(scores: Floats, rows: Rows, labels: Floats, *, level: float = LEVEL) -> Estimate:
    """Return the share of texts with a label above 0.5.

    `scores` (N,) between 0 and 1 are of all texts, `rows` (n,) are the rows of the random sample, and `labels` (n,)
    are theirs. Raise `ValueError` with fewer than `FEWEST` labels.
    """
    return _estimate(scores, rows, (labels > 0.5).astype(np.float64), float(np.mean(scores > 0.5)), level)


def estimate_mean(scores: Floats, rows: Rows, labels: Floats, *, level: float = LEVEL) -> Estimate:
    """Return the mean label of all texts; arguments and errors as in `estimate_share`."""
    return _estimate(scores, rows, labels, float(np.mean(scores)), level)


def difference(a: Estimate, b: Estimate) -> ShareDifference:
    """Return the difference of two groups that were estimated from labels of their own."""
    value = a.value - b.value
    low = value - np.hypot(a.value - a.interval[0], b.interval[1] - b.value)
    high = value + np.hypot(a.interval[1] - a.value, b.value - b.interval[0])
    return ShareDifference(value, (max(float(low), -1.0), min(float(high), 1.0)), a.counted - b.counted)


def total_of(parts: Sequence[Estimate]) -> Estimate:
    """Return the estimate over all groups, from those of groups that were sampled one by one and share no text."""
    total = sum(part.total for part in parts)
    shares = [part.total / total for part in parts]
    pairs = list(zip(shares, parts, strict=True))
    value = sum(share * part.value for share, part in pairs)
    below = np.sqrt(sum((share * (part.value - part.interval[0])) ** 2 for share, part in pairs))
    above = np.sqrt(sum((share * (part.interval[1] - part.value)) ** 2 for share, part in pairs))
    return Estimate(
        value,
        (max(float(value - below), 0.0), min(float(value + above), 1.0)),
        sum(share * part.counted for share, part in pairs),
        sum(part.labelled for part in parts),
        total,
        sum(share * part.weight for share, part in pairs),
    )


def _estimate(scores: Floats, rows: Rows, y: Floats, counted: float, level: float) -> Estimate:
    n, total = len(rows), len(scores)
    if (n < FEWEST and n < total) or not n:
        raise ValueError(f"An interval needs at least {FEWEST} labels; there are {n}.")
    plain = float(y.mean())
    if n == total:
        return Estimate(plain, (plain, plain), counted, n, total, 0.0)
    f = scores[rows]
    weight = _weight(f, y)
    # Certain, because labels are between 0 and 1.
    least, most = float(y.sum()) / total, (float(y.sum()) + total - n) / total
    value = float(np.clip(plain + weight * (scores.mean() - f.mean()), least, most))
    size = _effective_size(f, y, weight) / (1 - n / total)
    low, high = wilson(value, size, float(stdtrit(n - 2, (1 + level) / 2)))
    return Estimate(value, (min(max(low, least), value), max(min(high, most), value)), counted, n, total, weight)


def _weight(f: Floats, y: Floats) -> float:
    """Return the weight of the scores with the least variance of the estimate: the slope of labels on scores."""
    spread = float(np.square(f - f.mean()).sum())
    return float(((f - f.mean()) * (y - y.mean())).sum()) / spread if spread > _NO_SPREAD else 0.0


def _effective_size(f: Floats, y: Floats, weight: float) -> float:
    """Return how many labels of yes or no would be as exact without scores, before the correction for the corpus."""
    n = len(y)
    centred = f - f.mean()
    spread = float(np.square(centred).sum())
    leverage = 1 / n + (np.square(centred) / spread if spread > _NO_SPREAD else 0.0)
    left = np.square(y - y.mean() - weight * centred) / np.maximum(1 - leverage, 1 - _MOST_LEVERAGE)
    without = float(np.square(y - y.mean()).sum())
    # Grades vary less than yes and no with the same mean.
    p = (float(y.sum()) + 1) / (n + 2)
    binary = bool(np.isin(y, (0.0, 1.0)).all())
    grading = 1.0 if binary else min((without + _IMAGINARY) / ((n - 1) * p * (1 - p) + _IMAGINARY), 1.0)
    imaginary = _IMAGINARY * grading
    ratio = min((float(left.sum()) + imaginary) / (without + imaginary) * (n - 1) / n, 1.0)
    return n / (ratio * grading)


def wilson(p: float, n: float, z: float) -> Interval:
    """Return Wilson's interval of a share `p` of `n` independent texts; `z` is the quantile of its level."""
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(float(middle - half), 0.0), min(float(middle + half), 1.0)


# ---- a cut with a promise --------------------------------------------------------------------------------------------

PROMISED = 0.9

_FOR_UPPER_END = 0.01
"""The part of the error rate for the upper end of the interval; the promise has the rest."""


@dataclass(frozen=True)
class Cut:
    """The cut: `selected` texts of the corpus score at least `score`, and `right` of `labelled` of them are positive.

    `interval` is that of the share of positive texts among those selected; its lower end is the promise.
    """

    score: float
    selected: int
    labelled: int
    right: int
    interval: tuple[float, float]


def promised_cut(
    scores: Floats, rows: Rows, labels: Floats, *, promised: float = PROMISED, level: float = LEVEL
) -> Cut | None:
    """Return the lowest cut that keeps the promise, or None if these labels show none.

    Looking at the labels and then taking the cut that fits them best would promise too much. So the possible cuts
    are tested from the top down, each with the exact hypergeometric test. Testing ends where one fails ("fixed sequence
    testing", as in Learn then Test: Angelopoulos et al., Annals of Applied Statistics 19, 2025, 1641-1662). The first
    cut is the highest one that could pass. The promise then holds in 95 of 100 audits whatever the scores are worth.
    The upper end of the interval is that of Clopper and Pearson, simultaneous for all cuts (Bonferroni).

    `scores` (N,) are of all texts, `rows` (n,) are the rows of a simple random sample, and `labels` (n,) are theirs;
    a label above 0.5 is positive.
    """
    alpha = 1 - level - _FOR_UPPER_END
    fewest = fewest_labels(promised, level)
    candidates = [cut for cut in _candidates(scores, scores[rows], labels > 0.5) if cut.labelled >= fewest]
    passed = takewhile(lambda cut: _p_value(cut, promised) <= alpha, candidates)
    last = deque(passed, maxlen=1)
    if not last:
        return None
    [cut] = last
    upper = _upper_end(cut, _FOR_UPPER_END / len(candidates))
    return Cut(cut.score, cut.selected, cut.labelled, cut.right, (promised, max(upper, promised)))


def fewest_labels(promised: float = PROMISED, level: float = LEVEL) -> int:
    """Return how many labels above a cut are needed at least, if all of them are positive."""
    return ceil(log(1 - level - _FOR_UPPER_END) / log(promised))


def _candidates(scores: Floats, sampled: Floats, positive: NDArray[np.bool_]) -> Iterator[Cut]:
    """Yield a cut at each score of the sample, from the top down."""
    ordered = np.sort(scores)
    for score in np.unique(sampled)[::-1]:
        above = sampled >= score
        selected = len(scores) - int(np.searchsorted(ordered, score, side="left"))
        yield Cut(float(score), selected, int(above.sum()), int(positive[above].sum()), (0.0, 1.0))


def _p_value(cut: Cut, promised: float) -> float:
    """Return how likely so many positive labels are if the promise is broken by the smallest possible number."""
    from scipy.stats import hypergeom  # all of its distributions would add a second to every start

    # Without the margin, a product such as 0.07 * 100 would be rounded up by one.
    most_if_broken = ceil(promised * cut.selected - 1e-9) - 1
    return float(hypergeom.sf(cut.right - 1, cut.selected, most_if_broken, cut.labelled))


def _upper_end(cut: Cut, alpha: float) -> float:
    """Return the upper end of the interval of Clopper and Pearson."""
    if cut.right == cut.labelled:
        return 1.0
    return float(betaincinv(cut.right + 1, cut.labelled - cut.right, 1 - alpha))

"""A cut with a promise: the lowest score above which at least a given share of the texts is truly on the positive side.

Looking at the labels and then taking the cut that fits them best would promise too much. So the possible cuts are
tested from the top down, each with the exact hypergeometric test, and testing ends where one fails ("fixed sequence
testing", as in Learn then Test: Angelopoulos et al., Annals of Applied Statistics 19, 2025, 1641-1662). The first cut
is the highest one that could pass. The promise then holds in 95 of 100 audits whatever the scores are worth. The upper
end of the interval is that of Clopper and Pearson, simultaneous for all cuts (Bonferroni).

`tests/benchmarks/corpus.py` measures how often the promise is kept; see core/docs/scoring.md.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from math import ceil, log

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from traitbench.scoring.inputs import Floats

Rows = NDArray[np.int64]

LEVEL = 0.95
PROMISED = 0.9

_FOR_UPPER_END = 0.01
"""The part of the error rate for the upper end of the interval; the promise has the rest."""


@dataclass(frozen=True)
class Cut:
    """The cut: `kept` texts of the corpus score at least `score`, and `right` of `labelled` of them are positive.

    `interval` is that of the share of positive texts among those kept; its lower end is the promise.
    """

    score: float
    kept: int
    labelled: int
    right: int
    interval: tuple[float, float]


def promised_cut(
    scores: Floats, rows: Rows, labels: Floats, *, promised: float = PROMISED, level: float = LEVEL
) -> Cut | None:
    """Return the lowest cut that keeps the promise, or None if these labels show none.

    `scores` (N,) are of all texts, `rows` (n,) are the places of a simple random sample, and `labels` (n,) are theirs;
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
    return Cut(cut.score, cut.kept, cut.labelled, cut.right, (promised, max(upper, promised)))


def fewest_labels(promised: float = PROMISED, level: float = LEVEL) -> int:
    """Return how many labels above a cut are needed at least, if all of them are positive."""
    return ceil(log(1 - level - _FOR_UPPER_END) / log(promised))


def _candidates(scores: Floats, sampled: Floats, positive: NDArray[np.bool_]) -> Iterator[Cut]:
    """Yield a cut at each score of the sample, from the top down."""
    ordered = np.sort(scores)
    for score in np.unique(sampled)[::-1]:
        above = sampled >= score
        kept = len(scores) - int(np.searchsorted(ordered, score, side="left"))
        yield Cut(float(score), kept, int(above.sum()), int(positive[above].sum()), (0.0, 1.0))


def _p_value(cut: Cut, promised: float) -> float:
    """Return how likely so many positive labels are if the promise is broken by the smallest possible number."""
    from scipy.stats import hypergeom  # all of its distributions would add a second to every start

    most_if_broken = ceil(promised * cut.kept - 1e-9) - 1
    return float(hypergeom.sf(cut.right - 1, cut.kept, most_if_broken, cut.labelled))


def _upper_end(cut: Cut, alpha: float) -> float:
    """Return the upper end of the interval of Clopper and Pearson."""
    if cut.right == cut.labelled:
        return 1.0
    return float(betaincinv(cut.right + 1, cut.labelled - cut.right, 1 - alpha))

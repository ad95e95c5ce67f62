"""How far raters agree on the sides of a trait: Cohen's kappa, Krippendorff's alpha, shares, and their intervals.

A rater puts a text on the positive side, on the negative side or in between. Kappa (Cohen, Educational and
Psychological Measurement 20, 1960, 37-46) is the agreement beyond chance. 0 is what two raters with these frequencies
of labels would reach by chance, 1 is perfect. Alpha (Krippendorff, Content Analysis, 4th ed., 2018, chapter 12, nominal
data) is the same for any number of raters with missing labels.

The 95 % interval of kappa is the equal-tailed interval of a posterior over the table of both raters' labels. It is a
Dirichlet distribution with a prior weight of 1/2 for each cell in which the raters agree and of 1 for all other cells
together. With two labels this is Jeffreys' prior. With three, Jeffreys' prior has a weight of 3 for disagreement, and
its interval is wrong one time in five at 20 texts and a kappa of 0.8. This prior was chosen by simulated coverage. The
interval is widened to the kappa itself where it does not contain it, as after perfect agreement. Brown, Cai and
DasGupta (Statistical Science 16, 2001, 101-133) do so for shares.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from traitbench.scoring.inputs import Floats

Interval = tuple[float, float]
Table = tuple[tuple[int, ...], ...]

Item = tuple[str, str]
"""The key of a trait and the `content_sha256` of a text: what a rater labels."""

SIDES = ("negative", "in between", "positive")
"""The names of the sides, in the order of a table."""

WORDS: Sequence[tuple[float, str]] = (
    (0.0, "agree less than chance would"),
    (0.2, "agree hardly more than chance would"),
    (0.4, "agree a little"),
    (0.6, "agree moderately"),
    (0.8, "agree mostly"),
    (1.01, "agree almost always"),
)
"""What a kappa below each limit means. The steps are those of Landis and Koch, Biometrics 33, 1977, 159-174."""

NO_TEXTS = "No text has a label from both."
ONE_LABEL = "Both gave every text the same label, so agreement by chance would be perfect too. Kappa is undefined."

_TAIL = 0.025
_Z = 1.959963984540054
_AGREEING, _DISAGREEING = 0.5, 1.0
# Seeded, so that equal labels have equal intervals.
_DRAWS = 4_000
_SEED = 20


@dataclass(frozen=True)
class Agreement:
    """The agreement of two raters on the texts that both labelled.

    `table[i][j]` counts the texts that the first rater put on `SIDES[i]` and the second on `SIDES[j]`. Without a kappa,
    `why_not` says why.
    """

    table: Table
    kappa: float | None
    interval: Interval | None
    why_not: str | None

    @property
    def texts(self) -> int:
        """The number of texts that both labelled."""
        return sum(map(sum, self.table))

    @property
    def agreed(self) -> int:
        """The number of texts that both put on the same side."""
        return sum(self.table[side][side] for side in range(len(SIDES)))

    @property
    def share(self) -> float | None:
        """The share of texts that both put on the same side; None without texts."""
        return self.agreed / self.texts if self.texts else None


def sides(qualities: Floats) -> NDArray[np.int64]:
    """Return the side of each quality as an index of `SIDES`; -1 where the quality is NaN."""
    indices = np.sign(np.nan_to_num(qualities, nan=0.5) - 0.5).astype(np.int64) + 1
    return np.where(np.isnan(qualities), -1, indices)


def agreement(first: Floats, second: Floats) -> Agreement:
    """Compare the qualities (n,) that two raters gave to the same texts; NaN is a missing label."""
    one, other = sides(first), sides(second)
    both = (one >= 0) & (other >= 0)
    counts = np.zeros((len(SIDES), len(SIDES)), np.int64)
    np.add.at(counts, (one[both], other[both]), 1)
    return of_table(tuple(map(tuple, counts.tolist())))


def of_table(table: Table) -> Agreement:
    """Compare two raters by the table of their labels."""
    counts = np.array(table, np.float64)
    if not counts.any():
        return Agreement(table, None, None, NO_TEXTS)
    used = np.flatnonzero(counts.sum(axis=0) + counts.sum(axis=1))
    if len(used) == 1:
        return Agreement(table, None, None, ONE_LABEL)
    counts = counts[np.ix_(used, used)]
    kappa = float(_kappas(counts))
    # The draws of a table and of its transpose differ: one of the two gives the interval of both.
    low, high = _interval(max(_as_tuple(counts), _as_tuple(counts.T)))
    return Agreement(table, kappa, (min(low, kappa), max(high, kappa)), None)


def pairs(qualities: NDArray[np.float64]) -> Iterator[tuple[int, int, Agreement]]:
    """Yield the agreement of every two raters; qualities are (n_texts, n_raters), NaN where a label is missing."""
    for one, other in combinations(range(qualities.shape[1]), 2):
        yield one, other, agreement(qualities[:, one], qualities[:, other])


def alpha(qualities: NDArray[np.float64]) -> float | None:
    """Return Krippendorff's nominal alpha of all raters, (n_texts, n_raters) with NaN where a label is missing.

    None if fewer than two labels can be paired, or if all of these are the same.
    """
    labels = sides(qualities)
    counts = np.stack([(labels == side).sum(axis=1) for side in range(len(SIDES))], axis=1).astype(np.float64)
    counts = counts[counts.sum(axis=1) >= 2]
    raters = counts.sum(axis=1)
    totals = counts.sum(axis=0)
    number = totals.sum()
    expected = (number**2 - (totals**2).sum()) / (number - 1) if number else 0.0
    if not expected:
        return None
    observed = ((raters**2 - (counts**2).sum(axis=1)) / (raters - 1)).sum()
    return float(1 - observed / expected)


def in_words(kappa: float) -> str:
    """Say what a kappa means, as the rest of a sentence about two raters."""
    return next(words for limit, words in WORDS if kappa < limit)


def share_interval(number: int, of: int) -> Interval:
    """Return the 95 % interval of a share by Jeffreys' prior, open to the end at none and at all; (0, 1) of nothing."""
    low, high = betaincinv(number + 0.5, of - number + 0.5, np.array([_TAIL, 1 - _TAIL])).tolist()
    return (0.0 if number == 0 else low, 1.0 if number == of else high)


def difference_interval(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> Interval:
    """Return the 95 % interval of the share of `first` (n,) minus that of `second` (n,) on the same texts.

    It is that of Agresti and Min (Statistics in Medicine 24, 2005, 729-740): half a text is added to each cell.
    """
    only_first, only_second = (first & ~second).sum() + 0.5, (second & ~first).sum() + 0.5
    number = len(first) + 2
    middle = (only_first - only_second) / number
    spread = _Z * np.sqrt(only_first + only_second - (only_first - only_second) ** 2 / number) / number
    return max(-1.0, float(middle - spread)), min(1.0, float(middle + spread))


@lru_cache(maxsize=512)
def _interval(table: Table) -> Interval:
    counts = np.array(table, np.float64)
    labels = len(counts)
    prior = np.full(counts.shape, _DISAGREEING / (labels * (labels - 1)))
    np.fill_diagonal(prior, _AGREEING)
    draws = np.random.default_rng(_SEED).gamma(counts + prior, size=(_DRAWS, labels, labels))
    low, high = np.quantile(_kappas(draws), [_TAIL, 1 - _TAIL]).tolist()
    return low, high


def _kappas(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the kappa of each table; the labels are the last two axes, and at least two of them occur."""
    tables = tables / tables.sum(axis=(-2, -1), keepdims=True)
    observed = np.trace(tables, axis1=-2, axis2=-1)
    by_chance = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1)
    kappas: NDArray[np.float64] = (observed - by_chance) / (1 - by_chance)
    return kappas


def _as_tuple(counts: NDArray[np.float64]) -> Table:
    return tuple(map(tuple, counts.astype(int).tolist()))

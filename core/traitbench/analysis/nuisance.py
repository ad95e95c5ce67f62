"""Nuisance variables that separate two poles: length, language, and source of the texts.

A trait learns whatever separates its poles. If the positive texts are the long ones, or come from one site, the trait
may measure length or the site. No held-out figure shows it, because held-out texts have the same bias.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from traitbench.fitting.auroc import auroc
from traitbench.scoring.inputs import Floats

Counts = tuple[tuple[int, int], tuple[int, int]]
"""How many texts are on the side of their label, and of how many: at the positive pole, and at the negative one."""

# From which a nuisance or a one-sided language is said: core/docs/scoring.md, section 11.
CHANCE = 0.01
_AREA = 0.75
_AREA_OF_LENGTH = 0.82
_FEWEST_PAIRS = 25
_FOLDS = 10
_ONE_SIDED = 0.9


@dataclass(frozen=True)
class Group:
    """A kind of text that is much more frequent at one pole: its name, its share at each pole, and the AUROC of that
    kind alone.
    """

    name: str
    positive: float
    negative: float
    area: float


def of_length(lengths: Sequence[int], y: Floats) -> float | None:
    """The AUROC of length alone, 0.5 to 1; None if it is small or may be chance."""
    area = auroc(np.asarray(lengths, np.float64), y)
    return max(area, 1 - area) if max(area, 1 - area) >= _AREA_OF_LENGTH and _unlikely(lengths, y, area) else None


def of_group(groups: Sequence[str | None], y: Floats) -> Group | None:
    """The group that separates the poles best; None if it hardly does, or if that may be chance.

    Shares are of the texts whose group is known: an unknown one does not count as another one.
    """
    able = [group for group in _unlike(groups, y) if group.area >= _AREA]
    return max(able, key=lambda group: (group.area, group.name), default=None)


def one_sided(groups: Sequence[str | None], y: Floats) -> list[Group]:
    """The groups that nearly only one pole has, though they may be few of its texts; none that may be so by chance."""
    return [
        group
        for group in _unlike(groups, y)
        if max(group.positive, group.negative) >= _ONE_SIDED * (group.positive + group.negative)
    ]


def _unlike(groups: Sequence[str | None], y: Floats) -> list[Group]:
    """The groups whose shares at the poles differ by more than chance, by name."""
    positive = Counter(group for group, quality in zip(groups, y, strict=True) if quality > 0.5)
    negative = Counter(group for group, quality in zip(groups, y, strict=True) if quality < 0.5)
    names = sorted({group for group in (*positive, *negative) if group is not None})
    totals = tuple(each.total() - each[None] for each in (positive, negative))
    if not all(totals):
        return []
    return [
        Group(name, one, other, 0.5 + abs(one - other) / 2)
        for name in names
        for one, other in [(positive[name] / totals[0], negative[name] / totals[1])]
        if len(names) * by_chance(positive[name], totals[0], negative[name], totals[1]) < CHANCE
    ]


def on_their_side(is_positive: NDArray[np.bool_], y: Floats) -> Counts:
    """How many texts are on their side, if (n,) says which are on the positive one."""
    above, below = y > 0.5, y < 0.5
    return (int(is_positive[above].sum()), int(above.sum())), (int((~is_positive)[below].sum()), int(below.sum()))


def by_cut(values: Floats, y: Floats) -> Counts:
    """How many texts a cut of the values (n,) puts on their side; values are higher at the positive pole.

    The cut is chosen on nine tenths of the texts at each pole and counted on the other tenth, so that it is not chosen
    by the texts that it is counted on.
    """
    fold, is_positive = np.zeros(len(y), np.intp), np.zeros(len(y), bool)
    for pole in (y > 0.5, y < 0.5):
        fold[pole] = np.arange(pole.sum()) % _FOLDS
    for each in range(_FOLDS):
        rest = (fold != each) & (y != 0.5)
        is_positive[fold == each] = values[fold == each] > _best_cut(values[rest], y[rest] > 0.5)
    return on_their_side(is_positive, y)


def _best_cut(values: Floats, is_positive: NDArray[np.bool_]) -> float:
    """The middle of the two values between which both poles together have the largest shares on their side."""
    steps = np.unique(values)
    shares = [np.searchsorted(np.sort(values[own]), steps, "right") / own.sum() for own in (is_positive, ~is_positive)]
    best = int(np.argmax(shares[1] - shares[0]))
    return float(steps[best : best + 2].mean())


def within(scores: Floats, y: Floats, groups: Sequence[str | None]) -> tuple[float, Counts] | None:
    """The AUROC of scores (n,) among texts of one group only, and how many of these texts are on their side. None if
    too few pairs of both poles share a group.
    """
    won, pairs, shared = 0.0, 0, np.zeros(len(y), bool)
    names = np.array([group or "" for group in groups], object)
    for name in sorted(set(groups) - {None}, key=str):
        own = names == name
        above, below = int((y[own] > 0.5).sum()), int((y[own] < 0.5).sum())
        if above and below:
            won += auroc(scores[own], y[own]) * above * below
            pairs += above * below
            shared |= own
    return (won / pairs, on_their_side(scores[shared] > 0.5, y[shared])) if pairs >= _FEWEST_PAIRS else None


def folder(provenance: str, address: str | None) -> str:
    """The source of a sample with the first part of the path of its address."""
    name = source(provenance, address)
    if name == address:
        return name.partition("/")[0]
    first, more, _ = (address or "").partition("://")[2].partition("/")[2].partition("/")
    return f"{name}/{first}" if more else name


def source(provenance: str, address: str | None) -> str:
    """The source of a sample in a word or two."""
    if provenance == "synthesized":
        return "synthesized"
    try:
        host = urlsplit(address or "").hostname
    except ValueError:
        host = None
    return host or address or ("feedback" if provenance == "score_feedback" else "no address")


def _unlikely(values: Sequence[int], y: Floats, area: float) -> bool:
    """Whether the AUROC is unlikely by chance: the Mann-Whitney test with correction for ties, as
    `scipy.stats.mannwhitneyu` with `method="asymptotic"` and `use_continuity=False`.
    """
    at_poles = np.asarray(values, np.float64)[y != 0.5]
    n, m = int((y > 0.5).sum()), int((y < 0.5).sum())
    _, counts = np.unique(at_poles, return_counts=True)
    ties = float((counts.astype(np.float64) ** 3 - counts).sum())
    size = n + m
    variance = n * m / 12 * (size + 1 - ties / max(1, size * (size - 1)))
    if variance <= 0:
        return False
    distance = abs(area - 0.5) * n * m / math.sqrt(variance)
    return float(2 * ndtr(-distance)) < CHANCE


def by_chance(one: int, n: int, other: int, m: int) -> float:
    """The p-value of Fisher's exact test, as twice its smaller tail (`scipy.stats.fisher_exact` sums the less likely
    tables instead).
    """
    total = one + other

    def likely(k: int) -> float:
        return math.exp(_choices(n, k) + _choices(m, total - k) - _choices(n + m, total))

    span = range(max(0, total - m), min(n, total) + 1)
    upper = sum(likely(k) for k in span if k >= one)
    lower = sum(likely(k) for k in span if k <= one)
    return min(1.0, 2 * min(upper, lower))


def _choices(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

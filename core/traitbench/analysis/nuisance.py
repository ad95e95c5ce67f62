"""Nuisance variables that separate two poles: length, language or script, and source of the texts.

A trait learns whatever separates its poles. If the positive texts are the long ones, or come from one site, the trait
may measure length or the site. No held-out figure shows it, because held-out texts have the same bias.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from traitbench.fitting.auroc import auroc
from traitbench.scoring.inputs import Floats

Counts = tuple[tuple[int, int], tuple[int, int]]
"""How many texts are on the side of their label, and of how many: at the positive pole, and at the negative one."""

_LOOKED_AT = 1_000
CHANCE = 0.01
_AREA = 0.75
_AREA_OF_LENGTH = 0.82
_FEWEST_PAIRS = 25
_FOLDS = 10
_FEWEST_WORDS = 2
_SCRIPTS = (
    *("LATIN", "CYRILLIC", "GREEK", "ARABIC", "HEBREW", "DEVANAGARI", "BENGALI", "TAMIL", "TELUGU", "THAI"),
    *("GEORGIAN", "ARMENIAN", "HANGUL", "HIRAGANA", "KATAKANA", "CJK"),
)
_COMMON: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "English": "the and of to is in that it was for with you this are on not have be at they",
        "German": "der die und das ist nicht ich ein eine mit auf den zu von sie es für im auch wir",
        "French": "le la les et est une des un que pas je dans pour sur nous vous avec ce il au",
        "Spanish": "el la los las que es una un por con para no se del lo como más pero muy su",
        "Italian": "il che di è un una per non con del della sono mi gli ma anche molto come si questo",
        "Portuguese": "que não um uma com para os as em do da mas muito por se mais foi eu é isso",
        "Dutch": "de het een van en is niet dat ik je met voor op zijn maar ook aan wij er deze",
    }.items()
}
_LANGUAGES_OF: Mapping[str, Sequence[str]] = {
    word: [language for language, common in _COMMON.items() if word in common]
    for word in frozenset().union(*_COMMON.values())
}
LANGUAGES = _COMMON.keys()
"""The languages that are recognized by their words; all other groups are scripts."""

_WORD = re.compile(r"[^\W\d_]+")


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
    positive = Counter(group for group, quality in zip(groups, y, strict=True) if quality > 0.5)
    negative = Counter(group for group, quality in zip(groups, y, strict=True) if quality < 0.5)
    names = sorted({group for group in (*positive, *negative) if group is not None})
    totals = tuple(each.total() - each[None] for each in (positive, negative))
    if not all(totals):
        return None
    candidates = []
    for name in names:
        one, other = positive[name] / totals[0], negative[name] / totals[1]
        area = 0.5 + abs(one - other) / 2
        chance = len(names) * by_chance(positive[name], totals[0], negative[name], totals[1])
        if area >= _AREA and chance < CHANCE:
            candidates.append(Group(name, one, other, area))
    return max(candidates, key=lambda group: (group.area, group.name), default=None)


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


def language(text: str) -> str | None:
    """The script of most letters; for Latin the language, by its common words. None if unclear or without letters."""
    start = text[:_LOOKED_AT]
    script = _main_script(start)
    if script != "Latin":
        return script
    hits = dict.fromkeys(_COMMON, 0)
    for word in filter(_LANGUAGES_OF.__contains__, _WORD.findall(start.casefold())):
        for name in _LANGUAGES_OF[word]:
            hits[name] += 1
    first, second = sorted(hits.values(), reverse=True)[:2]
    if first < _FEWEST_WORDS or first == second:
        return None
    return max(hits, key=lambda name: hits[name])


def within(scores: Floats, y: Floats, groups: Sequence[str | None]) -> tuple[float, Counts] | None:
    """The AUROC of scores (n,) among texts of one group only, and how many of these texts are on their side; None if
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


def _main_script(text: str) -> str | None:
    """The script of most letters; None without letters."""
    if text.isascii():
        return "Latin" if _WORD.search(text) else None
    scripts = Counter[str]()
    for letter, times in Counter(filter(str.isalpha, text)).items():
        scripts[_script(letter)] += times
    return max(sorted(scripts), key=lambda name: scripts[name], default=None)


@lru_cache(maxsize=10_000)
def _script(letter: str) -> str:
    if letter.isascii():
        return "Latin"
    name = unicodedata.name(letter, "")
    match = next((script for script in _SCRIPTS if name.startswith(script)), None)
    return {None: "another script", "CJK": "Han"}.get(match, (match or "").title())


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

"""How a text is written, in 67 numbers: length, punctuation, capitals, shape of words, function words.

Each raw feature is a rate or a logarithm. `StyleBlock` standardises them by statistics over `generic.txt`, clips them,
and divides by the square root of their number. So a text of usual style gets a row of about length one, and a plain
text a shorter one.
"""

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SENTENCE = re.compile(r"(?<![.!?…])[.!?…]++(?:\s|$)|\n++|$")
_CLIP = 3.0

_SIGNS = (".", ",", "!", "?", ";", ":", "-", "–—", "'’", '"“”', "()[]{}", "/\\", "@", "#", "$€£%", "&+=*", "_~^|<>")

_CATEGORIES = ("Lu", "Nd", "So", "Z")

_SMALL_WORDS: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "first person": "i me my mine myself i'm i've i'd i'll",
        "we": "we us our ours ourselves we're we've we'll",
        "second person": "you your yours yourself u ur you're you've you'll ya",
        "she and he": "she he her him his hers herself himself",
        "they": "they them their theirs themselves",
        "it": "it its itself it's",
        "the": "the",
        "a": "a an",
        "this": "this that these those",
        "of": "of",
        "to": "to",
        "in": "in on at by from with into over under about after before",
        "and": "and",
        "but": "but however although though yet still",
        "or": "or nor either neither",
        "if": "if unless whether when while because since so",
        "not": "not no never none nothing nobody "
        "don't doesn't didn't can't won't isn't wasn't couldn't wouldn't shouldn't",
        "is": "is are was were be been being am",
        "have": "have has had having",
        "do": "do does did doing done",
        "modal": "can could may might must shall should will would",
        "question word": "what which who whom whose where when why how",
        "very": "very really so too quite extremely absolutely totally completely just",
        "more": "more most less least better best worse worst",
        "all": "all every everybody everyone everything always ever any anybody anyone anything",
        "courtesy": "please thanks thank sorry kindly regards dear welcome",
        "chat": "lol omg haha hahaha ok okay yeah yes hey hi hello wow ugh oh x xx k pls plz thx im dont "
        "gonna wanna gotta",
        "now": "now today tomorrow yesterday tonight soon never again",
    }.items()
}

_SMALL_WORD_COLUMNS: Mapping[str, tuple[int, ...]] = {
    word: tuple(i for i, words in enumerate(_SMALL_WORDS.values()) if word in words)
    for word in frozenset[str]().union(*_SMALL_WORDS.values())
}

COUNT = 67


class StyleBlock:
    """Computes the features of texts, standardised by fixed statistics."""

    def __init__(self) -> None:
        self._statistics = load_statistics("style")
        self.digest = hashlib.sha256(f"style-1 {_CLIP} {self._statistics.digest}".encode()).hexdigest()

    def rows(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """(n_texts, 67): clipped rows of about length one; zeros for a text of only white space."""
        features = np.array([raw(text) for text in texts]).reshape(-1, COUNT)
        standard: NDArray[np.float64] = np.clip(self._statistics.standardise(features), -_CLIP, _CLIP) / math.sqrt(
            COUNT
        )
        standard[[not text.strip() for text in texts]] = 0.0
        return standard


def raw(text: str) -> NDArray[np.float64]:
    """(67,): the raw features of a text."""
    words = _WORD.findall(text)
    lowered = [word.lower() for word in words]
    return np.array([*_sizes(text, lowered), *_signs_and_letters(text), *_shapes(words), *_small_words(lowered)])


def _sizes(text: str, lowered: list[str]) -> list[float]:
    # Only sentences with a word count.
    sentences = sum(_WORD.search(piece) is not None for piece in _SENTENCE.split(text))
    return [
        math.log1p(len(text)),
        math.log1p(len(lowered)),
        math.log1p(sentences),
        math.log1p(len(lowered) / max(1, sentences)),
        len(set(lowered)) / max(1, len(lowered)),
        math.log1p(text.count("\n")),
    ]


def _signs_and_letters(text: str) -> list[float]:
    """Symbols per hundred characters, so that one exclamation mark in a short text stands out; and rates of kinds of
    letters.
    """
    counts = [0] * (len(_SIGNS) + len(_CATEGORIES) + 1)
    for sign, times in Counter(text).items():
        for column in _columns(sign):
            counts[column] += times
    size, lowered = len(text) + 10, text.lower()
    return [
        *[100 * count / size for count in counts[: len(_SIGNS)]],
        float("..." in text or "…" in text),
        float("!!" in text or "??" in text or "!?" in text),
        *[count / size for count in counts[len(_SIGNS) :]],
        float(text[:1].isupper()),
        float(text.rstrip()[-1:] in ".!?"),
        float("http" in lowered or "www." in lowered),
    ]


@lru_cache(4_096)
def _columns(sign: str) -> tuple[int, ...]:
    """The indices of the features that a character counts for: a group of symbols, a category, and non-ASCII
    characters.
    """
    category, first = unicodedata.category(sign), len(_SIGNS)
    return (
        *(i for i, signs in enumerate(_SIGNS) if sign in signs),
        *(first + i for i, name in enumerate(_CATEGORIES) if category.startswith(name)),
        *([first + len(_CATEGORIES)] if not sign.isascii() else []),
    )


def _shapes(words: list[str]) -> list[float]:
    count, sizes = max(1, len(words)), list(map(len, words)) or [0]
    mean = sum(sizes) / len(sizes)
    return [
        mean,
        _deviation(sizes, mean),
        sum(size > 6 for size in sizes) / count,
        sum(size < 4 for size in sizes) / count,
        sum(word.isupper() and len(word) > 1 for word in words) / count,
        sum(map(str.istitle, words[1:])) / count,
    ]


def _deviation(sizes: list[int], mean: float) -> float:
    """The standard deviation, bit for bit that of `np.std`, but faster for a short list."""
    away = np.array(sizes, np.float64)
    away -= mean
    away *= away
    return math.sqrt(np.add.reduce(away) / len(sizes))


def _small_words(lowered: list[str]) -> list[float]:
    counts, count = [0] * len(_SMALL_WORDS), len(lowered) + 3
    for word in lowered:
        for column in _SMALL_WORD_COLUMNS.get(word.replace("’", "'"), ()):
            counts[column] += 1
    return [hits / count for hits in counts]


_HERE = Path(__file__).parent


@dataclass(frozen=True, eq=False)
class Statistics:
    """The mean and standard deviation (n,) of each feature."""

    mean: NDArray[np.float32]
    deviation: NDArray[np.float32]

    def standardise(self, features: NDArray[np.floating]) -> NDArray[np.float64]:
        """Features (..., n) minus their mean, in units of their standard deviation."""
        return (features.astype(np.float64) - self.mean) / self.deviation

    def part(self, columns: slice) -> "Statistics":
        """The statistics of some of the features."""
        return Statistics(self.mean[columns], self.deviation[columns])

    @property
    def digest(self) -> str:
        """SHA-256 over the figures."""
        return hashlib.sha256(self.mean.astype("<f4").tobytes() + self.deviation.astype("<f4").tobytes()).hexdigest()


def load_statistics(name: str) -> Statistics:
    """The shipped figures of an encoder's raw features."""
    table = np.load(_HERE / f"{name}.npy")
    return Statistics(mean=table[0], deviation=table[1])


def generic_texts(*, languages: bool = False) -> list[str]:
    """The texts that the statistics were computed on: English, and as many in other languages if these are wanted."""
    files = ("generic.txt", "generic-languages.txt") if languages else ("generic.txt",)
    return [line for name in files for line in (_HERE / name).read_text(encoding="utf-8").splitlines()]


def measure(features: NDArray[np.floating]) -> Statistics:
    """The statistics of features (n_texts, n); a feature that hardly varies keeps its scale."""
    exact = features.astype(np.float64)
    deviation = exact.std(axis=0)
    deviation[deviation < 1e-6] = 1.0
    return Statistics(mean=exact.mean(axis=0).astype(np.float32), deviation=deviation.astype(np.float32))


def centre(features: NDArray[np.floating]) -> Statistics:
    """The statistics that only subtract the mean of features (n_texts, n)."""
    mean = features.mean(axis=0, dtype=np.float64).astype(np.float32)
    return Statistics(mean=mean, deviation=np.ones_like(mean))

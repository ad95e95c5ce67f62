"""How a text is written, in 67 numbers: length, signs, capitals, shape of words, small words. No table, no model.

Raw features, each a rate or a logarithm. `StyleBlock` standardises them by figures over `generic.txt`, clips them and
divides by the root of their number, so that a text of usual style has about length one and a plain one less.
"""

import hashlib
import math
import re
import unicodedata
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from core.encoders.statistics import load_statistics

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SENTENCE = re.compile(r"[.!?…]+(?:\s|$)|\n+|$")
_CLIP = 3.0

_SIGNS = (".", ",", "!", "?", ";", ":", "-", "–—", "'’", '"“”', "()[]{}", "/\\", "@", "#", "$€£%", "&+=*", "_~^|<>")

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

COUNT = 67


class StyleBlock:
    """Raw features, standardised by fixed figures."""

    def __init__(self) -> None:
        self._statistics = load_statistics("style")
        self.digest = hashlib.sha256(f"style-1 {_CLIP} {self._statistics.digest}".encode()).hexdigest()

    def features(self, text: str) -> NDArray[np.float64]:
        """(67,): clipped, of length about one; zeros for a text without a sign."""
        if not text.strip():
            return np.zeros(COUNT)
        standard: NDArray[np.float64] = np.clip(self._statistics.standardise(raw(text)), -_CLIP, _CLIP)
        return standard / math.sqrt(COUNT)


def raw(text: str) -> NDArray[np.float64]:
    """(67,): the features as they are counted."""
    words = _WORD.findall(text)
    lowered = [word.lower().replace("’", "'") for word in words]
    return np.array([*_sizes(text, words), *_signs(text), *_letters(text), *_shapes(words), *_small_words(lowered)])


def _sizes(text: str, words: list[str]) -> list[float]:
    sentences = [length for length in _lengths(text) if length]
    return [
        math.log1p(len(text)),
        math.log1p(len(words)),
        math.log1p(len(sentences)),
        math.log1p(len(words) / max(1, len(sentences))),
        len({word.lower() for word in words}) / max(1, len(words)),
        math.log1p(text.count("\n")),
    ]


def _lengths(text: str) -> list[int]:
    """Words per sentence."""
    return [len(_WORD.findall(piece)) for piece in _SENTENCE.split(text)]


def _signs(text: str) -> list[float]:
    """Per hundred signs, so that one exclamation mark in a short text stands out."""
    size = len(text) + 10
    return [
        *(100 * sum(text.count(sign) for sign in signs) / size for signs in _SIGNS),
        float("..." in text or "…" in text),
        float("!!" in text or "??" in text or "!?" in text),
    ]


def _letters(text: str) -> list[float]:
    kinds = [unicodedata.category(sign) for sign in text]
    size = len(text) + 10
    share = {kind: sum(found.startswith(kind) for found in kinds) / size for kind in ("Lu", "Nd", "So", "Z")}
    return [
        *share.values(),
        sum(ord(sign) > 127 for sign in text) / size,
        float(text[:1].isupper()),
        float(text.rstrip()[-1:] in ".!?"),
        float("http" in text.lower() or "www." in text.lower()),
    ]


def _shapes(words: list[str]) -> list[float]:
    count = max(1, len(words))
    sizes = [len(word) for word in words] or [0]
    return [
        float(np.mean(sizes)),
        float(np.std(sizes)),
        sum(size > 6 for size in sizes) / count,
        sum(size < 4 for size in sizes) / count,
        sum(word.isupper() and len(word) > 1 for word in words) / count,
        sum(word.istitle() for word in words[1:]) / count,
    ]


def _small_words(lowered: list[str]) -> list[float]:
    count = len(lowered) + 3
    return [sum(word in words for word in lowered) / count for words in _SMALL_WORDS.values()]

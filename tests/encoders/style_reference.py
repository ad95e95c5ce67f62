"""The style features in a plain and slow form: the reference for the fast one."""

import math
import re
import unicodedata

import numpy as np
from numpy.typing import NDArray

from traitbench.encoders.style import _SIGNS, _SMALL_WORDS

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SENTENCE = re.compile(r"[.!?…]+(?:\s|$)|\n+|$")


def raw(text: str) -> NDArray[np.float64]:
    """(67,): the raw features."""
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
    """Signs per hundred characters, so that one exclamation mark in a short text stands out."""
    size = len(text) + 10
    return [
        *(100 * sum(text.count(sign) for sign in signs) / size for signs in _SIGNS),
        float("..." in text or "…" in text),
        float("!!" in text or "??" in text or "!?" in text),
    ]


def _letters(text: str) -> list[float]:
    kinds = [unicodedata.category(sign) for sign in text]
    size = len(text) + 10
    share = {kind: sum(result.startswith(kind) for result in kinds) / size for kind in ("Lu", "Nd", "So", "Z")}
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

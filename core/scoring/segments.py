"""How a text is taken apart: segments to encode, paragraphs and sentences to score. Nothing is ever cut off.

A segment has about sixty words and ends where a sentence ends if it can: an encoder sees only so much, and the mean of
short pieces says more than the beginning of a long one. Offsets are exact: `text[start:end]` is the segment.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from traitbench.scoring.repeats import shorten

Vectors = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]

WORDS_PER_SEGMENT = 60
AT_ONCE = 512
"""Segments of one text that are encoded at once: a longer text never has all its vectors in memory."""

# Scripts without spaces count by the sign, and a run without an end counts by its length.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_UNSPACED}]{{1,2}}|[^\s{_UNSPACED}]{{1,24}}")

# Each run of marks or of space is tried once, at its beginning, and never again from within: so the time grows with the
# length of the text, whatever the text.
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*+\n\s*+")
_PHRASE_END = re.compile(
    r"(?<![,;:)\u2013\u2014])[,;:)\u2013\u2014]++[\"'”’»]*+\s++|[，、；：]\s*+"
    r"|(?<!\s)\s++(?=(?:and|but|or|because|which|that|while)\s)"
)
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+\s++|[。！？]++[」』”’）]*+\s*+|(?<!\s)[^\S\n]*+\n\s*+")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[^\W\d_]|mr|mrs|ms|dr|prof|st|vs|e\.g|i\.e|cf|fig|no|etc|approx)\.$", re.IGNORECASE
)


@dataclass(frozen=True)
class Segment:
    """A stretch of a text."""

    start: int
    end: int


def segments(text: str) -> tuple[Segment, ...]:
    """The whole text in pieces of about sixty words; none for a text of nothing but space."""
    words = [match.span() for match in _WORD.finditer(text)]
    count = max(1, round(len(words) / WORDS_PER_SEGMENT))
    if words and count == 1:
        return (Segment(words[0][0], words[-1][1]),)
    borders = _borders(words, _word_after(words, _sentence_ends(text)), count)
    return tuple(Segment(words[first][0], words[last - 1][1]) for first, last in pairwise(borders) if first < last)


def parts(text: str, max_depth: int) -> tuple[Segment, ...]:
    """Depth 1: the whole; 2: its paragraphs; 3: their sentences. Without surrounding space, and none that is empty."""
    if max_depth == 1:
        return tuple(_trimmed(text, [0, len(text)]))
    ends = [match.end() for match in _PARAGRAPH_END.finditer(text)]
    if max_depth > 2:
        ends = sorted({*ends, *_sentence_ends(text)})
    return tuple(_trimmed(text, [0, *ends, len(text)]))


def sentences(text: str) -> tuple[Segment, ...]:
    """Each sentence, without surrounding space."""
    return tuple(_trimmed(text, [0, *_sentence_ends(text), len(text)]))


def phrases(text: str, count: int) -> tuple[Segment, ...]:
    """About `count` pieces of even length, ending at a comma or before an "and" where one is near; words at most."""
    words = [match.span() for match in _WORD.finditer(text)]
    ends = _word_after(words, [match.end() for match in _PHRASE_END.finditer(text)])
    borders = _borders(words, ends, max(1, min(count, len(words))))
    return tuple(Segment(words[first][0], words[last - 1][1]) for first, last in pairwise(borders) if first < last)


def count_words(text: str) -> int:
    """How many words; in scripts without spaces, about."""
    return sum(1 for _ in _WORD.finditer(text))


def embed(encode: Encode, texts: Sequence[str]) -> Vectors:
    """(n_texts, d): the mean of each text's segment vectors, at length one; zeros for a text without a token.

    Long runs of one character are shortened first (`repeats`).
    """
    texts = [shorten(text).text for text in texts]
    found = [segments(text) for text in texts]
    together = [[] if len(own) > AT_ONCE else in_words(text, own) for text, own in zip(texts, found, strict=True)]
    vectors = encode([piece for own in together for piece in own] or [""])
    rows, first = [], 0
    for text, own, short in zip(texts, found, together, strict=True):
        if len(own) > AT_ONCE:
            rows.append(mean_of(encode(in_words(text, some)) for some in blocks(own)))
        else:
            rows.append(mean(vectors[first : first + len(short)]))
            first += len(short)
    return np.array(rows, np.float32).reshape(len(texts), vectors.shape[1])


def in_words(text: str, found: Sequence[Segment]) -> list[str]:
    """What the text says in each of its segments."""
    return [text[segment.start : segment.end] for segment in found]


def blocks(found: Sequence[Segment]) -> Iterator[Sequence[Segment]]:
    """The segments of a long text, as many at a time as are encoded at once."""
    return (found[first : first + AT_ONCE] for first in range(0, len(found), AT_ONCE))


def mean_of(several: Iterable[Vectors]) -> Vectors:
    """`mean` of two vectors or more that come in blocks (n_i, d): the same, bit by bit."""
    total = np.empty((0, 0))
    for vectors in several:
        rows = vectors.astype(np.float64)
        # Sums run from the first row to the last, so the sum of the blocks before counts as the first row of this one.
        total = (np.concatenate([total, rows]) if total.size else rows).sum(axis=0, keepdims=True)
    return _at_length_one(total[0])


def mean(vectors: Vectors) -> Vectors:
    """The vector of a text, (d,) of (n_segments, d); one segment's vector stays as it is, bit by bit."""
    if len(vectors) == 1:
        only: Vectors = vectors[0].astype(np.float32, copy=False)
        return only
    return _at_length_one(vectors.astype(np.float64).sum(axis=0))


def _at_length_one(total: NDArray[np.float64]) -> Vectors:
    length = float(np.sqrt(np.square(total).sum()))
    told: Vectors = (total / (length or 1.0)).astype(np.float32)
    return told


def _sentence_ends(text: str) -> list[int]:
    """Where the next sentence begins: behind its mark and space, unless what follows or precedes speaks against it."""
    return [
        match.end()
        for match in _SENTENCE_END.finditer(text)
        if not text[match.end() : match.end() + 1].islower()
        and not (match[0].startswith(".") and _ABBREVIATION.search(text[max(0, match.start() - 8) : match.start() + 1]))
    ]


def _word_after(words: Sequence[tuple[int, int]], ends: Sequence[int]) -> list[int]:
    """The index of the first word at or behind each offset."""
    starts = [start for start, _ in words]
    return [bisect_left(starts, end) for end in ends]


def _borders(words: Sequence[tuple[int, int]], sentences: Sequence[int], count: int) -> list[int]:
    """`count` stretches of words, about even: a border is the sentence end nearest to its place, if one is near."""
    length = len(words) / count
    reach = int(length / 3)
    borders = [0]
    for i in range(1, count):
        place = round(i * length)
        first, last = bisect_left(sentences, place - reach), bisect_right(sentences, place + reach)
        near = [at for at in sentences[first:last] if at > borders[-1]]
        borders.append(min(near, key=lambda at: abs(at - place), default=place))
    return [*borders, len(words)]


def _trimmed(text: str, borders: Sequence[int]) -> Iterator[Segment]:
    for start, end in pairwise(borders):
        inner = text[start:end]
        if inner.strip():
            yield Segment(start + len(inner) - len(inner.lstrip()), end - len(inner) + len(inner.rstrip()))

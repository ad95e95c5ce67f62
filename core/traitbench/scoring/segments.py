"""Divide a text into segments to encode, and into paragraphs and sentences to score, without dropping any of it.

A segment has about sixty words and ends at the end of a sentence if possible. Encoders read a limited number of tokens,
and the mean of short segments describes a long text better than its beginning. Offsets are exact: `text[start:end]` is
the segment.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from traitbench.as_read import as_read
from traitbench.scoring.words import UNSPACED, sentence_ends, with_endings

Vectors = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]

WORDS_PER_SEGMENT = 60
AT_ONCE = 512
"""How many segments of one text are encoded at once, so that a long text never has all its vectors in memory."""

# Scripts without spaces are counted by character, and very long words by their length.
_COUNTED_BY_TWO = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
_WORD = re.compile(rf"[{_COUNTED_BY_TWO}]{{1,2}}|[^\s{_COUNTED_BY_TWO}]{{1,24}}")

# Lookbehinds and possessive quantifiers match each run of marks or spaces once, from its beginning. So the time is
# linear in the length of any text.
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*+\n\s*+")
_PHRASE_END = re.compile(
    r"(?<![,;:)\u2013\u2014])[,;:)\u2013\u2014]++[\"'”’»]*+\s++|[，、；：،؛၊]\s*+"
    rf"|(?<!\s)\s++(?=(?:and|but|or|because|which|that|while)\s)|(?<=[{UNSPACED}])\s++"
)
# Only the marks of scripts that were known when the first versions were trained: scores of sentences depend on it.
_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]]*+\s++|[。！？]++[」』”’）]*+\s*+|(?<!\s)[^\S\n]*+\n\s*+")


@dataclass(frozen=True)
class Segment:
    """A stretch of a text."""

    start: int
    end: int


class LeaveOneOut(Protocol):
    """Reads stretches of a text and leaves pieces out of what it has read."""

    def __call__(self, text: str, pieces: Sequence[Segment], contexts: Sequence[range]) -> Sequence[Vectors]:
        """Return (1 + n, d) unit rows for each context of n neighbouring pieces, given as their indices.

        The first row is the vector of the context alone, without the rest of the text. The others are the vector
        without each of its pieces; zeros if no token is left.
        """
        ...


def segments(text: str) -> tuple[Segment, ...]:
    """The whole text in pieces of about sixty words; empty for a text of only white space."""
    if _is_short(text):
        return tuple(_trimmed(text, [0, len(text)]))
    own = [match.span() for match in _WORD.finditer(text)]
    count = max(1, round(len(own) / WORDS_PER_SEGMENT))
    if own and count == 1:
        return (Segment(own[0][0], own[-1][1]),)
    borders = _borders(own, _word_after(own, sentence_ends(text, _SENTENCE_END)), count)
    return tuple(Segment(own[first][0], own[last - 1][1]) for first, last in pairwise(borders) if first < last)


def parts(text: str, max_depth: int) -> tuple[Segment, ...]:
    """The parts at a depth: 1 the whole text, 2 its paragraphs, 3 their sentences. Trimmed, and none is empty."""
    if max_depth == 1:
        return tuple(_trimmed(text, [0, len(text)]))
    ends = [match.end() for match in _PARAGRAPH_END.finditer(text)]
    if max_depth > 2:
        ends = sorted({*ends, *sentence_ends(text, _SENTENCE_END)})
    return tuple(_trimmed(text, [0, *ends, len(text)]))


def sentences(text: str) -> tuple[Segment, ...]:
    """The sentences, in any script, without surrounding space."""
    return tuple(_trimmed(text, [0, *sentence_ends(text), len(text)]))


def phrases(text: str, count: int) -> tuple[Segment, ...]:
    """About `count` pieces of similar length, each of at least one word.

    A piece ends at a comma or before an "and" if one is near.
    """
    own = with_endings(text)
    ends = _word_after(own, [match.end() for match in _PHRASE_END.finditer(text)])
    borders = _borders(own, ends, max(1, min(count, len(own))))
    return tuple(Segment(own[first][0], own[last - 1][1]) for first, last in pairwise(borders) if first < last)


def count_words(text: str) -> int:
    """The number of words; approximate in scripts without spaces."""
    return sum(1 for _ in _WORD.finditer(text))


def segment_count(text: str) -> int:
    """The number of segments, at least 1."""
    return 1 if _is_short(text) else max(1, round(count_words(text) / WORDS_PER_SEGMENT))


def _is_short(text: str) -> bool:
    """Whether the text has too few words for two segments, as far as can be told without counting them."""
    most = 3 * WORDS_PER_SEGMENT // 2
    if len(text) < most:
        return True  # a word has at least one character
    # Between two spaces there is one word, and one more for every 24 letters.
    return text.isascii() and len(text.split(None, most)) + len(text) // 24 < most


def embed(encode: Encode, texts: Sequence[str]) -> Vectors:
    """(n_texts, d): the vectors of texts as versions trained from now on read them, see `embed_as_is`."""
    return embed_as_is(encode, [as_read(text).text for text in texts])


def embed_as_is(encode: Encode, texts: Sequence[str]) -> Vectors:
    """(n_texts, d): the mean of each text's segment vectors at length one; zeros for a text without a token."""
    divided = [segments(text) for text in texts]
    together = [[] if len(own) > AT_ONCE else in_words(text, own) for text, own in zip(texts, divided, strict=True)]
    vectors = encode([piece for own in together for piece in own] or [""])
    rows, first = [], 0
    for text, own, short in zip(texts, divided, together, strict=True):
        if len(own) > AT_ONCE:
            rows.append(mean_of(encode(in_words(text, some)) for some in blocks(own)))
        else:
            rows.append(mean(vectors[first : first + len(short)]))
            first += len(short)
    return np.array(rows, np.float32).reshape(len(texts), vectors.shape[1])


class EncodeOnce:
    """An encoder (pieces of text to (n_pieces, d)) that encodes equal pieces once, as long as it lives."""

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._known: dict[str, NDArray[np.float32]] = {}

    def __call__(self, pieces: Sequence[str]) -> Vectors:
        """The vectors of the pieces, (n_pieces, d)."""
        new = list({piece: None for piece in pieces if piece not in self._known})
        if new:
            self._known |= zip(new, self._encode(new), strict=True)
        return np.array([self._known[piece] for piece in pieces], np.float32)


def in_words(text: str, pieces: Sequence[Segment]) -> list[str]:
    """The text of each segment."""
    return [text[segment.start : segment.end] for segment in pieces]


def blocks(pieces: Sequence[Segment]) -> Iterator[Sequence[Segment]]:
    """The segments of a long text in blocks that are encoded at once."""
    return (pieces[first : first + AT_ONCE] for first in range(0, len(pieces), AT_ONCE))


def mean_of(several: Iterable[Vectors]) -> Vectors:
    """`mean` of at least two vectors that come in blocks (n_i, d): the same, bit for bit."""
    total = np.empty((0, 0))
    for vectors in several:
        rows = vectors.astype(np.float64)
        # numpy sums rows in order, so the sum so far can be the first row of this block.
        total = (np.concatenate([total, rows]) if total.size else rows).sum(axis=0, keepdims=True)
    return _at_length_one(total[0])


def mean(vectors: Vectors) -> Vectors:
    """(d,): the vector of a text from those of its segments (n_segments, d); a single one is returned bit for bit."""
    if len(vectors) == 1:
        only: Vectors = vectors[0].astype(np.float32, copy=False)
        return only
    return _at_length_one(vectors.astype(np.float64).sum(axis=0))


def _at_length_one(total: NDArray[np.float64]) -> Vectors:
    length = float(np.sqrt(np.square(total).sum()))
    unit_vector: Vectors = (total / (length or 1.0)).astype(np.float32)
    return unit_vector


def _word_after(words: Sequence[tuple[int, int]], ends: Sequence[int]) -> list[int]:
    """The index of the first word at or after each offset."""
    starts = [start for start, _ in words]
    return [bisect_left(starts, end) for end in ends]


def _borders(words: Sequence[tuple[int, int]], sentences: Sequence[int], count: int) -> list[int]:
    """The borders of `count` stretches of about equal length, moved to the nearest end of a sentence if one is near."""
    length = len(words) / count
    reach = int(length / 3)
    borders = [0]
    for i in range(1, count):
        position = round(i * length)
        first, last = bisect_left(sentences, position - reach), bisect_right(sentences, position + reach)
        near = [at for at in sentences[first:last] if at > borders[-1]]
        borders.append(min(near, key=lambda at: abs(at - position), default=position))
    return [*borders, len(words)]


def _trimmed(text: str, borders: Sequence[int]) -> Iterator[Segment]:
    for start, end in pairwise(borders):
        inner = text[start:end]
        if inner.strip():
            yield Segment(start + len(inner) - len(inner.lstrip()), end - len(inner) + len(inner.rstrip()))


TOKENS_PER_WORD = 2
"""How many tokens are allowed per word: more than a word has in most languages. So the limit in tokens only affects
unusual texts, such as ten thousand different symbols.
"""

_FEWEST_CHARACTERS = 1 / 4  # per token: a tokenizer that falls back to bytes makes four tokens of one character


class TextTooLarge(ValueError):
    """The text has more words or tokens than are scored at once; `details` holds the number and the limit."""

    def __init__(self, unit: str, count: int, most: int) -> None:
        self.details = {unit: count, f"max_{unit}": most}
        super().__init__(
            f"The text has {count:,} {unit}; at most {most:,} are scored at once. Split it into shorter texts."
        )


def is_small(text: str, *, most_words: int) -> bool:
    """Whether the text has so few characters that it cannot exceed a limit."""
    return len(text) <= most_words * TOKENS_PER_WORD * _FEWEST_CHARACTERS


def check(text: str, *, most_words: int, count_tokens: Callable[[str], int]) -> None:
    """Raise `TextTooLarge` if the text is too large. Tokens are counted only if there could be too many."""
    if is_small(text, most_words=most_words):
        return
    if (words := count_words(text)) > most_words:
        raise TextTooLarge("words", words, most_words)
    if (tokens := count_tokens(text)) > TOKENS_PER_WORD * most_words:
        raise TextTooLarge("tokens", tokens, TOKENS_PER_WORD * most_words)

"""Words, pairs of words and pieces of words, hashed into cells: the literal text as features.

A piece is three to five characters of a word with a space added at either end. A hash chooses the cell and its sign (+
or -), so that collisions cancel on average; a cell holds the square root of its count. CRC-32 and a 64-bit mixer give
the same hashes on every machine.
"""

import re
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from traitbench.scoring.inputs import unit

CELLS = 1_024
RECIPE = f"grams-1 words pairs 3-5 crc32 {CELLS}"

_TOKEN = re.compile(r"\w+|[^\w\s]")
_SIZES = (3, 4, 5)
_WORD_SEED = 0x9E3779B9
_PAIR = np.uint64(31)
# A long token has many pieces, and the cache must stay small.
_MOST_CACHED_LENGTH = 32

Hashes = NDArray[np.uint64]


def rows(texts: Sequence[str]) -> NDArray[np.float64]:
    """(n_texts, CELLS) unit rows; zeros for a text without a word or symbol."""
    hashes = [_hashes(_TOKEN.findall(text.lower())) for text in texts]
    mixed = _mixed(np.concatenate([*hashes, np.zeros(0, np.uint64)]))
    signs = 1.0 - 2.0 * (mixed >> np.uint64(63)).astype(np.float64)
    offsets = np.repeat(np.arange(len(texts)) * CELLS, [len(own) for own in hashes])
    offsets += (mixed % np.uint64(CELLS)).astype(np.int64)
    counts = np.bincount(offsets, weights=signs, minlength=len(texts) * CELLS).reshape(len(texts), CELLS)
    return unit(np.copysign(np.sqrt(np.abs(counts)), counts))


def _hashes(tokens: Sequence[str]) -> Hashes:
    """The hashes of all words, pairs and pieces; a pair is hashed from the hashes of its words."""
    if not tokens:
        return np.zeros(0, np.uint64)
    hashed = [(_cached if len(token) <= _MOST_CACHED_LENGTH else _of_token)(token) for token in tokens]
    words = np.array([word for word, _ in hashed], np.uint64)
    return np.concatenate([words, _mixed(words[:-1] * _PAIR + words[1:]), *[pieces for _, pieces in hashed]])


def _of_token(token: str) -> tuple[int, Hashes]:
    """The hash of the word, and those of its pieces."""
    pieces = np.array([zlib.crc32(piece) for piece in _pieces(f" {token} ")], np.uint64)
    return zlib.crc32(_bytes(token), _WORD_SEED), pieces


_cached = lru_cache(16_384)(_of_token)


def _pieces(edged: str) -> Iterator[bytes]:
    for size in _SIZES:
        yield from (_bytes(edged[i : i + size]) for i in range(len(edged) - size + 1))


def _bytes(piece: str) -> bytes:
    # A lone surrogate is text to Python, and has to have a hash too.
    return piece.encode("utf-8", "surrogatepass")


def _mixed(hashes: Hashes) -> Hashes:
    """Mix the hashes so that every bit depends on every bit (the finalizer of splitmix64)."""
    hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return hashes ^ (hashes >> np.uint64(31))

"""The last fallback, which needs no files: hashed n-grams of words and letters, and the style block.

Words, pairs of words, and three to five letters of a word are hashed into signed cells, so that collisions cancel on
average. A cell holds the square root of its count.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import murmurhash3_32

from traitbench.encoders import FULL, Vectors, check_mode, counted_apart
from traitbench.encoders.style import COUNT, StyleBlock
from traitbench.encoders.tokens import in_slices, join
from traitbench.scoring.inputs import unit

ID = "ngrams-2"
WEIGHTS = (1.0, 0.5)

_CELLS = 2_048
_TOKEN = re.compile(r"\w+|[^\w\s]")


class NGrams:
    """The encoder; see the module."""

    id = ID
    dimension = _CELLS + COUNT
    file_bytes = 0
    modes: Mapping[str, slice] = MappingProxyType({})

    def __init__(self) -> None:
        self._style = StyleBlock()
        parts = (ID, str(_CELLS), str(WEIGHTS), self._style.digest)
        self.digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        """(n_texts, 2115) unit rows."""
        check_mode(self, mode)
        return in_slices(texts, self._encode, self.dimension)

    def count_tokens(self, text: str) -> int:
        """The number of words and symbols."""
        return len(_TOKEN.findall(text))

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[Vectors, list[int]]:
        """The rows of `encode`, and the number of tokens of each text."""
        return counted_apart(self, texts, mode=mode)

    def words(self) -> Sequence[str]:
        """Empty, because words are hashed without a vocabulary."""
        return ()

    def _encode(self, texts: Sequence[str]) -> Vectors:
        cells = np.array([_cells(text) for text in texts])
        return join(WEIGHTS, [unit(cells), self._style.rows(texts)])


def load(*, cache: Path) -> NGrams:
    """The encoder, which is always available; `cache` is not used."""
    return NGrams()


def _cells(text: str) -> NDArray[np.float64]:
    grams = list(_grams(_TOKEN.findall(text.lower())))
    if not grams:
        return np.zeros(_CELLS)
    hashes = np.array([murmurhash3_32(gram) for gram in grams], np.int64)
    signs = np.where(hashes >= 0, 1.0, -1.0)
    counts = np.bincount(np.abs(hashes) % _CELLS, weights=signs, minlength=_CELLS)
    return np.sign(counts) * np.sqrt(np.abs(counts))


def _grams(tokens: Sequence[str]) -> Iterator[str]:
    yield from tokens
    yield from map(" ".join, pairwise(tokens))
    for token in tokens:
        edged = f" {token} "
        for size in (3, 4, 5):
            yield from (edged[i : i + size] for i in range(len(edged) - size + 1))

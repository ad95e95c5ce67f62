"""The last fallback, with nothing to read: hashed n-grams of words and letters, beside the style.

Words and pairs of words, and three to five letters within a word, are hashed into signed cells, so that what collides
cancels on average; a cell holds the root of its count.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn.utils import murmurhash3_32

from core.encoders import Vectors
from core.encoders.style import COUNT, StyleBlock
from core.encoders.vectors import join, unit

ID = "ngrams-2"
WEIGHTS = (1.0, 0.5)

_CELLS = 2_048
_TOKEN = re.compile(r"\w+|[^\w\s]")


class NGrams:
    """The encoder; see the module."""

    id = ID
    dimension = _CELLS + COUNT

    def __init__(self) -> None:
        self._style = StyleBlock()
        parts = (ID, str(_CELLS), str(WEIGHTS), self._style.digest)
        self.digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(n_texts, 2115) unit rows."""
        return np.array([self._vector(text) for text in texts], np.float32).reshape(len(texts), self.dimension)

    def count_tokens(self, text: str) -> int:
        """Words and signs."""
        return len(_TOKEN.findall(text))

    def words(self) -> Sequence[str]:
        """None: it hashes whatever comes."""
        return ()

    def _vector(self, text: str) -> Vectors:
        grams = list(_grams(_TOKEN.findall(text.lower())))
        if not grams:
            return np.zeros(self.dimension, np.float32)
        hashes = np.array([murmurhash3_32(gram) for gram in grams], np.int64)
        signs = np.where(hashes >= 0, 1.0, -1.0)
        counts = np.bincount(np.abs(hashes) % _CELLS, weights=signs, minlength=_CELLS)
        return join(WEIGHTS, [unit(np.sign(counts) * np.sqrt(np.abs(counts))), self._style.features(text)])


def load(*, cache: Path) -> NGrams:
    """The encoder; always there. Nothing needs keeping."""
    return NGrams()


def _grams(tokens: Sequence[str]) -> Iterator[str]:
    yield from tokens
    yield from map(" ".join, pairwise(tokens))
    for token in tokens:
        edged = f" {token} "
        for size in (3, 4, 5):
            yield from (edged[i : i + size] for i in range(len(edged) - size + 1))

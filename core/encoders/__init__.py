"""Texts to vectors.

An encoder is named by its id, its dimension and a digest of what decides its vectors; a snapshot remembers all three
and scores with no other. `registry.load_encoder` gives the best one that is installed. The vector of a text depends on
the text alone: never on what else is encoded with it, in which order, or in how many threads.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class EncoderUnavailable(Exception):
    """The encoder cannot be used here; the message names the cause and the way out."""


class Encoder(Protocol):
    """Short texts in, unit vectors out; safe to call from several threads."""

    @property
    def id(self) -> str:
        """The name of the recipe, with its number."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers per text."""
        ...

    @property
    def digest(self) -> str:
        """SHA-256, in hexadecimal, over everything that decides the vectors."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Give (n_texts, dimension) unit rows; a text without a token gives a row of zeros."""
        ...

    def count_tokens(self, text: str) -> int:
        """How many tokens the text has, marks of begin and end left out."""
        ...

    def words(self) -> Sequence[str]:
        """Give the whole words of three letters and more that it has a token for, the commonest first."""
        ...

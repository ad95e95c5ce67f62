"""Texts to vectors.

An encoder is named by its id, its dimension and a digest of what decides its vectors; a snapshot remembers all three
and scores with no other. `registry.load_encoder` gives the best one that is installed. The vector of a text depends on
the text alone: never on what else is encoded with it, in which order, or in how many threads.

An encoder made of several blocks may have modes beside "full": faster ways to a part of its numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

FULL = "full"


class EncoderUnavailable(Exception):
    """The encoder cannot be used here; the message names the cause and the way out."""


class UnknownMode(KeyError):
    """The encoder has no such mode."""

    def __init__(self, mode: str, known: Sequence[str]) -> None:
        self.mode, self.known = mode, tuple(known)
        super().__init__(f"There is no mode {mode!r}; this encoder has {', '.join((FULL, *known))}.")

    def __str__(self) -> str:
        return str(self.args[0])


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

    @property
    def modes(self) -> Mapping[str, slice]:
        """What there is beside "full": the columns of a full vector that a mode gives, at length one."""
        ...

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        """Give (n_texts, width of the mode) unit rows; a text without a token gives a row of zeros."""
        ...

    def count_tokens(self, text: str) -> int:
        """How many tokens the text has, marks of begin and end left out."""
        ...

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[Vectors, list[int]]:
        """Give the rows of `encode`, and how many tokens each text has."""
        ...

    def words(self) -> Sequence[str]:
        """Give the whole words of three letters and more that it has a token for, the commonest first."""
        ...


Part = Callable[[str], Encoder]
"""Loads one of our own encoders by its name, for an encoder that is made of others."""


def counted_apart(encoder: Encoder, texts: Sequence[str], *, mode: str) -> tuple[Vectors, list[int]]:
    """`Encoder.counted` of one that does not know the tokens when it has encoded."""
    return encoder.encode(texts, mode=mode), [encoder.count_tokens(text) for text in texts]


def check_mode(encoder: Encoder, mode: str) -> None:
    """Raise `UnknownMode` unless the encoder has it."""
    if mode != FULL and mode not in encoder.modes:
        raise UnknownMode(mode, tuple(encoder.modes))

"""Encoders turn texts into vectors.

An encoder is identified by its id, its dimension and a digest of everything that decides its vectors. A snapshot
records all three and scores with no other encoder. `registry.load_encoder` returns the best one that is installed. The
vector of a text depends on the text alone: not on the texts encoded with it, their order or the number of threads.

An encoder made of several blocks may have modes besides "full": faster ways to compute a part of its vectors.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from traitbench.errors import LocalError
from traitbench.scoring.segments import LeaveOneOut

Vectors = NDArray[np.float32]

FULL = "full"


class EncoderUnavailable(LocalError):
    """The encoder cannot be used here; the message says why and what to do."""


class UnknownMode(KeyError):
    """The encoder has no such mode."""

    def __init__(self, mode: str, known: Sequence[str]) -> None:
        self.mode, self.known = mode, tuple(known)
        super().__init__(f"Unknown mode {mode!r}. This encoder has: {', '.join((FULL, *known))}.")

    def __str__(self) -> str:
        return str(self.args[0])


class Encoder(Protocol):
    """Encodes short texts as unit vectors; safe to call from several threads."""

    @property
    def id(self) -> str:
        """The name of the encoder. It changes whenever the vectors of the encoder change."""
        ...

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        ...

    @property
    def digest(self) -> str:
        """SHA-256, in hexadecimal, of everything that decides the vectors."""
        ...

    @property
    def modes(self) -> Mapping[str, slice]:
        """The modes besides "full", each with the columns of a full vector that it computes, at length one."""
        ...

    def encode(self, texts: Sequence[str], *, mode: str = FULL) -> Vectors:
        """Return (n_texts, width of the mode) unit rows; a row of zeros for a text without a token."""
        ...

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of the text, without special tokens."""
        ...

    def counted(self, texts: Sequence[str], *, mode: str = FULL) -> tuple[Vectors, list[int]]:
        """Return the rows of `encode`, and the number of tokens of each text."""
        ...

    def words(self) -> Sequence[str]:
        """Return the whole words of at least three letters that have a token, the most common first."""
        ...


@runtime_checkable
class FromFiles(Protocol):
    """An encoder that knows the size of its model and tokenizer files."""

    @property
    def file_bytes(self) -> int:
        """The bytes of all files that the encoder reads, without its fixed statistics."""
        ...


@runtime_checkable
class ReadsContexts(Protocol):
    """An encoder that leaves pieces out of what it has read, for explanations."""

    @property
    def leave_one_out(self) -> LeaveOneOut:
        """The function."""
        ...


def leave_one_out_of(encoder: Encoder, *, mode: str = FULL) -> LeaveOneOut | None:
    """Return the encoder's `leave_one_out`; None if it has none in this mode."""
    return encoder.leave_one_out if mode == FULL and isinstance(encoder, ReadsContexts) else None


Part = Callable[[str], Encoder]
"""Loads a built-in encoder by its name, for an encoder that combines several."""


def counted_apart(encoder: Encoder, texts: Sequence[str], *, mode: str) -> tuple[Vectors, list[int]]:
    """The result of `Encoder.counted`, for encoders that must tokenize a second time to count tokens."""
    return encoder.encode(texts, mode=mode), [encoder.count_tokens(text) for text in texts]


def check_mode(encoder: Encoder, mode: str) -> None:
    """Raise `UnknownMode` unless the encoder has the mode."""
    if mode != FULL and mode not in encoder.modes:
        raise UnknownMode(mode, tuple(encoder.modes))

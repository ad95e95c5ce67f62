"""Protocols for traits, samples and vocabularies that scoring reads, whatever their source; and unit vectors."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from traitbench.scoring.segments import Vectors

Floats = NDArray[np.float64]


class TraitLike(Protocol):
    """A trait and its poles."""

    @property
    def key(self) -> str:
        """Its key."""
        ...

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def positive_label(self) -> str:
        """The name of the positive pole."""
        ...

    @property
    def negative_label(self) -> str:
        """The name of the negative pole."""
        ...


class SampleLike(Protocol):
    """A labelled text."""

    @property
    def id(self) -> int:
        """Its number; no two samples share one."""
        ...

    @property
    def trait(self) -> str:
        """The key of the trait that it is a label for."""
        ...

    @property
    def quality(self) -> float:
        """From 0, the negative pole, to 1."""
        ...

    @property
    def provenance(self) -> str:
        """`authored`, `synthesized` or `score_feedback`."""
        ...


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words, the commonest first, and their vectors (n_words, d)."""

    words: tuple[str, ...]
    vectors: Vectors


def unit(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    """Each row (along the last axis) at length one, in double precision; zeros stay zeros."""
    exact = vectors.astype(np.float64, copy=False)
    lengths = np.sqrt(np.square(exact).sum(axis=-1, keepdims=True))
    lengths[lengths == 0] = 1.0
    rows: NDArray[np.float64] = exact / lengths
    return rows

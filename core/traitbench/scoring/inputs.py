"""Protocols for traits, samples and vocabularies, so that the scoring code does not depend on their source."""

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

"""Label axes, each made once and cached by the words of the trait.

A trait's words are not samples: their axes may stay in memory under zero retention.
"""

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Protocol

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from traitbench.scoring.inputs import TraitLike, Vocabulary
from traitbench.scoring.segments import Encode
from traitbench.synthesis import TraitPoles
from traitbench.synthesis.label_axis import label_axis

_MOST = 256

Vector = NDArray[np.float32]

_kept: LRUCache[tuple[str, TraitPoles], Vector | None] = LRUCache(_MOST)
_one_at_a_time = Lock()


class Described(TraitLike, Protocol):
    """A trait by the words of the person who defined it."""

    @property
    def description(self) -> str:
        """What the trait measures, in a sentence; may be empty."""
        ...


class LabelAxes:
    """Label axes for the encoder with this digest and these modes.

    `vocabulary` is loaded when the first axis is made; `unread` counts the words of it that loading would encode.
    """

    def __init__(
        self,
        digest: str,
        encode: Encode,
        modes: Mapping[str, slice],
        vocabulary: Callable[[], Vocabulary],
        *,
        unread: Callable[[], int] = lambda: 0,
    ) -> None:
        self._digest, self._encode, self._modes = digest, encode, modes
        self._vocabulary, self.unread = vocabulary, unread

    def of(self, trait: Described) -> Vector | None:
        """Return the label axis (d,) of a trait, or None if its words do not distinguish the poles."""
        place = self._place(trait)
        with _one_at_a_time:
            if place not in _kept:
                _kept[place] = self._make(place[1])
            return _kept[place]

    def is_known(self, trait: Described) -> bool:
        """Whether the label axis of a trait is in memory, so that it costs nothing."""
        return self._place(trait) in _kept

    def _place(self, trait: Described) -> tuple[str, TraitPoles]:
        # The key is not part of it, so traits with the same words share an axis.
        return self._digest, TraitPoles("", trait.name, trait.positive_label, trait.negative_label, trait.description)

    def _make(self, poles: TraitPoles) -> Vector | None:
        vocabulary = self._vocabulary()
        made = label_axis(
            poles, encode=self._encode, words=vocabulary.words, word_vectors=vocabulary.vectors, modes=self._modes
        )
        return None if made is None else made.vector

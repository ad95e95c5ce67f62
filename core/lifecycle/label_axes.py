"""The axes of traits' labels, made when a training first asks for them and kept in memory by what the trait says.

A trait's words are no sample: they stay under zero retention too.
"""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from traitbench.encoders import Encoder
from traitbench.encoders.vocabulary import Vocabulary
from traitbench.generators import TraitPoles
from traitbench.generators.labels import label_axis

_MOST = 256

Vector = NDArray[np.float32]

_kept: OrderedDict[tuple[str, TraitPoles], Vector | None] = OrderedDict()
_one_at_a_time = Lock()


class LabelAxes:
    """Axes by trait; `vocabulary` is loaded when the first one is made."""

    def __init__(self, encoder: Encoder, vocabulary: Callable[[], Vocabulary]) -> None:
        self._encoder, self._vocabulary = encoder, vocabulary

    def of(self, trait: TraitPoles) -> Vector | None:
        """The axis (d,) of a trait's words; None where they do not tell its poles apart."""
        place = (self._encoder.digest, trait)
        with _one_at_a_time:
            if place not in _kept:
                _kept[place] = self._make(trait)
            _kept.move_to_end(place)
            while len(_kept) > _MOST:
                _kept.popitem(last=False)
            return _kept[place]

    def _make(self, trait: TraitPoles) -> Vector | None:
        vocabulary = self._vocabulary()
        made = label_axis(trait, encode=self._encoder.encode, words=vocabulary.words, word_vectors=vocabulary.vectors)
        return None if made is None else made.vector

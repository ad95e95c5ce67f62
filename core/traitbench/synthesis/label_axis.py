"""Make the label axis of a trait from its words, without a single sample, and cache it by these words.

It is fitted to sentences made from the labels and description, then mixed with the direction from one pole's words to
the other's. If one label means the rest ("something else"), no sentence can show that pole. Then two thirds of the axis
are the direction from sentences about anything to the other pole. The axis is a second opinion for a training: it has
seen no sample, so the samples decide how much it counts. Equal words give an equal axis.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from types import MappingProxyType
from typing import Protocol

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from traitbench.fitting.axis import path
from traitbench.fitting.work import one_thread
from traitbench.scoring.inputs import TraitLike, Vocabulary, unit
from traitbench.scoring.segments import Encode, Vectors
from traitbench.synthesis import TraitPoles
from traitbench.synthesis.sentences import AxisSentences, doubts, topic, write

WORDS = 2_500
"""How many of the encoder's most common words to use: more are slower and do not improve the axis."""

_TEXTS_PER_POLE = 32
_SHRINKAGE = 10**0.5
_WORDS_WEIGHT = 0.5
_SENTENCES_WEIGHT = 0.5
_NO_MODES: Mapping[str, slice] = MappingProxyType({})
# Layer 4 of MiniLM knows form and tone; topics lie in the last layer and in the static table.
_FORM, _FORM_WEIGHT = "layer4", 0.3


@dataclass(frozen=True, eq=False)
class LabelAxis:
    """A unit direction (d,), the number of texts per pole it was fitted to, and notes on its reliability."""

    vector: NDArray[np.float32]
    texts_per_pole: int
    notes: tuple[str, ...]


def label_axis(
    trait: TraitPoles,
    *,
    encode: Encode,
    words: Sequence[str],
    word_vectors: Vectors,
    modes: Mapping[str, slice] = _NO_MODES,
) -> LabelAxis | None:
    """The label axis of a trait; None if the words for its poles do not differ.

    `words` and `word_vectors` (n_words, d) are the encoder's most common words, `modes` the columns of its modes.
    """
    with one_thread():
        return _fit(trait, encode, Vocabulary(tuple(words), word_vectors), modes)


def _fit(trait: TraitPoles, encode: Encode, vocabulary: Vocabulary, modes: Mapping[str, slice]) -> LabelAxis | None:
    written = write(trait, _TEXTS_PER_POLE, encode=encode, vocabulary=vocabulary)
    count = len(written.pairs)
    direction = _between_sentences(written)
    if (to_topic := topic(trait, encode=encode)) is not None:
        if _FORM in modes:
            to_topic[modes[_FORM]] *= _FORM_WEIGHT
        direction = unit(unit(to_topic) + _SENTENCES_WEIGHT * direction)
    return LabelAxis(direction.astype(np.float32), count, tuple(doubts(trait))) if direction.any() else None


def _between_sentences(written: AxisSentences) -> NDArray[np.float64]:
    """The unit direction (d,) between the sentences of both poles, mixed with that between their words; zeros if they
    do not differ.
    """
    count = len(written.pairs)
    if not count or not written.axis.any():
        return np.zeros_like(written.axis)
    X, y = np.vstack([written.positive, written.negative]), np.repeat([1.0, 0.0], count)
    fitted, between_words = unit(path(X, y, [_SHRINKAGE]).directions[0]), unit(written.axis)
    return unit(fitted + _WORDS_WEIGHT * between_words)


_MOST = 256

Vector = NDArray[np.float32]

_cached: LRUCache[tuple[str, TraitPoles], Vector | None] = LRUCache(_MOST)
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
    `stored` returns the bytes that it has under a name, or else those that it makes and stores.
    """

    def __init__(
        self,
        digest: str,
        encode: Encode,
        modes: Mapping[str, slice],
        vocabulary: Callable[[], Vocabulary],
        *,
        unread: Callable[[], int] = lambda: 0,
        stored: Callable[[str, Callable[[], bytes]], bytes] = lambda _name, make: make(),
    ) -> None:
        self._digest, self._encode, self._modes = digest, encode, modes
        self._vocabulary, self.unread, self._stored = vocabulary, unread, stored

    def of(self, trait: Described) -> Vector | None:
        """Return the label axis (d,) of a trait, or None if its words do not distinguish the poles."""
        key = self._key(trait)
        # Held while an axis is made: whoever asks for the same one waits for it. The cache itself is not safe for
        # threads.
        with _one_at_a_time:
            if key not in _cached:
                _cached[key] = self._make(key[1])
            return _cached[key]

    def is_known(self, trait: Described) -> bool:
        """Whether the label axis of a trait is in memory, so that it costs nothing."""
        return self._key(trait) in _cached

    def _key(self, trait: Described) -> tuple[str, TraitPoles]:
        # The key is not part of it, so traits with the same words share an axis.
        return self._digest, TraitPoles("", trait.name, trait.positive_label, trait.negative_label, trait.description)

    def _make(self, poles: TraitPoles) -> Vector | None:
        name = hashlib.sha256(repr((self._digest, poles)).encode()).hexdigest()
        content = self._stored(name, partial(self._content, poles))
        return np.frombuffer(content, "<f4").astype(np.float32) if content else None

    def _content(self, poles: TraitPoles) -> bytes:
        """The axis as bytes; none if there is no axis."""
        vocabulary = self._vocabulary()
        made = label_axis(
            poles, encode=self._encode, words=vocabulary.words, word_vectors=vocabulary.vectors, modes=self._modes
        )
        return b"" if made is None else made.vector.astype("<f4").tobytes()

"""What a trait's words say of texts before a single one is labelled: an axis learnt from sentences made of them, and
a little of the way straight from one pole's words to the other's.

It is a second opinion for learning, no more: it has seen no sample, so the samples can judge it, and they do. Equal
words give an equal axis.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from traitbench.generators import TraitPoles
from traitbench.generators.words import doubts, write
from traitbench.scoring.axis import path
from traitbench.scoring.inputs import Vocabulary
from traitbench.scoring.segments import Encode, Vectors
from traitbench.scoring.unit import unit

WORDS = 2_500
"""How many of the encoder's commonest words are looked at: more make no better axis, only a slower first one."""

_TEXTS_PER_POLE = 32
_SHRINKAGE = 10**0.5
_SAID = 0.5


@dataclass(frozen=True, eq=False)
class LabelAxis:
    """A direction (d,) of length one, how many texts a pole it was learnt from, and what to know before trusting it."""

    vector: NDArray[np.float32]
    texts_per_pole: int
    notes: tuple[str, ...]


def label_axis(trait: TraitPoles, *, encode: Encode, words: Sequence[str], word_vectors: Vectors) -> LabelAxis | None:
    """The axis of a trait's words; None where the words for the poles do not differ.

    `words` and `word_vectors` (n_words, d) are the commonest words that the encoder knows.
    """
    # One thread: sums over several would round by how the work was shared, and the axis goes into `param_hash`.
    with threadpool_limits(limits=1):
        return _learnt(trait, encode, Vocabulary(tuple(words), word_vectors))


def _learnt(trait: TraitPoles, encode: Encode, vocabulary: Vocabulary) -> LabelAxis | None:
    written = write(trait, _TEXTS_PER_POLE, encode=encode, vocabulary=vocabulary)
    count = len(written.pairs)
    if not count or not written.axis.any():
        return None
    X, y = np.vstack([written.positive, written.negative]), np.repeat([1.0, 0.0], count)
    learnt, said = unit(path(X, y, [_SHRINKAGE]).directions[0]), unit(written.axis)
    direction = unit(learnt + _SAID * said)
    if not direction.any():
        return None
    return LabelAxis(direction.astype(np.float32), count, tuple(doubts(trait)))

"""Score texts by the names of two poles alone, before a single text is labelled.

The axis leads from the mean vector of a few phrases with one name to that of the same phrases with the other. A score
is a place among two hundred everyday sentences: 50 is their middle, so the side of a text is the side of 50. No label
tested it. The axis that names give to a training (`traitbench.synthesis.label_axis`) is no better at this, with a mean
AUROC of 0.90 to 0.93 on the pairs of `tests.benchmarks.names`, and takes seconds instead of a moment.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from cachetools import LRUCache, cached
from numpy.typing import NDArray

from traitbench.encoders import Encoder, EncoderUnavailable
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.statistics import generic_texts
from traitbench.fitting.negation import names_the_rest, negates
from traitbench.scoring.segments import embed
from traitbench.settings import read_settings
from traitbench.synthesis.sentences import pole_vector

Vector = NDArray[np.float32]

_UNCLEAR = 20

everyday_texts = generic_texts
"""The sentences that texts are compared with."""


class NoNamesAxis(ValueError):
    """The names give no scores here; the message says why."""


@dataclass(frozen=True)
class Place:
    """Where a text is among everyday sentences, from 0 at the negative pole to 100 at the positive one."""

    score: int

    @property
    def positive(self) -> bool | None:
        """The side; None for a text near the middle, because there the names are hardly better than a guess."""
        return None if abs(self.score - 50) < _UNCLEAR else self.score > 50


def needs_opposite(pole: str) -> bool:
    """Whether the name of a pole only says what a text is not. Such a name gives no direction."""
    return negates(pole) or names_the_rest(pole)


def places(negative: str, positive: str, texts: Sequence[str]) -> list[Place]:
    """Place texts between two poles by the names of the poles; raise `NoNamesAxis` if that is not possible."""
    settings = read_settings()
    try:
        encoder = load_encoder(settings.encoder, cache=settings.cache)
    except EncoderUnavailable as error:
        raise NoNamesAxis(str(error)) from error
    axis = pole_vector(encoder.encode, positive) - pole_vector(encoder.encode, negative)
    if not axis.any():
        raise NoNamesAxis("The encoder sees no difference between these two names. Use other words.")
    at = {text: float(vector @ axis) for text, vector in _everyday(encoder).items()}
    among, new = np.sort(list(at.values())), [text for text in texts if text not in at]
    at |= zip(new, (embed(encoder.encode, new) @ axis).tolist(), strict=True)
    return [Place(_share(among, at[text])) for text in texts]


def _share(among: NDArray[np.float64], value: float) -> int:
    """The share of `among` below the value, in 100; equal ones count half."""
    below, up_to = int(np.searchsorted(among, value, "left")), int(np.searchsorted(among, value, "right"))
    return round(50 * (below + up_to) / len(among))


@cached(LRUCache(2), key=lambda encoder: encoder.digest)
def _everyday(encoder: Encoder) -> dict[str, Vector]:
    texts = everyday_texts()
    return dict(zip(texts, embed(encoder.encode, texts), strict=True))

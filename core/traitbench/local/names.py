"""Score texts by the names of two poles alone, before a single text is labelled.

The axis is the one that the names give to a training (`traitbench.synthesis.label_axis`). A score is a place among two
hundred everyday sentences: 50 is their middle, so the side of a text is the side of 50. No label tested it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from cachetools import LRUCache, cached
from numpy.typing import NDArray

from traitbench.encoders import Encoder, EncoderUnavailable, Vectors
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.statistics import generic_texts
from traitbench.fitting.negation import names_the_rest, negates
from traitbench.local.fitting import label_axes
from traitbench.scoring.segments import embed
from traitbench.settings import read_settings
from traitbench.synthesis import TraitPoles

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
    axis = label_axes(encoder, settings.cache).of(TraitPoles("", f"{negative} or {positive}", positive, negative))
    if axis is None:
        raise NoNamesAxis("The encoder sees no difference between these two names. Use other words.")
    among = np.sort(_everyday(encoder) @ axis)
    return [Place(_share(among, value)) for value in (embed(encoder.encode, texts) @ axis).tolist()]


def _share(among: NDArray[np.float32], value: float) -> int:
    """The share of `among` below the value, in 100; equal ones count half."""
    below, up_to = int(np.searchsorted(among, value, "left")), int(np.searchsorted(among, value, "right"))
    return round(50 * (below + up_to) / len(among))


@cached(LRUCache(2), key=lambda encoder: encoder.digest)
def _everyday(encoder: Encoder) -> Vectors:
    return embed(encoder.encode, everyday_texts())

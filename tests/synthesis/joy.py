"""The trait joy with texts of both poles, another trait, and encoders with their words that encode each text once."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tests.real_encoder import KEPT, best
from traitbench.encoders import Encoder
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.vocabulary import load_vocabulary
from traitbench.synthesis import TraitPoles

JOY = TraitPoles("joy", "Joy", "joyful", "sad")
CALM = TraitPoles("calm", "Calm", "calm", "angry")

JOYFUL = (
    "We danced all night at the wedding and laughed until our cheeks hurt.",
    "Our daughter took her first steps today, and we are over the moon!",
    "What a glorious morning: sunshine, birdsong and fresh bread on the table.",
    "They won the cup, and the whole town sang in the streets.",
    "I got the job! Champagne for everyone!",
)
SAD = (
    "We buried our old dog under the apple tree and could not stop crying.",
    "The chair by the window has been empty since grandfather died.",
    "She read his last letter again and wept until the lamp went out.",
    "Nobody came to his birthday, and he ate the cake alone in the dark.",
    "The factory closed for good, and families left the valley in tears.",
)


class Remembering:
    """An encoder that encodes each text once, and its words."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder, self.vocabulary = encoder, load_vocabulary(encoder, cache=KEPT)
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        new = list(dict.fromkeys(text for text in texts if text not in self._vectors))
        self._vectors.update(zip(new, self.encoder.encode(new), strict=True))
        return np.array([self._vectors[text] for text in texts], np.float32).reshape(-1, self.encoder.dimension)


@cache
def real() -> Remembering:
    """The default encoder, for statements about the meaning of texts."""
    return Remembering(best())


@cache
def quick() -> Remembering:
    """The static encoder, for statements that hold for every encoder."""
    return Remembering(load_encoder("static", cache=KEPT))

"""Score texts by the names of two poles alone, before a single text is labelled.

The axis leads from the mean vector of a few phrases with one name to that of the same phrases with the other. A score
is a place among two hundred everyday sentences: 50 is their middle, so the side of a text is the side of 50. No label
tested it. The axis that names give to a training (`traitbench.synthesis.label_axis`) is no better at this. It has a
mean AUROC of 0.90 to 0.93 on the pairs of `tests.benchmarks.names`, and takes seconds instead of a moment.

In another language than English, the names are right less often. On 66 sentences in German, Spanish, Japanese, Arabic
and Hindi, the encoder `multilingual` had 46 on the right side by names in their own language and 53 by English names.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from cachetools import LRUCache, cached
from numpy.typing import NDArray

from traitbench.encoders import Encoder, EncoderUnavailable
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.style import generic_texts
from traitbench.fitting.phrases import names_the_rest, negates
from traitbench.fitting.pole_names import pole_vector
from traitbench.scoring.segments import embed
from traitbench.settings import read_settings

Vector = NDArray[np.float32]

_UNCLEAR = 20
_MOST = 0.75
_TRANSLATIONS = (
    ("The train is late again.", "My sister bakes bread.", "Can I pay by card?", "The roof leaks when it rains."),
    (
        "Der Zug hat wieder Verspätung.",
        "Meine Schwester backt Brot.",
        "Kann ich mit Karte zahlen?",
        "Bei Regen ist das Dach undicht.",
    ),
    (
        "El tren llega tarde otra vez.",
        "Mi hermana hace pan.",
        "¿Puedo pagar con tarjeta?",
        "Cuando llueve, el techo gotea.",
    ),
    ("電車がまた遅れている。", "妹はパンを焼きます。", "カードで払えますか。", "雨が降ると屋根が漏れる。"),
    ("القطار متأخر مرة أخرى.", "أختي تخبز الخبز.", "هل يمكنني الدفع بالبطاقة؟", "السقف يسرب الماء عندما تمطر."),
    ("ट्रेन फिर देर से है।", "मेरी बहन रोटी पकाती है।", "क्या मैं कार्ड से भुगतान कर सकता हूँ?", "बारिश में छत टपकती है।"),
)
"""The same four sentences in six languages, the first English."""

everyday_texts = generic_texts
"""The sentences that texts are compared with."""


class NoNamesAxis(ValueError):
    """The names give no scores here; the message says why."""


@dataclass(frozen=True)
class NameScore:
    """Where a text is among everyday sentences, from 0 at the negative pole to 100 at the positive one."""

    score: int

    @property
    def positive(self) -> bool | None:
        """The side; None for a text near the middle, because there the names are hardly better than a guess."""
        return None if abs(self.score - 50) < _UNCLEAR else self.score > 50


def needs_opposite(pole: str) -> bool:
    """Whether the name of a pole only says what a text is not. Such a name gives no direction."""
    return negates(pole) or names_the_rest(pole)


def reads_other_languages() -> bool:
    """Whether the encoder here puts sentences in other languages near those in English that say the same.

    Raise `NoNamesAxis` if there is no encoder.
    """
    return _reads_other_languages(_encoder())


def name_scores(negative: str, positive: str, texts: Sequence[str]) -> list[NameScore]:
    """NameScore texts between two poles by the names of the poles; raise `NoNamesAxis` if that is not possible."""
    encoder = _encoder()
    axis = pole_vector(encoder.encode, positive) - pole_vector(encoder.encode, negative)
    if not axis.any():
        raise NoNamesAxis("The encoder sees no difference between these two names. Use other words.")
    at = {text: float(vector @ axis) for text, vector in _everyday(encoder).items()}
    among, new = np.sort(list(at.values())), [text for text in texts if text not in at]
    at |= zip(new, (embed(encoder.encode, new) @ axis).tolist(), strict=True)
    return [NameScore(_share(among, at[text])) for text in texts]


def _encoder() -> Encoder:
    settings = read_settings()
    try:
        return load_encoder(settings.encoder, cache=settings.cache)
    except EncoderUnavailable as error:
        raise NoNamesAxis(str(error)) from error


@cached(LRUCache(2), key=lambda encoder: encoder.digest)
def _reads_other_languages(encoder: Encoder) -> bool:
    english, *others = (encoder.encode(sentences) for sentences in _TRANSLATIONS)
    nearest = [np.argmax(other @ english.T, axis=1) == np.arange(len(english)) for other in others]
    return bool(np.mean(nearest) >= _MOST)


def _share(among: NDArray[np.float64], value: float) -> int:
    """The share of `among` below the value, in 100; equal ones count half."""
    below, up_to = int(np.searchsorted(among, value, "left")), int(np.searchsorted(among, value, "right"))
    return round(50 * (below + up_to) / len(among))


@cached(LRUCache(2), key=lambda encoder: encoder.digest)
def _everyday(encoder: Encoder) -> dict[str, Vector]:
    texts = everyday_texts()
    return dict(zip(texts, embed(encoder.encode, texts), strict=True))

"""Score texts by the names of two poles alone, before a single text is labelled.

    scorer = scorer_by_names("relaxed", "urgent")
    scorer.score(["Please send someone now."])       # [NameScore(score=97)]
    scorer.version.explain(text)                     # which words decide, as for a trained version
    scorer.lifted(vectors)                           # turned towards what the texts of a file differ in

The axis leads from the mean vector of a few phrases with one name to that of the same phrases with the other. A score
is a place among two hundred everyday sentences: 50 is their middle, so the side of a text is the side of 50. No label
tested it. The axis that names give to a training (`traitbench.synthesis.label_axis`) is no better at this. It has a
mean AUROC of 0.90 to 0.93 on the pairs of `tests.benchmarks.names`, and takes seconds instead of a moment.

In another language than English, the names are right less often. On 66 sentences in German, Spanish, Japanese, Arabic
and Hindi, the encoder `multilingual` had 46 on the right side by names in their own language and 53 by English names.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from cachetools import LRUCache, cached
from numpy.typing import NDArray

from traitbench.as_read import READING
from traitbench.encoders import Encoder, EncoderUnavailable
from traitbench.encoders.registry import load_encoder
from traitbench.encoders.style import generic_texts
from traitbench.fitting.phrases import names_the_rest, negates
from traitbench.fitting.pole_names import pole_vector
from traitbench.local.version import LocalVersion
from traitbench.scoring.card import of_vectors
from traitbench.scoring.certainty import Certainty
from traitbench.scoring.segments import embed
from traitbench.scoring.snapshot import EncoderIdentity, Snapshot, TierBreaks, TraitAxis
from traitbench.settings import read_settings

Vectors = NDArray[np.float32]
Floats = NDArray[np.float64]

KEY = "names"
"""The key of the only trait of such a version."""

FEWEST_LIFTING = 50
"""How many texts lift the names at least: with 20 and fewer, the axis got worse on most sets that were measured."""

_UNCLEAR = 20
_BREAKS = TierBreaks(50, 50, 50)
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


@dataclass(frozen=True, eq=False)
class NamesScorer:
    """What scores texts by two names. `among` (n,) are the sorted positions of everyday sentences, in 0..1.

    `version` has no samples and is sure of nothing; its position is half for the middle of everyday sentences.
    """

    version: LocalVersion
    among: Floats

    def score(self, texts: Sequence[str]) -> list[NameScore]:
        """Return where texts are between the poles; raise `BodyTooLarge` for a text that the service refuses."""
        return [self._at((card.detail[KEY].native.polarity + 1) / 2) for card in self.version.score(texts)]

    def score_vectors(self, vectors: Vectors) -> list[NameScore]:
        """Return the same for texts by their vectors (n, d)."""
        return [self._at(position) for position in of_vectors(self.version.snapshot, vectors)[:, 0].tolist()]

    def lifted(self, vectors: Vectors) -> "NamesScorer":
        """Return the scorer turned towards what texts differ in, by their vectors (n, d); itself if they are few.

        v = u + Cu / |Cu|, with u the axis at length one and C the covariance of the vectors.
        """
        if len(vectors) < FEWEST_LIFTING:
            return self
        axis = self.version.snapshot.matrix[0]
        unit = axis / np.linalg.norm(axis)
        centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
        turned = centred.T @ (centred @ unit)
        length = np.linalg.norm(turned)
        return _scorer(self.version.encoder, unit + turned / length, self.version) if length else self

    def _at(self, position: float) -> NameScore:
        """A share of everyday sentences in 100; equal ones count half."""
        below = int(np.searchsorted(self.among, position, "left"))
        up_to = int(np.searchsorted(self.among, position, "right"))
        return NameScore(round(50 * (below + up_to) / len(self.among)))


def scorer_by_names(negative: str, positive: str) -> NamesScorer:
    """Return the scorer between two poles by their names; raise `NoNamesAxis` if they give none."""
    return _by_names(_encoder(), negative, positive)


@cached(LRUCache(64), key=lambda encoder, *poles: (encoder.digest, *poles))
def _by_names(encoder: Encoder, negative: str, positive: str) -> NamesScorer:
    axis = pole_vector(encoder.encode, positive) - pole_vector(encoder.encode, negative)
    if not axis.any():
        raise NoNamesAxis("The encoder sees no difference between these two names. Use other words.")
    trait = TraitAxis(
        KEY, KEY, positive, negative, "none", np.zeros(0, np.float32), 0.0, None, None, _BREAKS, Certainty()
    )
    snapshot = Snapshot(EncoderIdentity.of(encoder), "balanced_cosine", 1, (trait,), reading=READING)
    return _scorer(encoder, axis, LocalVersion(snapshot))


def _scorer(encoder: Encoder, axis: Floats, like: LocalVersion) -> NamesScorer:
    """The scorer with another axis (d,), whose logits are 0 in the middle of everyday sentences and spread by one."""
    everyday = _everyday(encoder)
    at = everyday @ axis
    slope = 1 / (float(at.std()) or 1.0)
    vector, offset = (slope * axis).astype(np.float32), -slope * float(np.median(at))
    trait = replace(like.snapshot.traits[0], vector=vector, offset=offset)
    version = replace(like, snapshot=replace(like.snapshot, traits=(trait,)))
    return NamesScorer(version, np.sort(of_vectors(version.snapshot, everyday)[:, 0]))


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


@cached(LRUCache(2), key=lambda encoder: encoder.digest)
def _everyday(encoder: Encoder) -> Vectors:
    """(n, d): the vectors of the everyday sentences."""
    return embed(encoder.encode, generic_texts())

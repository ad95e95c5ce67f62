"""Traits, or texts that a trait has already, to more labelled texts.

Pure: what it needs of an encoder is passed in, and equal inputs give equal texts. A generated text teaches as far as
the words for the poles do and no further; whoever keeps one marks it as synthesised, and a variation with the seed it
came from, so that no figure is ever measured on either.
"""

from collections.abc import Mapping
from dataclasses import dataclass

SYNTH_TYPES = ("from_traits", "diversify")

TEXTS_PER_POLE: Mapping[str, int] = {"low": 16, "medium": 32, "high": 64, "xhigh": 128, "max": 256}
"""How many texts an effort asks for; there may be fewer when the trait does not give as many that differ."""


class CannotSynthesize(ValueError):
    """Not one text could be made; the message says why and names no text."""


@dataclass(frozen=True)
class TraitPoles:
    """A trait in the words of the one who defined it."""

    key: str
    name: str
    positive_label: str
    negative_label: str
    description: str = ""


@dataclass(frozen=True)
class Seed:
    """A text that the trait has already, and its quality."""

    trait_key: str
    text: str
    quality: float


@dataclass(frozen=True)
class Exemplar:
    """A generated text; `seed_index` counts in the seeds handed in, None for what came from the trait's words."""

    trait_key: str
    text: str
    quality: float
    seed_index: int | None


@dataclass(frozen=True)
class Synthesis:
    """What was made, trait by trait, and what a person should know about it."""

    exemplars: tuple[Exemplar, ...]
    notes: tuple[str, ...]

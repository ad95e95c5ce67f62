"""Synthesis: more labelled texts from the words of a trait, or from texts that it already has.

Pure: the functions of an encoder are passed in, and equal inputs give equal texts. A generated text adds no knowledge
beyond the labels of the poles. The caller stores it as synthesized, and a variation with its seed, so that no figure is
ever measured on either.
"""

from collections import Counter
from dataclasses import dataclass

from traitbench.contract.samples import OFFLINE

SYNTH_TYPES = ("from_traits", "diversify")


class CannotSynthesize(ValueError):
    """No text could be made; the message says why and quotes no text."""


@dataclass(frozen=True)
class TraitPoles:
    """The name, labels and description of a trait, and the names of the languages of its samples or else its words.

    Without any, the language is not clear.
    """

    key: str
    name: str
    positive_label: str
    negative_label: str
    description: str = ""
    languages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Seed:
    """A text that the trait already has, and its quality."""

    trait_key: str
    text: str
    quality: float


@dataclass(frozen=True)
class Exemplar:
    """A generated text; `seed_index` is the index of its seed, None if it was made from the trait's words."""

    trait_key: str
    text: str
    quality: float
    seed_index: int | None
    generator: str = OFFLINE


@dataclass(frozen=True)
class Reject:
    """A generated text that the quality filter rejected, and the reason (`traitbench.synthesis.quality_filter`)."""

    exemplar: Exemplar
    reason: str


@dataclass(frozen=True)
class Synthesis:
    """The accepted texts by trait, notes for a person, and the rejected texts.

    `invalid` counts the parts of answers that were no texts in the form asked for.
    """

    exemplars: tuple[Exemplar, ...]
    notes: tuple[str, ...]
    rejects: tuple[Reject, ...] = ()
    invalid: int = 0

    @property
    def rejected(self) -> dict[str, int]:
        """How many texts were rejected, by the reason."""
        return dict(+Counter(invalid=self.invalid) + Counter(each.reason for each in self.rejects))

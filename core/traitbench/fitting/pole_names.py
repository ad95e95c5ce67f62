"""The vector of a pole by its name alone: the mean of a few phrases with it."""

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from traitbench.scoring.inputs import TraitLike

CARRIERS = (
    "{}",
    "This text is {}.",
    "The tone is {}.",
    "It sounds {}.",
    "Here is something {}.",
    "One would call this {}.",
)
"""Phrases that take the name of a pole."""

PARTS = re.compile(r"(?:(?<!\s)\s++)?(?:,|;|/|\bor\b|\band\b)\s*+", re.IGNORECASE)
"""What separates the parts of a name: `calm, friendly`."""

_GENERAL = {"positive", "negative"}

Encode = Callable[[Sequence[str]], NDArray[np.float32]]


def pole_vector(encode: Encode, label: str, described: Sequence[str] = ()) -> NDArray[np.float64]:
    """(d,): the mean vector of the label, its parts and sentences with it, averaged with that of the description."""
    said = list(dict.fromkeys([*phrases(label), *(frame.format(label) for frame in CARRIERS)]))
    centre: NDArray[np.float64] = encode(said).astype(np.float64).mean(axis=0)
    return (centre + encode(described).astype(np.float64).mean(axis=0)) / 2 if described else centre


def pole_labels(trait: TraitLike) -> tuple[str, str]:
    """The labels of the positive and the negative pole; with default labels, the name of the trait is added."""
    if {trait.positive_label.casefold(), trait.negative_label.casefold()} == _GENERAL:
        return f"{trait.positive_label} {trait.name}", f"{trait.negative_label} {trait.name}"
    return trait.positive_label, trait.negative_label


def phrases(label: str) -> list[str]:
    """The label, and its parts if it has several."""
    return [label, *(part for part in PARTS.split(label) if part)]

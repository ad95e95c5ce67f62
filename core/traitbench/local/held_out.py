"""Test samples: set some aside at random, put them back, and say in words what was done or why not."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from traitbench.contract.samples import Sample, SampleInput
from traitbench.contract.traits import Trait
from traitbench.display.text import count
from traitbench.fitting.collect import text_groups
from traitbench.fitting.duplicates import alike, joined
from traitbench.fitting.set_aside import AT_LEAST, SHARE, Choice, TooFew, choose

__all__ = ["AT_LEAST", "SHARE", "aside", "choice", "done", "refusal", "shortages"]

Vectors = NDArray[np.float32]


def choice(
    samples: Sequence[Sample], vectors: Vectors, *, share: float = SHARE, at_least: int = AT_LEAST, seed: int = 0
) -> Choice:
    """Choose test samples; `vectors` (n, d) are those of the samples' texts."""
    texts = text_groups(samples)
    groups = joined(np.array([texts[sample.id] for sample in samples]), alike(vectors)).tolist() if samples else []
    return choose(samples, groups, share=share, at_least=at_least, seed=seed)


@dataclass(frozen=True)
class _Unsent:
    """A sample that the service does not have yet; `id` is its position."""

    id: int
    trait: str
    quality: float
    held_out: bool = False
    provenance: str = "authored"


def aside(samples: Sequence[SampleInput], *, seed: int = 0) -> Choice:
    """Choose test samples, by position, among samples that are not sent yet.

    Only equal texts go aside together. Near duplicates may be parted; the figures of a version leave these out.
    """
    unsent = [_Unsent(place, each.trait, each.quality, each.held_out) for place, each in enumerate(samples)]
    return choose(unsent, [each.text for each in samples], seed=seed)


def done(chosen: Choice, samples: Sequence[Sample], traits: Sequence[Trait]) -> str:
    """What was set aside: `Set 40 samples aside as test samples: Warmth 20 warm and 20 cold.`"""
    ids = frozenset(chosen.ids)
    own = [sample for sample in samples if sample.id in ids]
    parts = []
    for trait in traits:
        qualities = [sample.quality for sample in own if sample.trait == trait.key]
        if qualities:
            above, below = (sum(quality > 0.5 for quality in qualities), sum(quality < 0.5 for quality in qualities))
            parts.append(f"{trait.name} {above:,} {trait.positive_label} and {below:,} {trait.negative_label}")
    return f"Set {count(len(own), 'sample')} aside as test samples: {'; '.join(parts)}."


def shortages(too_few: Sequence[TooFew], traits: Sequence[Trait]) -> list[str]:
    """Why a trait keeps all its samples, one sentence for each."""
    by_key = {trait.key: trait for trait in traits}
    return [_shortage(each, by_key.get(each.trait)) for each in too_few]


def refusal(chosen: Choice, traits: Sequence[Trait]) -> str:
    """Why no sample is set aside; empty if some are."""
    if chosen.ids:
        return ""
    return " ".join(shortages(chosen.too_few, traits)) or (
        "The model has enough test samples already." if traits else "The model has no traits yet."
    )


def _shortage(each: TooFew, trait: Trait | None) -> str:
    name, positive, negative = (
        (each.trait, "positive", "negative")
        if trait is None
        else (trait.name, trait.positive_label, trait.negative_label)
    )
    half = each.needed // 2
    return (
        f"{name} has {count(each.positive, 'different text')} at {positive} and {each.negative:,} at {negative}; it"
        f" needs {each.needed:,} at each to set test samples aside ({half:,} to test and {half:,} to train)."
    )

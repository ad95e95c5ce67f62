"""Test samples: set some aside at random, say what was done, and name those that resemble training samples."""

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from cachetools import LRUCache, cached
from numpy.typing import NDArray

from traitbench.analysis.findings import Finding, Fix, quoted
from traitbench.contract.samples import Sample, SampleInput
from traitbench.contract.traits import Trait
from traitbench.display.text import count
from traitbench.fitting.collect import group_names, text_groups
from traitbench.fitting.duplicates import counterparts, joined, near_duplicates, together
from traitbench.fitting.held_out import AT_LEAST, SHARE, Choice, TooFew, choose
from traitbench.local import preview

__all__ = ["AT_LEAST", "SHARE", "aside", "choice", "done", "leaks_of", "refusal", "shortages"]

_MOST_RESULTS = 16
_MORE = "A version would know the answer, so its figures leave such texts out."

Vectors = NDArray[np.float32]


def choice(
    samples: Sequence[Sample], vectors: Vectors, *, share: float = SHARE, at_least: int = AT_LEAST, seed: int = 0
) -> Choice:
    """Choose test samples; `vectors` (n, d) are those of the samples' texts."""
    if not samples:
        return choose([], [])
    known = text_groups(samples)
    names = group_names(samples, known)
    texts = joined(np.array([known[sample.id] for sample in samples]), near_duplicates(vectors))
    groups = together(texts, [names.get(sample.id) for sample in samples])
    return choose(samples, groups.tolist(), texts.tolist(), share=share, at_least=at_least, seed=seed)


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

    Groups and equal texts go aside as a whole. Near duplicates may be parted; the figures of a version leave these out.
    """
    unsent = [_Unsent(index, each.trait, each.quality, each.held_out) for index, each in enumerate(samples)]
    numbers = {text: number for number, text in enumerate(dict.fromkeys(each.text for each in samples))}
    texts = np.array([numbers[each.text] for each in samples], np.int64)
    groups = together(texts, [each.group for each in samples])
    return choose(unsent, groups.tolist(), texts.tolist(), seed=seed)


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
    groups = len({sample.group for sample in own} - {None})
    whole = f" in {count(groups, 'whole group')}" if groups else ""
    return f"Set {count(len(own), 'sample')}{whole} aside as test samples: {'; '.join(parts)}."


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
    unit = "group" if each.groups else "different text"
    return (
        f"{name} has {count(each.positive, unit)} at {positive} and {each.negative:,} at {negative}; it"
        f" needs {each.needed:,} at each to set test samples aside ({half:,} to test and {half:,} to train)."
    )


def leaks_of(samples: Sequence[Sample], identity: str) -> list[Finding]:
    """Test samples with an equal text, a near duplicate, a variation or a group among the training samples, a finding
    each.

    `identity` is the hash of the samples by `preview.identity`.
    """
    marks = hashlib.sha256(repr([sample.id for sample in samples if sample.held_out]).encode()).hexdigest()
    by_id = {sample.id: sample for sample in samples}
    return [_finding(by_id[test], by_id[training]) for test, training in _leaks(f"{identity}:{marks}", samples)]


def _finding(test: Sample, training: Sample) -> Finding:
    if test.group and test.group == training.group:
        says = f"The test text {quoted(test.text)} belongs to a group that is trained with."
        several, fix = "test texts belong to groups that are trained with.", Fix("Train with it", test={test.id: False})
        return Finding("leak", test.trait, (test.id, training.id), "warning", says, fix, _MORE, several=several)
    says = f"The test text {quoted(test.text)} is nearly the same as a training text."
    fix = Fix("Test with both", test={training.id: True}, other=Fix("Train with both", test={test.id: False}))
    several = "test texts are nearly the same as training texts."
    return Finding("leak", test.trait, (test.id, training.id), "warning", says, fix, _MORE, several=several)


# With a condition, sessions that ask for the same wait for one computation.
@cached(LRUCache(_MOST_RESULTS), key=lambda identity, _: identity, condition=threading.Condition())
def _leaks(_identity: str, samples: Sequence[Sample]) -> list[tuple[int, int]]:
    """Pairs of ids: a test sample, and the training sample that it resembles most or shares its group with."""
    groups, pairs = text_groups(samples), list[tuple[int, int]]()
    for trait in sorted({sample.trait for sample in samples if sample.held_out}):
        tests, trained = (
            [sample for sample in samples if sample.trait == trait and sample.held_out is is_test]
            for is_test in (True, False)
        )
        twins, _ = counterparts(preview.vectors(tests), preview.vectors(trained))
        # Reversed, so that the first sample of a group is named.
        related = {groups[sample.id]: sample.id for sample in reversed(trained)}
        named = {sample.group: sample.id for sample in reversed(trained) if sample.group}
        for test, twin in zip(tests, twins.tolist(), strict=True):
            other = named.get(test.group or "") or related.get(groups[test.id])
            other = trained[twin].id if twin >= 0 else other
            if other is not None:
                pairs.append((test.id, other))
    return pairs

"""Test samples that resemble training samples: a version would know the answer."""

import hashlib
import threading
from collections.abc import Sequence
from typing import NamedTuple

from cachetools import LRUCache, cached

from traitbench.contract.samples import Sample
from traitbench.fitting.collect import text_groups
from traitbench.fitting.duplicates import counterparts
from traitbench.local import preview

_MOST_RESULTS = 16


class Leak(NamedTuple):
    """A test sample, and the training sample of its trait that it resembles."""

    test: Sample
    training: Sample


def leaks_of(samples: Sequence[Sample], identity: str) -> list[Leak]:
    """The test samples with an equal text, a near duplicate or a variation among the training samples.

    `identity` is the hash of the samples by `preview.identity`.
    """
    marks = hashlib.sha256(repr([sample.id for sample in samples if sample.held_out]).encode()).hexdigest()
    by_id = {sample.id: sample for sample in samples}
    return [Leak(by_id[test], by_id[training]) for test, training in _leaks(f"{identity}:{marks}", samples)]


@cached(LRUCache(_MOST_RESULTS), key=lambda identity, _: identity, condition=threading.Condition())
def _leaks(_identity: str, samples: Sequence[Sample]) -> list[tuple[int, int]]:
    """Pairs of ids: a test sample, and the training sample that it resembles most."""
    groups, pairs = text_groups(samples), list[tuple[int, int]]()
    for trait in sorted({sample.trait for sample in samples if sample.held_out}):
        tests, trained = (
            [sample for sample in samples if sample.trait == trait and sample.held_out is held]
            for held in (True, False)
        )
        twins, _ = counterparts(preview.vectors(tests), preview.vectors(trained))
        related = {groups[sample.id]: sample.id for sample in reversed(trained)}
        for test, twin in zip(tests, twins.tolist(), strict=True):
            if twin >= 0 or groups[test.id] in related:
                pairs.append((test.id, trained[twin].id if twin >= 0 else related[groups[test.id]]))
    return pairs

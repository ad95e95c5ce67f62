"""Test samples that resemble training samples: a version would know the answer."""

import hashlib
import threading
from collections.abc import Sequence

from cachetools import LRUCache, cached

from traitbench.analysis.findings import Finding, Fix, quoted
from traitbench.contract.samples import Sample
from traitbench.fitting.collect import text_groups
from traitbench.fitting.duplicates import counterparts
from traitbench.local import preview

_MOST_RESULTS = 16
_MORE = "A version would know the answer, so its figures leave such texts out."


def leaks_of(samples: Sequence[Sample], identity: str) -> list[Finding]:
    """Test samples with an equal text, a near duplicate or a variation among the training samples, a finding each.

    `identity` is the hash of the samples by `preview.identity`.
    """
    marks = hashlib.sha256(repr([sample.id for sample in samples if sample.held_out]).encode()).hexdigest()
    by_id = {sample.id: sample for sample in samples}
    return [_finding(by_id[test], by_id[training]) for test, training in _leaks(f"{identity}:{marks}", samples)]


def _finding(test: Sample, training: Sample) -> Finding:
    says = f"The test text {quoted(test.text)} is nearly the same as a training text."
    fix = Fix("Test with both", test={training.id: True}, other=Fix("Train with both", test={test.id: False}))
    several = "test texts are nearly the same as training texts."
    return Finding("leak", test.trait, (test.id, training.id), "warning", says, fix, _MORE, several=several)


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

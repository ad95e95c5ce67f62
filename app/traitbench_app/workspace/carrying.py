"""Decisions about the samples of a trained model, carried over into a draft of it.

Samples of a trained model are frozen. A draft that is made from it has the same samples in the same order, with new
ids.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from traitbench.contract.samples import Sample, SampleInput
from traitbench_app.workspace.changes import Changes, as_input

Decision = Literal["keep", "flip", "delete"]

_Identity = tuple[str, str, float, bool]


def carried(decisions: Mapping[int, Decision], of: Sequence[Sample], into: Sequence[Sample]) -> tuple[Changes, int]:
    """Return the changes of a draft's samples, and how many decisions have no sample there any more.

    `decisions` are by the id of a sample `of` the model. A synthesized text is deleted instead of relabelled, because a
    new sample would count as written by a person.
    """
    counterparts = _counterparts(of, into)
    edits: dict[int, SampleInput] = {}
    deletions: set[int] = set()
    lost = 0
    for sample_id, decision in decisions.items():
        if decision == "keep":
            continue
        there = counterparts.get(sample_id)
        if there is None:
            lost += 1
        elif decision == "delete" or there.provenance == "synthesized":
            deletions.add(there.id)
        else:
            edits[there.id] = as_input(there).model_copy(update={"quality": 1 - there.quality})
    return Changes(edits, frozenset(deletions)), lost


def _counterparts(of: Sequence[Sample], into: Sequence[Sample]) -> dict[int, Sample]:
    """The sample of the draft for each sample of the model, by id; equal samples are matched in their order."""
    there: dict[_Identity, list[Sample]] = {}
    for sample in sorted(into, key=lambda each: -each.id):
        there.setdefault(_identity(sample), []).append(sample)
    counterparts = {}
    for sample in sorted(of, key=lambda each: each.id):
        if same := there.get(_identity(sample)):
            counterparts[sample.id] = same.pop()
    return counterparts


def _identity(sample: Sample) -> _Identity:
    return sample.trait, sample.content_sha256, sample.quality, sample.held_out

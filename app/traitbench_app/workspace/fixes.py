"""The workbench's side of the sample check: it selects samples, encodes their texts, and turns fixes into changes.

`traitbench.analysis.checks` finds the problems, from vectors. The local encoder encodes each text once, in small
batches so that scores are not delayed.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import streamlit as st

from traitbench.analysis import checks
from traitbench.analysis.checks import Finding, Fix, Kind, Severity
from traitbench.contract.samples import Sample, SampleInput
from traitbench.contract.traits import Trait
from traitbench.local import preview
from traitbench_app.workspace.changes import Changes, as_input

_AT_ONCE, _CHARACTERS_AT_ONCE = 1_000, 400_000
_LONGEST = 16

MOST = 20_000
"""The number of samples that fit into memory at once; the newest are checked."""

SEVERITIES: tuple[Severity, ...] = get_args(Severity)

Progress = Callable[[int, int], object]

_ONE_BY_ONE: Mapping[Kind, str] = {
    "suspect": "A fit on all other samples puts it far towards the other pole.",
    "outlier": "It is unlike all other texts of the model, so it hardly helps to score others.",
}
"""The kinds of findings that are decided text by text, and the sentence for each."""


@dataclass(frozen=True)
class Examination:
    """The findings, worst first; the number of samples that were checked, and of those left out."""

    findings: tuple[Finding, ...]
    samples: int
    left_out: int

    @property
    def errors(self) -> int:
        """The number of findings that harm a training."""
        return sum(finding.severity == "error" for finding in self.findings)


def considered(traits: Sequence[Trait], samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples to check: the newest of extrinsic traits, without test samples."""
    given = {trait.key for trait in traits if trait.kind == "extrinsic"}
    return [sample for sample in samples if sample.trait in given and not sample.held_out][-MOST:]


def to_read(traits: Sequence[Trait], samples: Sequence[Sample]) -> int:
    """Return how many texts must be encoded first; 0 if they are so few that this needs no confirmation."""
    texts = preview.unread(considered(traits, samples))
    few = len(texts) <= _AT_ONCE and sum(len(each.text) for each in texts) <= _CHARACTERS_AT_ONCE
    return 0 if few else len(texts)


def examine(traits: Sequence[Trait], samples: Sequence[Sample], *, progress: Progress) -> Examination:
    """Check the samples. The result is cached until they change."""
    looked_at = considered(traits, samples)
    preview.read(preview.unread(looked_at), progress)
    results = _findings(preview.identity(traits, looked_at), traits, looked_at)
    by_id = {sample.id: sample for sample in looked_at}
    findings = tuple(one for finding in results for one in _one_by_one(finding, by_id))
    left_out = sum(not sample.held_out for sample in samples) - len(looked_at)
    return Examination(findings, len(looked_at), left_out)


def identity(finding: Finding) -> str:
    """Return a stable id of a finding; it changes only with its samples or, without samples, its sentence."""
    ids = ",".join(map(str, sorted(finding.sample_ids)))
    if not 0 < len(ids) <= _LONGEST:
        ids = hashlib.sha256((ids or finding.says).encode()).hexdigest()[:_LONGEST]
    return f"{finding.kind}:{finding.trait_key}:{ids}"


def changes_of(findings: Iterable[Finding], by_id: Mapping[int, Sample]) -> Changes:
    """Combine the fixes of findings; if two concern the same sample, the first wins.

    A synthesized text is deleted instead of relabelled, because a new sample would count as written by a person.
    """
    edits: dict[int, SampleInput] = {}
    deletions: set[int] = set()
    for finding in findings:
        if finding.fix is None:
            continue
        touched = {*finding.fix.delete, *finding.fix.relabel}
        if not touched <= by_id.keys() or touched & (deletions | edits.keys()):
            continue
        deletions.update(finding.fix.delete)
        for sample_id, quality in finding.fix.relabel.items():
            if by_id[sample_id].provenance == "synthesized":
                deletions.add(sample_id)
            else:
                edits[sample_id] = _relabelled(by_id[sample_id], quality)
    return Changes(edits, frozenset(deletions))


def kept_otherwise(finding: Finding, by_id: Mapping[int, Sample]) -> Finding | None:
    """Return the finding with the fix that keeps the text at the other pole; None if it has no text at both poles."""
    copies = [by_id[each] for each in finding.sample_ids if each in by_id]
    if finding.kind != "conflict" or not copies:
        return None
    side = copies[0].quality > 0.5
    others = [each for each in copies if each.quality != 0.5 and (each.quality > 0.5) != side]
    if not others:
        return None
    stays = max(others, key=lambda sample: (sample.provenance != "synthesized", sample.id))
    gone = tuple(each.id for each in copies if each.id != stays.id)
    ids = (stays.id, *gone)
    return replace(finding, sample_ids=ids, fix=Fix("Keep one copy, at the other pole.", gone))


def _relabelled(sample: Sample, quality: float) -> SampleInput:
    return as_input(sample).model_copy(update={"quality": quality})


def _one_by_one(finding: Finding, by_id: Mapping[int, Sample]) -> list[Finding]:
    """Return the finding, or one per text if each text must be decided separately."""
    says = _ONE_BY_ONE.get(finding.kind)
    if says is None:
        return [finding]
    return [
        replace(finding, sample_ids=(each,), says=says, fix=_fix_of_one(finding, by_id[each]))
        for each in finding.sample_ids
        if each in by_id
    ]


def _fix_of_one(finding: Finding, sample: Sample) -> Fix:
    if finding.kind == "suspect":
        quality = finding.fix.relabel.get(sample.id) if finding.fix else None
        return Fix(
            "If the label is wrong, change it to the other pole.",
            relabel={sample.id: 1 - sample.quality if quality is None else quality},
        )
    return Fix("If it does not belong here, delete it. If it does, add more like it.", delete=(sample.id,))


@st.cache_resource(max_entries=16, show_spinner=False)
def _findings(identity: str, _traits: Sequence[Trait], _samples: Sequence[Sample]) -> tuple[Finding, ...]:
    given = [trait for trait in _traits if trait.kind == "extrinsic"]
    return checks.examine(given, _samples, preview.vectors(_samples), preview.read_texts)

"""The sample doctor on this side: which samples it looks at, how their texts become vectors, and what a fix changes.

What is wrong with samples is found by `traitbench.scoring.doctor`, from numbers. Here they are brought to it: the texts
are read by the local encoder, each once, in turns that let scoring calls go first.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import streamlit as st

from traitbench.app import preview
from traitbench.app.sample_changes import Changes
from traitbench.contract.samples import Sample, SampleInput
from traitbench.contract.traits import Trait
from traitbench.scoring import doctor
from traitbench.scoring.doctor import Finding, Fix, Kind, Severity

_AT_ONCE, _CHARACTERS_AT_ONCE = 1_000, 400_000
_LONGEST = 16

MOST = 20_000
"""Samples that are looked at together, the newest: as many as there is room for in memory."""

SEVERITIES: tuple[Severity, ...] = get_args(Severity)

Progress = Callable[[int, int], object]

_ONE_BY_ONE: Mapping[Kind, str] = {
    "suspect": "Learnt from all others, the trait puts it far towards the other end.",
    "outlier": "It is unlike every other text of the model, so what it teaches helps few others.",
}
"""What is decided text by text, and what is said of each."""


@dataclass(frozen=True)
class Examination:
    """What was found, the worst first, in how many samples, and those that were too many to look at."""

    findings: tuple[Finding, ...]
    samples: int
    left_out: int

    @property
    def errors(self) -> int:
        """Findings that a training suffers from."""
        return sum(finding.severity == "error" for finding in self.findings)


def considered(traits: Sequence[Trait], samples: Sequence[Sample]) -> list[Sample]:
    """The samples that are looked at: of traits that a person gave, the newest."""
    given = {trait.key for trait in traits if trait.kind == "extrinsic"}
    return [sample for sample in samples if sample.trait in given][-MOST:]


def to_read(traits: Sequence[Trait], samples: Sequence[Sample]) -> int:
    """Texts that have to be read first and are too many for that to happen unasked; 0 when they are few."""
    texts = preview.unread(considered(traits, samples))
    few = len(texts) <= _AT_ONCE and sum(map(len, texts.values())) <= _CHARACTERS_AT_ONCE
    return 0 if few else len(texts)


def examine(traits: Sequence[Trait], samples: Sequence[Sample], *, progress: Progress) -> Examination:
    """Look at the samples; those of which nothing has changed since the last time cost nothing."""
    looked_at = considered(traits, samples)
    preview.read(preview.unread(looked_at), progress)
    found = _found(preview.identity(traits, looked_at), traits, looked_at)
    by_id = {sample.id: sample for sample in looked_at}
    findings = tuple(one for finding in found for one in _one_by_one(finding, by_id))
    return Examination(findings, len(looked_at), len(samples) - len(looked_at))


def identity(finding: Finding) -> str:
    """What stays the same of a finding as long as its samples, or what is said of the trait, do."""
    ids = ",".join(map(str, sorted(finding.sample_ids)))
    if not 0 < len(ids) <= _LONGEST:
        ids = hashlib.sha256((ids or finding.says).encode()).hexdigest()[:_LONGEST]
    return f"{finding.kind}:{finding.trait_key}:{ids}"


def changes_of(findings: Iterable[Finding], by_id: Mapping[int, Sample]) -> Changes:
    """What the fixes of these findings change together; of two that want the same sample the first has it.

    A new quality for a text that nobody wrote deletes it: it would come back as if somebody had.
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


def _relabelled(sample: Sample, quality: float) -> SampleInput:
    return SampleInput(trait=sample.trait, text=sample.text, quality=quality, source_url=sample.source_url)


def _one_by_one(finding: Finding, by_id: Mapping[int, Sample]) -> list[Finding]:
    """The finding, or one for each of its texts where one may be wrong and the next one right."""
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
            "If the label is wrong, turn it.", relabel={sample.id: 1 - sample.quality if quality is None else quality}
        )
    return Fix("If it does not belong here, delete it; if it does, add more of its kind.", delete=(sample.id,))


@st.cache_resource(max_entries=16, show_spinner=False)
def _found(identity: str, _traits: Sequence[Trait], _samples: Sequence[Sample]) -> tuple[Finding, ...]:
    given = [trait for trait in _traits if trait.kind == "extrinsic"]
    return doctor.examine(given, _samples, preview.vectors(_samples))

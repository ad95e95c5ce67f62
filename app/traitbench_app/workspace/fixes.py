"""The workbench's side of the check of samples: it selects samples, encodes their texts, and turns fixes into changes.

`traitbench.analysis.checks` finds the problems, from vectors. The local encoder encodes each text once, in small
batches so that scores are not delayed.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from traitbench.analysis import checks
from traitbench.analysis.findings import Finding, Fix
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.local import preview
from traitbench.local.held_out import leaks_of
from traitbench_app.workspace.changes import Changes, as_input

_AT_ONCE, _CHARACTERS_AT_ONCE = 1_000, 400_000
_LONGEST = 16

MOST = 20_000
"""The number of samples that fit into memory at once; the newest are checked."""

Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class Examination:
    """The findings, each decided on its own; the number of samples that were checked, and of those left out."""

    findings: tuple[Finding, ...]
    samples: int
    left_out: int


def considered(traits: Sequence[Trait], samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples to check: the newest of extrinsic traits."""
    given = {trait.key for trait in traits if trait.kind == "extrinsic"}
    return [sample for sample in samples if sample.trait in given][-MOST:]


def to_read(traits: Sequence[Trait], samples: Sequence[Sample]) -> int:
    """Return how many texts must be encoded first; 0 if they are so few that this needs no confirmation."""
    texts = preview.unread(considered(traits, samples))
    few = len(texts) <= _AT_ONCE and sum(len(each.text) for each in texts) <= _CHARACTERS_AT_ONCE
    return 0 if few else len(texts)


def examine(traits: Sequence[Trait], samples: Sequence[Sample], *, progress: Progress) -> Examination:
    """Check the samples. The result is cached until they change."""
    every = considered(traits, samples)
    trained = [sample for sample in every if not sample.held_out]
    preview.read(every, progress)
    findings = _findings(preview.identity(traits, trained), traits, trained)
    leaks = leaks_of(every, preview.identity(traits, every)) if len(every) > len(trained) else ()
    return Examination((*findings, *leaks), len(every), len(samples) - len(every))


def identity(finding: Finding) -> str:
    """Return a stable id of a finding. It changes only with its samples or, if it is about a whole pole or about a mark
    that others may share, with its sentence. That of several findings together stays while some of them are fixed.
    """
    about = "" if finding.alone else ",".join(map(str, sorted(finding.sample_ids)))
    if finding.parts:
        about = finding.severity
    elif not 0 < len(about) <= _LONGEST:
        about = hashlib.sha256((about or finding.says).encode()).hexdigest()[:_LONGEST]
    return f"{finding.kind}:{finding.trait_key}:{about}"


def changes_of(fix: Fix | None, by_id: Mapping[int, Sample]) -> Changes:
    """Return what a fix changes; nothing if one of its samples is gone."""
    if fix is None or not {*fix.delete, *fix.relabel, *fix.test, *fix.group} <= by_id.keys():
        return Changes()
    edits = {
        each: as_input(by_id[each]).model_copy(update={"quality": quality}) for each, quality in fix.relabel.items()
    }
    edits |= {each: as_input(by_id[each]).model_copy(update={"group": group}) for each, group in fix.group.items()}
    return Changes(edits, frozenset(fix.delete), {each: (is_test, False) for each, is_test in fix.test.items()})


@st.cache_resource(max_entries=16, show_spinner=False)
def _findings(identity: str, _traits: Sequence[Trait], _samples: Sequence[Sample]) -> tuple[Finding, ...]:
    given = [trait for trait in _traits if trait.kind == "extrinsic"]
    return checks.examine(given, _samples, preview.vectors(_samples), preview.read_texts)

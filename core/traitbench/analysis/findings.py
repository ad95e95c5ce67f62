"""What a check says about samples: each finding is a sentence with a fix, and findings of one kind make one sentence.

A finding is not proof. It says what is unusual and where; a person decides whether to apply the fix.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import numpy as np

from traitbench.analysis.nuisance import Counts
from traitbench.analysis.shortcuts import LOST, MarkKind
from traitbench.display.text import count, shortened
from traitbench.fitting.auroc import auroc
from traitbench.scoring.inputs import SampleLike

Kind = Literal[
    "no_samples",
    "shortcut",
    "inseparable",
    "conflict",
    "reversed",
    "negation",
    "leak",
    "together",
    "suspect",
    "length",
    "language",
    "source",
    "few",
    "unbalanced",
    "duplicate",
    "near_duplicate",
    "outlier",
]
Severity = Literal["error", "warning", "note"]
Pole = Literal["positive", "negative"]

KINDS: Mapping[Kind, str] = {
    "no_samples": "Pole without texts",
    "shortcut": "Word or mark that gives the pole away",
    "inseparable": "Poles whose texts look alike",
    "conflict": "Same text at both poles",
    "reversed": "Names that point the other way",
    "negation": "Label that only negates",
    "leak": "Test text like a training text",
    "together": "Texts that belong together",
    "suspect": "Label that looks wrong",
    "length": "Poles that differ in length",
    "language": "Poles that differ in language",
    "source": "Poles that differ in source",
    "few": "Pole with few texts",
    "unbalanced": "Poles of unequal size",
    "duplicate": "Duplicate text",
    "near_duplicate": "Near duplicate",
    "outlier": "Text unlike all others",
}
"""The title of every kind of finding. Equally severe findings on as many texts are sorted in this order."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

_LONGEST = 80
_SHARED = 0.75


class CheckedSample(SampleLike, Protocol):
    """A sample with its text; `trait` may be a name too."""

    @property
    def text(self) -> str:
        """The text."""
        ...

    @property
    def source_url(self) -> str | None:
        """The address it came from."""
        ...

    @property
    def group(self) -> str | None:
        """What it belongs to, as a conversation."""
        ...


@dataclass(frozen=True)
class Wanted:
    """Samples to add: the pole, their number, and about how many words each, None for any length."""

    pole: Pole
    count: int
    words: int | None = None


@dataclass(frozen=True)
class Fix:
    """What to do, as a button says it: ids to delete, new qualities by id, whether samples by id are test samples,
    their groups by id, samples that a person should write, or poles to rename. `other` is the second way, if there are
    two.
    """

    says: str
    delete: tuple[int, ...] = ()
    relabel: Mapping[int, float] = field(default_factory=dict)
    test: Mapping[int, bool] = field(default_factory=dict)
    group: Mapping[int, str] = field(default_factory=dict)
    add: Wanted | None = None
    rename: bool = False
    other: "Fix | None" = None


@dataclass(frozen=True)
class Alone:
    """What alone tells the poles apart: its kind, its AUROC, how many texts at each pole it puts on their side, and the
    out-of-fold AUROC of the texts as they are and without it, None if not measured.

    `value` gives it as a number, which is higher at the positive pole.
    """

    kind: MarkKind | Literal["length", "language", "source"]
    auroc: float
    counts: Counts
    base: float | None
    without: float | None
    value: Callable[[CheckedSample], float] = field(compare=False, repr=False)

    @property
    def carries(self) -> bool:
        """Whether the poles are much harder to tell apart without it, or whether nothing is left to measure that on."""
        return self.without is None or self.base is None or self.base - self.without >= LOST

    def is_in(self, samples: Sequence[CheckedSample]) -> bool | None:
        """Whether it tells other samples apart as well; None without samples at both poles."""
        y = np.array([sample.quality for sample in samples], np.float64)
        if not ((y > 0.5).any() and (y < 0.5).any()):
            return None
        return auroc(np.array([self.value(sample) for sample in samples], np.float64), y) >= _SHARED


@dataclass(frozen=True)
class Cost:
    """What a problem costs: how many of how many texts are right because of it, or without it, and what that means.

    `lost` is how many more texts would be right; 0 if that was not measured.
    """

    right: int
    of: int
    says: str
    lost: int = 0


@dataclass(frozen=True)
class Finding:
    """Something that a person should check; the most conspicuous sample comes first in `sample_ids`.

    `says` is one sentence, and `more` what helps to decide. `texts` counts the texts concerned if it names no samples.
    `several` is the sentence for several findings like this one after their number, empty if each stands alone; `parts`
    are those findings. `auroc` is the out-of-fold AUROC of the labels, and `alone` what alone tells the poles apart, if
    the finding is about that. `title` says it in a few words, empty if the title of its kind does. `cost` is None if it
    is not known.
    """

    kind: Kind
    trait_key: str
    sample_ids: tuple[int, ...]
    severity: Severity
    says: str
    fix: Fix | None = None
    more: str = ""
    texts: int = 0
    several: str = ""
    parts: tuple["Finding", ...] = ()
    auroc: float | None = None
    alone: Alone | None = None
    title: str = ""
    cost: Cost | None = None

    @property
    def in_short(self) -> str:
        """What it is, without a full stop."""
        return self.title or (self.says.removesuffix(".") if self.parts else KINDS[self.kind])


def grouped(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings of one kind about one trait as one: the gravest first, then the costliest, then by the number of
    texts concerned.

    Without samples at a pole a trait cannot be trained at all, so that is first.
    """
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for each in findings:
        groups.setdefault((each.kind, each.trait_key, each.severity, each.several or each.says), []).append(each)
    kinds = list(KINDS)

    def rank(finding: Finding) -> tuple[int, bool, int, int, int]:
        lost = finding.cost.lost if finding.cost else 0
        concerned = -(finding.texts or len(finding.sample_ids))
        return (
            SEVERITIES.index(finding.severity),
            finding.kind != "no_samples",
            -lost,
            concerned,
            kinds.index(finding.kind),
        )

    return tuple(sorted((_together(group) for group in groups.values()), key=rank))


def quoted(text: str) -> str:
    """The start of a text in quotation marks."""
    return f"“{shortened(text, _LONGEST)}”"


def _together(parts: Sequence[Finding]) -> Finding:
    if len(parts) == 1:
        return parts[0]
    fixes = [part.fix for part in parts if part.fix]
    others = [fix.other for fix in fixes if fix.other and fix.other.test]
    return replace(
        parts[0],
        sample_ids=tuple(dict.fromkeys(each for part in parts for each in part.sample_ids)),
        says=f"{len(parts):,} {parts[0].several}",
        more=parts[0].more if len({part.more for part in parts}) == 1 else "",
        fix=replace(_merged(fixes), other=_merged(others) if others else None) if fixes else None,
        parts=tuple(parts),
    )


def _merged(fixes: Sequence[Fix]) -> Fix:
    """All these fixes as one."""
    delete = tuple(dict.fromkeys(each for fix in fixes for each in fix.delete))
    relabel = {key: quality for fix in fixes for key, quality in fix.relabel.items()}
    test = {key: is_test for fix in fixes for key, is_test in fix.test.items()}
    if test:
        is_test = all(test.values())
        training, tests = count(len(test), "training text"), count(len(test), "test text")
        says = f"Test with {training}" if is_test else f"Train with {tests}"
    else:
        says = f"Change {count(len(relabel), 'label')}" if relabel else f"Remove {count(len(delete), 'text')}"
    return Fix(says, delete, relabel, test)

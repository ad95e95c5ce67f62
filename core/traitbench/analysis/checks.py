"""Check samples before a training: findings, most severe first, each with a suggested fix.

Pure: texts, labels and vectors are the input. A finding is not proof. It names the samples and says what is unusual
about them; a person decides whether to apply the fix. No message quotes a text: a shortcut names only a token that
most texts of a pole share.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from traitbench.analysis import nuisance
from traitbench.analysis.shortcuts import AT_LEAST, BY_NATURE, LOST, MarkKind, Shortcut, marks_of, shortcuts
from traitbench.analysis.suspects import LabelCheck, isolated, out_of_fold_check
from traitbench.fitting.auroc import auroc, interval
from traitbench.fitting.duplicates import Vectors, alike, joined, plain
from traitbench.fitting.negation import negates
from traitbench.scoring.inputs import Floats, SampleLike, TraitLike

Kind = Literal[
    "no_samples",
    "shortcut",
    "inseparable",
    "conflict",
    "negation",
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
    "no_samples": "Pole without samples",
    "shortcut": "A mark tells the poles apart",
    "inseparable": "Labels that cannot be told apart",
    "conflict": "Same text at both poles",
    "negation": "Label that only negates",
    "suspect": "Labels that look wrong",
    "length": "Poles differ in length",
    "language": "Poles differ in language",
    "source": "Poles differ in source",
    "few": "Few samples",
    "unbalanced": "Poles of unequal size",
    "duplicate": "Duplicate texts",
    "near_duplicate": "Near duplicates",
    "outlier": "Texts unlike all others",
}
"""The title of every kind of finding. Findings of the same severity are sorted in this order."""

_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
ENOUGH = 10
"""Different texts at each pole from which the figures of a trait are worth reading. Screens recommend this number."""

_UNBALANCED = 4
_CHANCE, _CERTAIN = 0.6, 30
_MOST_SUSPECTS = 20
_MOST_OUTLIERS = 5
_AS_GOOD = 0.05
_FEWEST_TO_ADD = 3
_FEWEST_WORDS = 3
_SHARED = 0.75
_MOST_TOKENS = 3
_MOST_READ = 128
_FEWEST = 5

Embed = Callable[[Sequence[str]], Vectors]
"""Texts to their vectors (n, d)."""


class Sample(SampleLike, Protocol):
    """A sample with its text; `trait` may be a name too."""

    @property
    def text(self) -> str:
        """The text."""
        ...

    @property
    def source_url(self) -> str | None:
        """The address it came from."""
        ...


@dataclass(frozen=True)
class LabelledText:
    """A sample with the fields that a check reads."""

    id: int
    trait: str
    text: str
    quality: float
    provenance: str = "authored"
    source_url: str | None = None


@dataclass(frozen=True)
class Wanted:
    """Samples to add: the pole, their number, and about how many words each, None for any length."""

    pole: Pole
    count: int
    words: int | None = None


@dataclass(frozen=True)
class Fix:
    """What to do: a sentence, ids to delete, new qualities by id, and samples that a person should write."""

    says: str
    delete: tuple[int, ...] = ()
    relabel: Mapping[int, float] = field(default_factory=dict)
    add: Wanted | None = None


@dataclass(frozen=True)
class Alone:
    """What alone tells the poles apart: its kind, its AUROC, and the out-of-fold AUROC of the texts as they are and
    without it, None if not measured.

    `value` gives it as a number, which is higher at the positive pole.
    """

    kind: MarkKind | Literal["length", "language", "source"]
    auroc: float
    base: float | None
    without: float | None
    value: Callable[[Sample], float] = field(compare=False, repr=False)

    @property
    def carries(self) -> bool:
        """Whether the poles are much harder to tell apart without it, or whether nothing is left to measure that on."""
        return self.without is None or self.base is None or self.base - self.without >= LOST

    def is_in(self, samples: Sequence[Sample]) -> bool | None:
        """Whether it tells other samples apart as well; None without samples at both poles."""
        y = np.array([sample.quality for sample in samples], np.float64)
        if not ((y > 0.5).any() and (y < 0.5).any()):
            return None
        return auroc(np.array([self.value(sample) for sample in samples], np.float64), y) >= _SHARED


@dataclass(frozen=True)
class Finding:
    """Something that a person should check; the most conspicuous sample comes first in `sample_ids`.

    `auroc` is the out-of-fold AUROC of the labels, if the finding is about that. `alone` is what alone tells the poles
    apart, if the finding is about that.
    """

    kind: Kind
    trait_key: str
    sample_ids: tuple[int, ...]
    severity: Severity
    says: str
    fix: Fix | None = None
    auroc: float | None = None
    alone: Alone | None = None


def examine(
    traits: Sequence[TraitLike], samples: Sequence[Sample], X: Vectors, embed: Embed | None = None
) -> tuple[Finding, ...]:
    """All findings on samples with vectors (n, d). Samples of a trait that is not in `traits` are ignored.

    With `embed`, findings say how well the poles can be told apart without a shortcut. Equal samples give equal
    findings, in whatever order they come.
    """
    order = sorted(range(len(samples)), key=lambda number: samples[number].id)
    keys = {**{trait.name: trait.key for trait in traits}, **{trait.key: trait.key for trait in traits}}
    findings: list[tuple[int, int, int, Finding]] = []
    kinds = list(KINDS)
    # Someone waits for the check. Both halves are mostly products of matrices, so each gets a thread.
    with threadpool_limits(limits=1), ThreadPoolExecutor(1) as thread:
        is_isolated = thread.submit(isolated, X[order])
        for number, trait in enumerate(traits):
            own = np.array([i for i, at in enumerate(order) if keys.get(samples[at].trait) == trait.key], np.intp)
            rows = [order[i] for i in own.tolist()]
            check = _TraitCheck(trait, [samples[at] for at in rows], X[rows])
            for finding in (*_of_trait(check, embed), *_outliers(check, is_isolated.result()[own])):
                findings.append((_SEVERITIES.index(finding.severity), kinds.index(finding.kind), number, finding))
    return tuple(finding for *_, finding in sorted(findings, key=lambda each: (*each[:3], each[3].sample_ids)))


def to_read(samples: Sequence[SampleLike]) -> list[int]:
    """The ids of the samples whose texts `shortcuts_of` reads: an even selection of each pole of each trait."""
    poles: dict[tuple[str, bool], list[int]] = {}
    for sample in samples:
        if sample.quality != 0.5 and sample.provenance != "synthesized":
            poles.setdefault((sample.trait, sample.quality > 0.5), []).append(sample.id)
    return [each for ids in poles.values() for each in _some(np.array(ids)).tolist()]


def shortcuts_of(
    traits: Sequence[TraitLike],
    samples: Sequence[Sample],
    X: Vectors,
    embed: Embed | None = None,
    tests: Sequence[Sample] = (),
) -> dict[str, dict[str, Any]]:
    """What alone tells the poles of a trait apart, as its metrics have it: by trait key, the worst of each trait.

    `samples` with vectors (n, d) are those of `to_read`, and `tests` are of the test samples.
    """
    result: dict[str, dict[str, Any]] = {}
    with threadpool_limits(limits=1):
        for trait in traits:
            rows = [row for row, sample in enumerate(samples) if sample.trait == trait.key]
            check = _TraitCheck(trait, [samples[row] for row in rows], X[rows])
            if min(int(check.at(pole).sum()) for pole in _POLES) < _FEWEST:
                continue
            judgement = out_of_fold_check(check.X, check.y, check.groups, check.made)
            every = [each.alone for each in _nuisances(check, judgement, embed) if each.alone is not None]
            if every:
                worst = max(every, key=lambda each: (each.carries, each.auroc))
                figures = {"kind": worst.kind, "auroc": worst.auroc, "base": worst.base, "without": worst.without}
                in_tests = worst.is_in([sample for sample in tests if sample.trait == trait.key])
                result[trait.key] = figures | {"in_tests": in_tests}
    return result


@dataclass(frozen=True, eq=False)
class _TraitCheck:
    """The check of one trait: its samples, by id."""

    trait: TraitLike
    samples: Sequence[Sample]
    X: Vectors
    y: Floats = field(init=False)
    made: NDArray[np.bool_] = field(init=False)
    same: NDArray[np.int64] = field(init=False)
    near: NDArray[np.int64] = field(init=False)
    groups: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        texts = [plain(sample.text) for sample in self.samples]
        numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        same = np.array([numbers[text] for text in texts], np.int64)
        near = alike(self.X)
        made = [sample.provenance == "synthesized" for sample in self.samples]
        for name, value in {
            "y": np.array([sample.quality for sample in self.samples], np.float64),
            "made": np.array(made, bool),
            "same": same,
            "near": near,
            "groups": joined(same, near),
        }.items():
            object.__setattr__(self, name, value)

    def at(self, pole: Pole) -> NDArray[np.bool_]:
        """(n,): whether a sample is at the pole."""
        return self.y > 0.5 if pole == "positive" else self.y < 0.5

    def distinct(self, pole: Pole) -> int:
        """The number of different real texts at the pole."""
        return len(np.unique(self.groups[self.at(pole) & ~self.made]))

    def label(self, pole: Pole) -> str:
        """The label of the pole."""
        return self.trait.positive_label if pole == "positive" else self.trait.negative_label

    def ids(self, rows: Sequence[int] | NDArray[np.integer]) -> tuple[int, ...]:
        """The ids of the samples at these rows."""
        return tuple(self.samples[int(row)].id for row in rows)


_POLES: tuple[Pole, Pole] = ("positive", "negative")


def _of_trait(check: _TraitCheck, embed: Embed | None) -> Iterator[Finding]:
    judgement = out_of_fold_check(check.X, check.y, check.groups, check.made)
    yield from _labels(check)
    yield from _sizes(check)
    yield from _inseparable(check, judgement)
    kept = {rows[0]: _kept(check, rows, judgement) for rows in _groups(check.same)}
    yield from _copies(check, judgement, kept)
    yield from _near(check, kept)
    yield from _suspects(check, judgement)
    yield from _nuisances(check, judgement, embed)


def _finding(
    check: _TraitCheck, kind: Kind, severity: Severity, ids: tuple[int, ...], says: str, fix: Fix | None = None
) -> Finding:
    return Finding(kind, check.trait.key, ids, severity, says, fix)


# ---- the trait ---------------------------------------------------------------------------------------------------


def _labels(check: _TraitCheck) -> Iterator[Finding]:
    for pole in _POLES:
        if negates(check.label(pole)):
            says = (
                f"The label of the {pole} pole, {check.label(pole)}, only says what a text is not. Such a pole"
                " collects whatever is left, and its label does not help the training."
            )
            yield _finding(check, "negation", "warning", (), says, Fix("Rename the label: say what such a text is."))


def _sizes(check: _TraitCheck) -> Iterator[Finding]:
    counts = {pole: check.distinct(pole) for pole in _POLES}
    for pole, count in counts.items():
        there = int(check.at(pole).sum())
        if not there:
            says = f"The {pole} pole, {check.label(pole)}, has no samples, so the trait cannot be trained."
            yield _finding(check, "no_samples", "error", (), says, _more(check, pole, ENOUGH))
        elif count < 2:
            made = " (synthesized ones do not count)" if check.made[check.at(pole)].any() else ""
            says = (
                f"The {pole} pole, {check.label(pole)}, has {_number(count, 'distinct text')}{made}. At least two"
                " are needed to measure anything."
            )
            yield _finding(check, "few", "warning", (), says, _more(check, pole, ENOUGH - count))
        elif count < ENOUGH:
            says = (
                f"The {pole} pole, {check.label(pole)}, has {count} distinct texts. With fewer than"
                f" {ENOUGH}, the figures are unreliable."
            )
            yield _finding(check, "few", "note", (), says, _more(check, pole, ENOUGH - count))
    small, large = sorted(_POLES, key=lambda pole: counts[pole])
    if counts[small] >= ENOUGH and counts[large] >= _UNBALANCED * counts[small]:
        says = (
            f"The {small} pole, {check.label(small)}, has {counts[small]} distinct texts and the other {counts[large]}."
            " A new text helps most at the smaller pole."
        )
        missing = counts[large] // _UNBALANCED + 1 - counts[small]
        yield _finding(check, "unbalanced", "note", (), says, _more(check, small, missing))


def _more(check: _TraitCheck, pole: Pole, count: int, words: int | None = None) -> Fix:
    long = f" of about {_number(words, 'word')}" if words else ""
    return Fix(f"Add {_number(count, 'text')}{long} labelled {check.label(pole)}.", add=Wanted(pole, count, words))


# ---- duplicates --------------------------------------------------------------------------------------------------


def _copies(check: _TraitCheck, judgement: LabelCheck | None, kept: Mapping[int, int]) -> Iterator[Finding]:
    for rows in (group for group in _groups(check.same) if len(group) > 1):
        stays = kept[rows[0]]
        gone = [row for row in rows if row != stays]
        ids, delete = check.ids([stays, *gone]), check.ids(gone)
        sides = [int(check.at(pole)[rows].sum()) for pole in _POLES]
        if all(sides):
            side = "positive" if check.y[stays] > 0.5 else "negative"
            says = (
                f"The same text is {_times(sides[0])} at the positive and {_times(sides[1])} at the negative pole, so"
                " its labels cancel out."
            )
            fix = Fix(f"Keep one copy, at the {side} pole, {_why(check, rows, stays, judgement)}.", delete)
            yield _finding(check, "conflict", "error", ids, says, fix)
        else:
            says = f"The same text appears {_times(len(rows))}, ignoring case, spaces and punctuation. It counts once."
            yield _finding(check, "duplicate", "note", ids, says, Fix("Keep one copy and delete the others.", delete))


def _kept(check: _TraitCheck, rows: Sequence[int], judgement: LabelCheck | None) -> int:
    """The copy to keep: a real one, at the pole of most copies or, if there is a tie, at the pole that a fit to the
    other samples suggests.

    Of a text with two labels the newest copy is kept, of any other the oldest.
    """
    sides = np.sign(check.y[list(rows)] - 0.5)
    lean = sides.sum() or _leaning(rows, judgement)
    torn = len(set(sides.tolist()) - {0.0}) > 1

    def worth(row: int) -> tuple[bool, bool, int]:
        agrees = bool(lean * (check.y[row] - 0.5) > 0) if torn else bool(check.y[row] != 0.5)
        return agrees, not check.made[row], row if torn else -row

    return max(rows, key=worth)


def _leaning(rows: Sequence[int], judgement: LabelCheck | None) -> float:
    return 0.0 if judgement is None else float(np.sign(judgement.scores[list(rows)].mean() - 0.5))


def _why(check: _TraitCheck, rows: Sequence[int], kept: int, judgement: LabelCheck | None) -> str:
    if np.sign(check.y[list(rows)] - 0.5).sum():
        return "where most of its copies are"
    if _leaning(rows, judgement) * (check.y[kept] - 0.5) > 0:
        return "where the other samples suggest it belongs"
    return "where it was added last"


def _near(check: _TraitCheck, kept: Mapping[int, int]) -> Iterator[Finding]:
    """Near duplicates among real texts, without copies; variations are meant to resemble their seed."""
    stay = np.zeros(len(check.y), bool)
    stay[list(kept.values())] = True
    for rows in (group for group in _groups(check.near, stay & ~check.made) if len(group) > 1):
        ids = check.ids(rows)
        if len({bool(side) for side in check.y[rows] > 0.5}) > 1:
            says = (
                f"{len(rows)} texts are nearly the same but at different poles. A label may be wrong. If the small"
                " difference is what the trait measures, keep them: they help."
            )
            yield _finding(check, "near_duplicate", "warning", ids, says, Fix("Read them and correct wrong labels."))
        else:
            says = f"{len(rows)} texts are nearly the same. They count once and help little more than one text."
            yield _finding(
                check, "near_duplicate", "note", ids, says, Fix("Keep the first and delete the others.", delete=ids[1:])
            )


def _groups(labels: NDArray[np.int64], mask: NDArray[np.bool_] | None = None) -> list[list[int]]:
    """The rows of each label, in the order of their first row."""
    rows_of: dict[int, list[int]] = {}
    for row in range(len(labels)) if mask is None else np.flatnonzero(mask).tolist():
        rows_of.setdefault(int(labels[row]), []).append(row)
    return list(rows_of.values())


# ---- labels, and other differences between the poles -------------------------------------------------------------


def _inseparable(check: _TraitCheck, judgement: LabelCheck | None) -> Iterator[Finding]:
    """Labels that a fit to the other samples hardly predicts; an error if there are enough texts to be sure."""
    if judgement is None or judgement.auroc >= _CHANCE:
        return
    severity: Severity = "error" if min(check.distinct(pole) for pole in _POLES) >= _CERTAIN else "warning"
    says = (
        f"The labels cannot be told apart: {judgement.auroc:.2f}, where 0.50 is chance and 1.00 is perfect. A fit to"
        " the other samples does not predict them."
    )
    fix = Fix("Label ten of these texts again without looking, then compare. If they differ, name the poles better.")
    yield replace(_finding(check, "inseparable", severity, (), says, fix), auroc=judgement.auroc)


def _suspects(check: _TraitCheck, judgement: LabelCheck | None) -> Iterator[Finding]:
    if judgement is None:
        return
    torn = {row for rows in _groups(check.same) if len(rows) > 1 for row in rows}
    rows = [row for row in judgement.suspects.tolist() if row not in torn and not check.made[row]][:_MOST_SUSPECTS]
    if not rows:
        return
    says = (
        f"{_number(len(rows), 'text')} {'looks' if len(rows) == 1 else 'look'} mislabelled: a fit to the other samples"
        f" scores {'it' if len(rows) == 1 else 'each'} close to the other pole. Usually the label is wrong; sometimes"
        " the text is hard to judge."
    )
    relabel = {check.samples[row].id: round(1 - check.samples[row].quality, 6) for row in rows}
    fix = Fix("Read and, where the label is wrong, switch it to the other pole.", relabel=relabel)
    yield _finding(check, "suspect", "warning", check.ids(rows), says, fix)


def _nuisances(check: _TraitCheck, judgement: LabelCheck | None, embed: Embed | None) -> Iterator[Finding]:
    if min(int(check.at(pole).sum()) for pole in _POLES) < 2:
        return
    reading = _Reading.of(check, embed)
    names = (check.trait.name, *map(check.label, _POLES))
    area_of_length = nuisance.of_length([len(sample.text) for sample in check.samples], check.y)
    for each in shortcuts(reading.texts, reading.y, names, reading.measure if embed else None):
        yield _by_mark(check, each, reading.rows)
    if area_of_length:
        yield from _by_length(check, area_of_length, judgement, reading)
    done = set()
    for kind, what, of in _GROUPINGS:
        groups = [of(sample) for sample in check.samples]
        if kind not in done and (group := nuisance.of_group(groups, check.y)):
            done.add(kind)
            yield _by_group(check, judgement, group, kind, what, of)


_Grouping = Literal["language", "source"]
_GROUPINGS: tuple[tuple[_Grouping, str, Callable[[Sample], str | None]], ...] = (
    ("language", "language or script", lambda sample: nuisance.language(sample.text)),
    ("source", "source", lambda sample: nuisance.source(sample.provenance, sample.source_url)),
    ("source", "source", lambda sample: nuisance.folder(sample.provenance, sample.source_url)),
)


@dataclass(frozen=True, eq=False)
class _Reading:
    """The texts among which shortcuts are looked for: rows of the check, and what encodes changed texts."""

    check: _TraitCheck
    rows: NDArray[np.intp]
    embed: Embed | None

    @classmethod
    def of(cls, check: _TraitCheck, embed: Embed | None) -> "_Reading":
        """Read the distinct real texts at the poles, an even selection of many."""
        is_first = np.zeros(len(check.y), bool)
        is_first[np.unique(check.same, return_index=True)[1]] = True
        poles = [np.flatnonzero(is_first & ~check.made & check.at(pole)) for pole in _POLES]
        return cls(check, np.sort(np.concatenate([_some(rows) for rows in poles])), embed)

    @cached_property
    def texts(self) -> list[str]:
        """The texts."""
        return [self.check.samples[int(row)].text for row in self.rows]

    @property
    def y(self) -> Floats:
        """(n,): their qualities."""
        return self.check.y[self.rows]

    def measure(self, texts: Sequence[str]) -> float | None:
        """The out-of-fold AUROC of these texts in place of those of the samples; None if it cannot be measured."""
        if self.embed is None:
            return None
        X = self.check.X[self.rows]
        changed = [place for place, text in enumerate(self.texts) if text != texts[place]]
        if changed:
            X[changed] = self.embed([texts[place] for place in changed])
        judgement = out_of_fold_check(X, self.y, alike(X), np.zeros(len(X), bool))
        return None if judgement is None else judgement.auroc


def _some(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """An even selection of many."""
    return rows[:: max(1, -(-len(rows) // _MOST_READ))]


def _by_mark(check: _TraitCheck, shortcut: Shortcut, rows: NDArray[np.intp]) -> Finding:
    one, other = (f"{count:,} of {total:,}" for count, total in zip(shortcut.counts, shortcut.of, strict=True))
    positive = shortcut.counts[0] / shortcut.of[0] > shortcut.counts[1] / shortcut.of[1]
    fuller, emptier = _POLES if positive else _POLES[::-1]
    tokens = [mark.value for mark in shortcut.others if mark.form == "token"][:_MOST_TOKENS]
    more = f" So do other tokens of the same texts: {', '.join(tokens)}." if tokens else ""
    says = (
        f"{shortcut.mark.says} in {one} texts labelled {check.label('positive')} and in {other} labelled"
        f" {check.label('negative')}. That alone tells the poles apart (AUROC {shortcut.area:.2f}).{more}"
        f"{_remains(f'Without {shortcut.mark.name}', shortcut.base, shortcut.without)}"
    )
    has = rows[shortcut.has]
    having = has[check.at(fuller)[has]]
    sign = 1.0 if positive else -1.0
    alone = Alone(
        shortcut.mark.kind,
        shortcut.area,
        shortcut.base,
        shortcut.without,
        lambda sample: sign * (shortcut.mark in marks_of(sample.text)),
    )
    fix = Fix(
        f"If {check.trait.name} does not mean this: remove it from the texts, or add texts with it that are labelled"
        f" {check.label(emptier)} and texts without it that are labelled {check.label(fuller)}.",
        add=Wanted(emptier, max(_FEWEST_TO_ADD, len(having) // 4)),
    )
    severity: Severity = "error" if shortcut.without is not None and alone.carries else "warning"
    return replace(_finding(check, "shortcut", severity, check.ids(having), says, fix), alone=alone)


def _remains(without: str, base: float | None, left: float | None) -> str:
    """How well the poles can be told apart without something, as the end of a finding."""
    if base is None or left is None:
        return ""
    if base - left >= LOST:
        return f" {without}, a fit to the other samples reaches only {left:.2f} instead of {base:.2f}."
    return (
        f" {without}, a fit to the other samples still reaches {left:.2f} ({base:.2f} now). Is it part of what the"
        " trait means?"
    )


def _by_length(
    check: _TraitCheck, auroc_of_length: float, judgement: LabelCheck | None, reading: _Reading
) -> Iterator[Finding]:
    area, lengths = None if judgement is None else judgement.auroc, np.array([len(each.text) for each in check.samples])
    medians = {pole: int(np.median(lengths[check.at(pole)])) for pole in _POLES}
    short, long = sorted(_POLES, key=lambda pole: medians[pole])
    rows = np.flatnonzero(check.at(long))
    typical = rows[np.argsort(lengths[rows], kind="stable")[len(rows) // 2]]
    words = len(check.samples[int(typical)].text.split())
    cut, base, without = _at_one_length(check, short, reading)
    sign = 1.0 if long == "positive" else -1.0
    alone = Alone("length", auroc_of_length, base, without, lambda sample: sign * len(sample.text))
    counts = [int(check.at(pole).sum()) for pole in _POLES]
    is_lost = base is not None and without is not None and base - without >= LOST
    if interval(auroc_of_length, counts[0], counts[1])[0] < (AT_LEAST if is_lost else BY_NATURE):
        return
    says = (
        f"The median {long} text has {medians[long]:,} characters, the median {short} text {medians[short]:,}. Length"
        f" alone separates the poles ({_compared(auroc_of_length, area)})."
        f"{_remains(f'With every text cut to {cut} words', base, without)}"
    )
    few = max(_FEWEST_TO_ADD, int(check.at(short).sum()) // 4)
    finding = _finding(check, "length", _severity(auroc_of_length, area), (), says, _more(check, short, few, words))
    yield replace(finding, alone=alone)


def _at_one_length(check: _TraitCheck, short: Pole, reading: _Reading) -> tuple[int, float | None, float | None]:
    """A number of words that most texts of the shorter pole have, and the AUROC of all texts, whole and cut to it."""
    counts = [len(check.samples[int(row)].text.split()) for row in reading.rows[check.at(short)[reading.rows]]]
    cut = max(_FEWEST_WORDS, int(np.quantile(counts or [0], 0.25)))
    if reading.embed is None:
        return cut, None, None
    return cut, reading.measure(reading.texts), reading.measure([_cut(text, cut) for text in reading.texts])


def _cut(text: str, words: int) -> str:
    pieces = text.split()
    return text if len(pieces) <= words else " ".join(pieces[:words])


def _by_group(
    check: _TraitCheck,
    judgement: LabelCheck | None,
    group: nuisance.Group,
    kind: _Grouping,
    what: str,
    of: Callable[[Sample], str | None],
) -> Finding:
    area = None if judgement is None else judgement.auroc
    without = None
    if judgement is not None:
        without = nuisance.within(judgement.scores, check.y, [of(sample) for sample in check.samples])
    fuller, other = ("positive", "negative") if group.positive > group.negative else ("negative", "positive")
    left = (
        f" Among texts of one {what}, a fit to the other samples reaches {without:.2f}."
        if without is not None
        else f" No {what} has enough texts of both poles to measure what is left without it."
    )
    says = (
        f"{group.positive:.0%} of the positive and {group.negative:.0%} of the negative texts are"
        f" {group.name}. The {what} alone separates the poles ({_compared(group.area, area)}).{left}"
    )
    fix = Fix(f"Add {group.name} texts to the {other} pole, or other texts to the {fuller} pole.")
    sign = 1.0 if fuller == "positive" else -1.0
    alone = Alone(kind, group.area, area, without, lambda sample: sign * (of(sample) == group.name))
    return replace(_finding(check, kind, _severity(group.area, area), (), says, fix), alone=alone)


def _compared(auroc: float, area: float | None) -> str:
    return f"AUROC {auroc:.2f}" if area is None else f"AUROC {auroc:.2f}; with the whole text {area:.2f}"


def _severity(auroc: float, area: float | None) -> Severity:
    return "warning" if area is None or auroc >= area - _AS_GOOD else "note"


def _outliers(check: _TraitCheck, is_isolated: NDArray[np.bool_]) -> Iterator[Finding]:
    """Texts unlike all others of the model, by `is_isolated` (n,)."""
    rows = np.flatnonzero(is_isolated & ~check.made)[:_MOST_OUTLIERS]
    if len(rows):
        if len(rows) == 1:
            says = "1 text is unlike all other texts of the model and hardly helps to score them."
            fix = Fix("Check whether it belongs here. If it does, add similar texts; if not, delete it.")
        else:
            says = f"{len(rows)} texts are unlike all other texts of the model and hardly help to score them."
            fix = Fix("Check whether they belong here. If they do, add similar texts; if not, delete them.")
        yield _finding(check, "outlier", "note", check.ids(rows), says, fix)


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")

"""Check samples before a training: findings, each with a suggested fix.

Pure: texts, labels and vectors are the input. A finding about one text or a few quotes how they begin.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from traitbench.analysis import nuisance
from traitbench.analysis.findings import (
    KINDS,
    SEVERITIES,
    Alone,
    CheckedSample,
    Finding,
    Fix,
    Kind,
    Pole,
    Severity,
    Wanted,
    quoted,
)
from traitbench.analysis.languages import language
from traitbench.analysis.nuisance import Counts
from traitbench.analysis.shortcuts import AT_LEAST, BY_NATURE, LOST, Accuracy, Shortcut, marks_of, shortcuts
from traitbench.analysis.suspects import LabelCheck, isolated, out_of_fold_check
from traitbench.display.languages import name_of
from traitbench.display.text import count, shortened
from traitbench.fitting.auroc import auroc, interval
from traitbench.fitting.duplicates import Vectors, alike, joined, plain
from traitbench.fitting.phrases import negates
from traitbench.fitting.pole_names import pole_labels, pole_vector
from traitbench.scoring.inputs import Floats, SampleLike, TraitLike
from traitbench.scoring.words import first_words
from traitbench.scoring.words import words as words_of

ENOUGH = 10
"""Different texts at each pole from which the figures of a trait are worth reading. Screens recommend this number."""

_UNBALANCED = 4
_CHANCE, _CERTAIN = 0.6, 30
_MOST_SUSPECTS = 20
_MOST_OUTLIERS = 5
_AS_GOOD = 0.05
_FEWEST_TO_ADD = 3
_FEWEST_WORDS = 3
_LONGEST = 24
_MOST_TOKENS = 3
_MOST_READ = 128
_FEWEST = 5
_TWICE = 1.75
# None of 1,260 draws of 8, 16 and 64 texts a pole from seven sets reaches this with names that fit.
_OTHER_WAY, _NEITHER_WAY = 0.25, 0.5

Embed = Callable[[Sequence[str]], Vectors]
"""Texts to their vectors (n, d)."""


@dataclass(frozen=True)
class LabelledText:
    """A sample with the fields that a check reads."""

    id: int
    trait: str
    text: str
    quality: float
    provenance: str = "authored"
    source_url: str | None = None


def examine(
    traits: Sequence[TraitLike], samples: Sequence[CheckedSample], X: Vectors, embed: Embed | None = None
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
                findings.append((SEVERITIES.index(finding.severity), kinds.index(finding.kind), number, finding))
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
    samples: Sequence[CheckedSample],
    X: Vectors,
    embed: Embed | None = None,
    tests: Sequence[CheckedSample] = (),
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
                result[trait.key] = {
                    "kind": worst.kind,
                    "auroc": worst.auroc,
                    "base": worst.base,
                    "without": worst.without,
                    "in_tests": worst.is_in([sample for sample in tests if sample.trait == trait.key]),
                    "sides": {
                        pole: {"samples": of, "right": right}
                        for pole, (right, of) in zip(_POLES, worst.counts, strict=True)
                    },
                }
    return result


@dataclass(frozen=True, eq=False)
class _TraitCheck:
    """The check of one trait: its samples, by id."""

    trait: TraitLike
    samples: Sequence[CheckedSample]
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
        return shortened(self.trait.positive_label if pole == "positive" else self.trait.negative_label, _LONGEST)

    @property
    def name(self) -> str:
        """The name of the trait."""
        return shortened(self.trait.name, _LONGEST)

    @property
    def instead(self) -> str:
        """What a difference between the poles may do to a model."""
        return f"a model may learn that instead of {self.name}"

    def label_of(self, row: int) -> str:
        """The label of the pole that the sample at this row is at."""
        y = float(self.y[row])
        return "no side" if y == 0.5 else self.label("positive" if y > 0.5 else "negative")

    def quote(self, row: int) -> str:
        """How the text at this row begins."""
        return quoted(self.samples[row].text)

    def sides(self, counts: Counts) -> str:
        """`23 of 25 warm and 22 of 25 cold`."""
        return " and ".join(
            f"{right:,} of {of:,} {self.label(pole)}" for pole, (right, of) in zip(_POLES, counts, strict=True)
        )

    def ids(self, rows: Sequence[int] | NDArray[np.integer]) -> tuple[int, ...]:
        """The ids of the samples at these rows."""
        return tuple(self.samples[int(row)].id for row in rows)


_POLES: tuple[Pole, Pole] = ("positive", "negative")


def _of_trait(check: _TraitCheck, embed: Embed | None) -> Iterator[Finding]:
    judgement = out_of_fold_check(check.X, check.y, check.groups, check.made)
    yield from _labels(check)
    yield from _reversed(check, embed)
    yield from _sizes(check)
    yield from _inseparable(check, judgement)
    kept = {rows[0]: _kept(check, rows, judgement) for rows in _groups(check.same)}
    yield from _copies(check, judgement, kept)
    yield from _near(check, kept)
    yield from _suspects(check, judgement)
    yield from _nuisances(check, judgement, embed)


def _finding(
    check: _TraitCheck,
    kind: Kind,
    severity: Severity,
    ids: tuple[int, ...],
    says: str,
    fix: Fix | None = None,
    *,
    several: str = "",
    more: str = "",
    texts: int = 0,
) -> Finding:
    """A finding; its sentence begins with a capital, and has no full stop after the ellipsis of a label."""
    says, more, several = (each.replace("….", "…") for each in (f"{says[0].upper()}{says[1:]}", more, several))
    return Finding(kind, check.trait.key, ids, severity, says, fix, more, texts, several=several)


# ---- the trait ---------------------------------------------------------------------------------------------------


def _labels(check: _TraitCheck) -> Iterator[Finding]:
    for pole, label in zip(_POLES, (check.trait.positive_label, check.trait.negative_label), strict=True):
        if negates(label):
            says = (
                f"“{check.label(pole)}” only says what a text of {check.name} is not, so it gathers whatever is left."
            )
            there, fix = int(check.at(pole).sum()), Fix("Rename the pole", rename=True)
            more = "A label that says what such a text is helps the training."
            yield _finding(check, "negation", "warning", (), says, fix, more=more, texts=there)


def _reversed(check: _TraitCheck, embed: Embed | None) -> Iterator[Finding]:
    """Names that the texts contradict: most texts of each pole read more like the name of the other."""
    labels = pole_labels(check.trait)
    rows = np.unique(check.groups, return_index=True)[1]
    rows = rows[~check.made[rows] & (check.y[rows] != 0.5)]
    y = check.y[rows]
    poles = [int((y > 0.5).sum()), int((y < 0.5).sum())]
    if embed is None or min(poles) < _FEWEST or any(map(negates, labels)):
        return
    positive, negative = (pole_vector(embed, label) for label in labels)
    values = check.X[rows].astype(np.float64) @ (positive - negative)
    area = auroc(values, y)
    if area > _OTHER_WAY or interval(area, poles[0], poles[1])[1] >= _NEITHER_WAY:
        return
    middle = (values[y > 0.5].mean() + values[y < 0.5].mean()) / 2
    counts = nuisance.on_their_side(values < middle, y)
    says = (
        f"the names of {check.name} point the other way: {check.sides(counts)} texts read more like the name of the"
        " other pole."
    )
    more = "If the names are in the wrong places, exchange them. If they are right, the labels of the texts are wrong."
    fix = Fix("Rename the poles", rename=True)
    yield _finding(check, "reversed", "warning", (), says, fix, more=more, texts=sum(poles))


def _sizes(check: _TraitCheck) -> Iterator[Finding]:
    counts = {pole: check.distinct(pole) for pole in _POLES}
    for pole, distinct in counts.items():
        there = int(check.at(pole).sum())
        fix = _more(check, pole, ENOUGH - distinct)
        if not there:
            says = f"{check.name} has no {check.label(pole)} texts, so it cannot be trained."
            yield _finding(check, "no_samples", "error", (), says, fix, texts=len(check.samples))
        elif distinct < 2:
            made = " (synthesized ones do not count)" if check.made[check.at(pole)].any() else ""
            texts = count(distinct, f"{check.label(pole)} text")
            says = f"{check.name} has {texts}{made}: at least 2 are needed to measure anything."
            yield _finding(check, "few", "warning", (), says, fix, texts=there)
        elif distinct < ENOUGH:
            texts = f"{distinct} different {check.label(pole)} texts"
            says = f"{check.name} has only {texts}: from {ENOUGH} on, its figures mean more."
            yield _finding(check, "few", "note", (), says, fix, texts=there)
    small, large = sorted(_POLES, key=lambda pole: counts[pole])
    if counts[small] >= ENOUGH and counts[large] >= _UNBALANCED * counts[small]:
        one, other = (f"{counts[pole]:,} {check.label(pole)}" for pole in (large, small))
        says = f"{check.name} has {one} texts, but only {other} ones."
        fix = _more(check, small, counts[large] // _UNBALANCED + 1 - counts[small])
        yield _finding(check, "unbalanced", "note", (), says, fix, texts=counts[small])


def _more(check: _TraitCheck, pole: Pole, number: int, words: int | None = None, *, kind: str = "") -> Fix:
    long = f" of about {count(words, 'word')}" if words else ""
    text = f"{kind} {check.label(pole)} text".strip()
    return Fix(f"Add {count(number, text)}{long}", add=Wanted(pole, number, words))


# ---- duplicates --------------------------------------------------------------------------------------------------


def _copies(check: _TraitCheck, judgement: LabelCheck | None, kept: Mapping[int, int]) -> Iterator[Finding]:
    positive, negative = map(check.label, _POLES)
    for rows in (group for group in _groups(check.same) if len(group) > 1):
        stays = kept[rows[0]]
        ids, fix = _keep(check, rows, stays)
        other = _kept_otherwise(check, rows, stays)
        if other is not None:
            says = f"{check.quote(stays)} stands under {positive} and under {negative}."
            fix = replace(
                fix,
                says=f"Keep {check.label_of(stays)}",
                other=replace(_keep(check, rows, other)[1], says=f"Keep {check.label_of(other)}"),
            )
            several = f"texts stand under {positive} and under {negative}."
            more = _why(check, rows, stays, judgement)
            yield _finding(check, "conflict", "error", ids, says, fix, several=several, more=more)
        else:
            times = {2: "twice"}.get(len(rows), f"{len(rows):,} times")
            says = f"{check.quote(stays)} stands {times} under {check.label_of(stays)}."
            several = f"texts of {check.name} are there more than once."
            yield _finding(check, "duplicate", "note", ids, says, fix, several=several)


def _keep(check: _TraitCheck, rows: Sequence[int], stays: int) -> tuple[tuple[int, ...], Fix]:
    """The ids of copies, that of the copy to keep first, and the fix that keeps it."""
    delete = check.ids([row for row in rows if row != stays])
    return (*check.ids([stays]), *delete), Fix(f"Remove the {'duplicates' if len(delete) > 1 else 'duplicate'}", delete)


def _kept_otherwise(check: _TraitCheck, rows: Sequence[int], stays: int) -> int | None:
    """The copy to keep at the other pole: the newest real one; None if there is none at the other pole."""
    others = [row for row in rows if (check.y[row] - 0.5) * (check.y[stays] - 0.5) < 0]
    return max(others, key=lambda row: (not check.made[row], row), default=None)


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

    return max((row for row in rows if not torn or check.y[row] != 0.5), key=worth)


def _leaning(rows: Sequence[int], judgement: LabelCheck | None) -> float:
    return 0.0 if judgement is None else float(np.sign(judgement.scores[list(rows)].mean() - 0.5))


def _why(check: _TraitCheck, rows: Sequence[int], kept: int, judgement: LabelCheck | None) -> str:
    """Why the copy to keep is at its pole."""
    label = check.label_of(kept)
    if np.sign(check.y[list(rows)] - 0.5).sum():
        return f"Most copies are {label}."
    if _leaning(rows, judgement) * (check.y[kept] - 0.5) > 0:
        return f"The other samples suggest {label}."
    return f"The newest is {label}."


def _near(check: _TraitCheck, kept: Mapping[int, int]) -> Iterator[Finding]:
    """Near duplicates among real texts, without copies; variations are meant to resemble their seed."""
    stay = np.zeros(len(check.y), bool)
    stay[list(kept.values())] = True
    for rows in (group for group in _groups(check.near, stay & ~check.made) if len(group) > 1):
        ids, texts = check.ids(rows), f"{check.quote(rows[0])} and {_others(check, rows)}"
        if len({bool(side) for side in check.y[rows] > 0.5}) > 1:
            poles = f"under {check.label('positive')} and under {check.label('negative')}"
            says = f"{texts} are nearly the same, but stand {poles}."
            several = f"groups of nearly equal texts stand {poles}."
            more = "If the small difference is what the trait measures, keep them: they help. If not, correct a label."
            yield _finding(check, "near_duplicate", "warning", ids, says, several=several, more=more)
        else:
            says = f"{texts} are nearly the same, so they count once."
            several = f"groups of texts of {check.name} are nearly the same, so each counts once."
            fix = Fix("Keep the first", delete=ids[1:])
            yield _finding(check, "near_duplicate", "note", ids, says, fix, several=several)


def _others(check: _TraitCheck, rows: Sequence[int]) -> str:
    return check.quote(rows[1]) if len(rows) == 2 else f"{len(rows) - 1:,} others"


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
    positive, negative = map(check.label, _POLES)
    says = (
        f"{positive} and {negative} texts look alike: a model that has not seen them gets only"
        f" {check.sides(judgement.counts)} ones right."
    )
    more = (
        f"Label ten of them again without looking. If the labels differ, say more clearly what {positive} and"
        f" {negative} mean."
    )
    fix, texts = Fix("Rename the poles", rename=True), sum(of for _, of in judgement.counts)
    yield replace(
        _finding(check, "inseparable", severity, (), says, fix, more=more, texts=texts), auroc=judgement.auroc
    )


def _suspects(check: _TraitCheck, judgement: LabelCheck | None) -> Iterator[Finding]:
    if judgement is None:
        return
    torn = {row for rows in _groups(check.same) if len(rows) > 1 for row in rows}
    rows = [row for row in judgement.suspects.tolist() if row not in torn and not check.made[row]][:_MOST_SUSPECTS]
    for row in rows:
        better = check.label("negative" if check.y[row] > 0.5 else "positive")
        says = f"{check.quote(row)} is labelled {check.label_of(row)}, but reads like {better}."
        several = f"labels of {check.name} look wrong."
        more = "Read each text: the label may be wrong, or the text is hard for a model."
        fix = Fix(f"Change to {better}", relabel={check.samples[row].id: round(1 - check.samples[row].quality, 6)})
        yield _finding(check, "suspect", "warning", check.ids([row]), says, fix, several=several, more=more)


def _nuisances(check: _TraitCheck, judgement: LabelCheck | None, embed: Embed | None) -> Iterator[Finding]:
    if min(int(check.at(pole).sum()) for pole in _POLES) < 2:
        return
    reading = _Reading.of(check, embed)
    names = (check.trait.name, check.trait.positive_label, check.trait.negative_label)
    area_of_length = nuisance.of_length([len(sample.text) for sample in check.samples], check.y)
    for each in shortcuts(reading.texts, reading.y, names, reading.measure if embed else None):
        yield _by_mark(check, each, reading)
    if area_of_length:
        yield from _by_length(check, area_of_length, judgement, reading)
    done = set()
    for kind, of in _GROUPINGS:
        groups = [of(sample) for sample in check.samples]
        if kind not in done and (group := nuisance.of_group(groups, check.y)):
            done.add(kind)
            yield _by_group(check, judgement, group, kind, groups, of)
        elif kind == "language":
            yield from _by_language(check, groups)


_Grouping = Literal["language", "source"]
_GROUPINGS: tuple[tuple[_Grouping, Callable[[CheckedSample], str | None]], ...] = (
    ("language", lambda sample: language(sample.text)),
    ("source", lambda sample: nuisance.source(sample.provenance, sample.source_url)),
    ("source", lambda sample: nuisance.folder(sample.provenance, sample.source_url)),
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

    def measure(self, texts: Sequence[str]) -> Accuracy | None:
        """How well these texts, in place of those of the samples, are told apart; None if it cannot be measured."""
        if self.embed is None:
            return None
        X = self.check.X[self.rows]
        changed = [place for place, text in enumerate(self.texts) if text != texts[place]]
        if changed:
            X[changed] = self.embed([texts[place] for place in changed])
        judgement = out_of_fold_check(X, self.y, alike(X), np.zeros(len(X), bool))
        return None if judgement is None else Accuracy(judgement.auroc, judgement.counts)


def _some(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """An even selection of many."""
    return rows[:: max(1, -(-len(rows) // _MOST_READ))]


def _by_mark(check: _TraitCheck, shortcut: Shortcut, reading: _Reading) -> Finding:
    positive = shortcut.counts[0] / shortcut.of[0] > shortcut.counts[1] / shortcut.of[1]
    fuller, emptier = _POLES if positive else _POLES[::-1]
    sign = 1.0 if positive else -1.0
    has = reading.rows[shortcut.has]
    having = has[check.at(fuller)[has]]
    alone = Alone(
        shortcut.mark.kind,
        shortcut.area,
        nuisance.on_their_side(shortcut.has == positive, reading.y),
        shortcut.base and shortcut.base.auroc,
        shortcut.without and shortcut.without.auroc,
        lambda sample: sign * (shortcut.mark in marks_of(sample.text)),
    )
    (one, n), (other, m) = sorted(zip(shortcut.counts, shortcut.of, strict=True), key=lambda each: -each[0] / each[1])
    says = (
        f"{shortcut.mark.says} in {one:,} of {n:,} {check.label(fuller)} texts and in {other:,} of {m:,}"
        f" {check.label(emptier)} ones: {check.instead}."
    )
    words = [f"“{mark.value}”" for mark in shortcut.others if mark.form == "token"][:_MOST_TOKENS]
    more = [
        _remains(check, f"Without {shortcut.mark.name}", shortcut.base, shortcut.without),
        f"The same texts have {', '.join(words)}." if words else "",
        f"If {check.name} does mean that, ignore this. If not, change these texts, or add {check.label(emptier)} ones"
        " with it.",
    ]
    fix = Fix(
        f"Add {check.label(emptier)} texts with it",
        add=Wanted(emptier, max(_FEWEST_TO_ADD, len(having) // 4)),
    )
    severity: Severity = "error" if shortcut.loses else "warning"
    finding = _finding(check, "shortcut", severity, check.ids(having), says, fix, more=" ".join(filter(None, more)))
    return replace(finding, alone=alone)


def _remains(check: _TraitCheck, without: str, base: Accuracy | None, left: Accuracy | None) -> str:
    """How many texts are on their side without something."""
    if base is None or left is None:
        return ""
    now = check.sides(left.counts)
    if base.auroc - left.auroc >= LOST:
        return f"{without}, a model gets only {now} ones right, instead of {check.sides(base.counts)}."
    return f"{without}, a model still gets {now} ones right."


def _by_length(
    check: _TraitCheck, auroc_of_length: float, judgement: LabelCheck | None, reading: _Reading
) -> Iterator[Finding]:
    area, lengths = None if judgement is None else judgement.auroc, np.array([len(each.text) for each in check.samples])
    medians = {pole: int(np.median(lengths[check.at(pole)])) for pole in _POLES}
    short, long = sorted(_POLES, key=lambda pole: medians[pole])
    rows = np.flatnonzero(check.at(long))
    typical = rows[np.argsort(lengths[rows], kind="stable")[len(rows) // 2]]
    words = len(words_of(check.samples[int(typical)].text))
    cut, base, without = _at_one_length(check, short, reading)
    sign = 1.0 if long == "positive" else -1.0
    alone = Alone(
        "length",
        auroc_of_length,
        nuisance.by_cut(sign * lengths, check.y),
        base and base.auroc,
        without and without.auroc,
        lambda sample: sign * len(sample.text),
    )
    poles = [int(check.at(pole).sum()) for pole in _POLES]
    is_lost = base is not None and without is not None and base.auroc - without.auroc >= LOST
    if interval(auroc_of_length, poles[0], poles[1])[0] < (AT_LEAST if is_lost else BY_NATURE):
        return
    says = (
        f"{check.label(long)} texts are {_times_as_long(medians[long] / max(1, medians[short]))} {check.label(short)}"
        f" ones: the length alone gets {check.sides(alone.counts)} ones right."
    )
    few = max(_FEWEST_TO_ADD, int(check.at(short).sum()) // 4)
    more = _remains(check, f"With every text cut to {count(cut, 'word')}", base, without)
    finding = _finding(
        check,
        "length",
        _severity(auroc_of_length, area),
        (),
        says,
        _more(check, short, few, words),
        more=more,
        texts=sum(poles),
    )
    yield replace(finding, alone=alone)


def _times_as_long(ratio: float) -> str:
    times = round(ratio)
    if ratio < _TWICE:
        return "longer than"
    return f"about {'twice' if times == 2 else f'{times:,} times'} as long as"


def _at_one_length(check: _TraitCheck, short: Pole, reading: _Reading) -> tuple[int, Accuracy | None, Accuracy | None]:
    """A number of words that most texts of the shorter pole have, and how well all texts, whole and cut to it, are told
    apart.
    """
    counts = [len(words_of(check.samples[int(row)].text)) for row in reading.rows[check.at(short)[reading.rows]]]
    cut = max(_FEWEST_WORDS, int(np.quantile(counts or [0], 0.25)))
    if reading.embed is None:
        return cut, None, None
    return cut, reading.measure(reading.texts), reading.measure([first_words(text, cut) for text in reading.texts])


def _by_group(
    check: _TraitCheck,
    judgement: LabelCheck | None,
    group: nuisance.Group,
    kind: _Grouping,
    groups: Sequence[str | None],
    of: Callable[[CheckedSample], str | None],
) -> Finding:
    """A finding on the group that separates the poles; `groups` (n,) are those of the samples, as `of` gives them."""
    area = None if judgement is None else judgement.auroc
    within = None
    if judgement is not None:
        within = nuisance.within(judgement.scores, check.y, groups)
    fuller, other = _POLES if group.positive > group.negative else _POLES[::-1]
    sign = 1.0 if fuller == "positive" else -1.0
    own = np.array([each == group.name for each in groups])
    alone = Alone(
        kind,
        group.area,
        nuisance.on_their_side(own == (sign > 0), check.y),
        area,
        within and within[0],
        lambda sample: sign * (of(sample) == group.name),
    )
    one, two = (f"{int(own[check.at(pole)].sum()):,} of {int(check.at(pole).sum()):,}" for pole in (fuller, other))
    says = (
        f"{one} {check.label(fuller)} texts {_are(kind, group.name)}, and {two} {check.label(other)} ones:"
        f" {check.instead}."
    )
    more = (
        f"No {kind} has enough {check.label('positive')} and {check.label('negative')} texts to see what is left"
        " without it."
        if within is None
        else f"Among texts of one {kind}, a model gets {check.sides(within[1])} ones right."
    )
    few = max(_FEWEST_TO_ADD, int(check.at(other).sum()) // 4)
    fix = _more(check, other, few, kind=name_of(group.name) if kind == "language" else "such")
    finding = _finding(
        check, kind, _severity(group.area, area), (), says, fix, more=more, texts=int(own[check.at(fuller)].sum())
    )
    return replace(finding, alone=alone)


def _by_language(check: _TraitCheck, groups: Sequence[str | None]) -> Iterator[Finding]:
    """Findings on languages that nearly only one pole has, by `groups` (n,): the languages of the samples."""
    for group in nuisance.one_sided(groups, check.y):
        fuller, other = _POLES if group.positive > group.negative else _POLES[::-1]
        own = np.array([each == group.name for each in groups]) & (check.y != 0.5)
        rows, name = np.flatnonzero(own & check.at(fuller)), name_of(group.name)
        says = (
            f"{len(rows):,} of {int(own.sum()):,} {name} texts are {check.label(fuller)}: a model may score {name}"
            f" texts {check.label(fuller)} for their language."
        )
        more = f"{name} texts at both poles show what {check.name} means in {name}."
        fix = _more(check, other, max(_FEWEST_TO_ADD, len(rows) // 4), kind=name)
        yield _finding(check, "language", "warning", check.ids(rows), says, fix, more=more)


def _are(kind: _Grouping, name: str) -> str:
    """`are German`, `come from a.example`."""
    if kind == "language":
        return f"are {name_of(name)}"
    own = {"synthesized": "are synthesized", "feedback": "come from feedback", "no address": "have no address"}
    return own.get(name, f"come from {shortened(name, _LONGEST)}")


def _severity(auroc: float, area: float | None) -> Severity:
    return "warning" if area is None or auroc >= area - _AS_GOOD else "note"


def _outliers(check: _TraitCheck, is_isolated: NDArray[np.bool_]) -> Iterator[Finding]:
    """Texts unlike all others of the model, by `is_isolated` (n,)."""
    for row in np.flatnonzero(is_isolated & ~check.made)[:_MOST_OUTLIERS].tolist():
        ids = check.ids([row])
        says = f"{check.quote(row)} is unlike all other texts, so it hardly helps."
        several = f"texts of {check.name} are unlike all others, so they hardly help."
        more = "If such texts belong here, add more like them."
        fix = Fix("Remove the text", delete=ids)
        yield _finding(check, "outlier", "note", ids, says, fix, several=several, more=more)

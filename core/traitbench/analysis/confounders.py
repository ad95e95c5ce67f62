"""Confounders: what tells the poles of a trait apart beside the trait, so that a model may learn it instead.

Marks of the text (words, links, signs), its length, its language and its source. A finding says how well each alone
gets the texts right, and what is left without it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from traitbench.analysis import nuisance
from traitbench.analysis.findings import Alone, CheckedSample, Cost, Finding, Fix, Pole, Severity, Wanted
from traitbench.analysis.languages import language
from traitbench.analysis.nuisance import Counts
from traitbench.analysis.shortcuts import AT_LEAST, BY_NATURE, LOST, Accuracy, Shortcut, marks_of, shortcuts
from traitbench.analysis.suspects import LabelCheck, out_of_fold_check
from traitbench.analysis.trait_check import FEWEST, LONGEST, POLES, Embed, TraitCheck, finding_on, to_add
from traitbench.display.languages import name_of
from traitbench.display.text import count, shortened
from traitbench.fitting.auroc import interval
from traitbench.fitting.duplicates import Vectors, near_duplicates, together
from traitbench.fitting.work import one_thread
from traitbench.scoring.inputs import Floats, SampleLike, TraitLike
from traitbench.scoring.words import first_words
from traitbench.scoring.words import words as words_of

_AS_GOOD = 0.05
_FEWEST_TO_ADD = 3
_FEWEST_WORDS = 3
_MOST_TOKENS = 3
_MOST_READ = 128
# Below it, "about twice" would say too much.
_TWICE = 1.75


@dataclass(frozen=True)
class LabelledText:
    """A sample with the fields that a check reads."""

    id: int
    trait: str
    text: str
    quality: float
    provenance: str = "authored"
    source_url: str | None = None
    group: str | None = None


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
    *,
    by_language: bool = True,
) -> dict[str, dict[str, Any]]:
    """What alone tells the poles of a trait apart, as its metrics have it: by trait key, the worst of each trait.

    `samples` with vectors (n, d) are those of `to_read`, and `tests` are of the test samples. Without `by_language`, no
    language is named, which would load a large table.
    """
    result: dict[str, dict[str, Any]] = {}
    with one_thread():
        for trait in traits:
            rows = [row for row, sample in enumerate(samples) if sample.trait == trait.key]
            check = TraitCheck(trait, [samples[row] for row in rows], X[rows])
            if min(int(check.at(pole).sum()) for pole in POLES) < FEWEST:
                continue
            judgement = out_of_fold_check(check.X, check.y, check.groups, check.made, check.texts)
            every = [
                each.alone
                for each in confounders(check, judgement, embed, by_language=by_language)
                if each.alone is not None
            ]
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
                        for pole, (right, of) in zip(POLES, worst.counts, strict=True)
                    },
                }
    return result


def confounders(
    check: TraitCheck, judgement: LabelCheck | None, embed: Embed | None, *, by_language: bool = True
) -> Iterator[Finding]:
    """Yield a finding on each mark, length, group and language that separates the poles."""
    if min(int(check.at(pole).sum()) for pole in POLES) < 2:
        return
    reading = _Reading.of(check, embed)
    names = (check.trait.name, check.trait.positive_label, check.trait.negative_label)
    area_of_length = nuisance.of_length([len(sample.text) for sample in check.samples], check.y)
    for each in shortcuts(reading.texts, reading.y, names, reading.measure if embed else None):
        yield _by_mark(check, each, reading)
    if area_of_length:
        yield from _by_length(check, area_of_length, judgement, reading)
    done = set()
    for kind, of in _GROUPINGS if by_language else _GROUPINGS[1:]:
        groups = [of(sample) for sample in check.samples]
        # The folder of an address is looked at only where its host tells nothing apart.
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

    check: TraitCheck
    rows: NDArray[np.intp]
    embed: Embed | None

    @classmethod
    def of(cls, check: TraitCheck, embed: Embed | None) -> "_Reading":
        """Read the distinct real texts at the poles, an even selection of many."""
        is_first = np.zeros(len(check.y), bool)
        is_first[np.unique(check.same, return_index=True)[1]] = True
        poles = [np.flatnonzero(is_first & ~check.made & check.at(pole)) for pole in POLES]
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
        changed = [index for index, text in enumerate(self.texts) if text != texts[index]]
        if changed:
            X[changed] = self.embed([texts[index] for index in changed])
        near = near_duplicates(X)
        groups = together(near, [self.check.samples[int(row)].group for row in self.rows])
        judgement = out_of_fold_check(X, self.y, groups, np.zeros(len(X), bool), near)
        return None if judgement is None else Accuracy(judgement.auroc, judgement.counts)


def _some(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """An even selection of many."""
    return rows[:: max(1, -(-len(rows) // _MOST_READ))]


def _by_mark(check: TraitCheck, shortcut: Shortcut, reading: _Reading) -> Finding:
    positive = shortcut.counts[0] / shortcut.of[0] > shortcut.counts[1] / shortcut.of[1]
    fuller, emptier = POLES if positive else POLES[::-1]
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
    finding = finding_on(check, "shortcut", severity, check.ids(having), says, fix, more=" ".join(filter(None, more)))
    title = f"{_upper(shortcut.mark.name)} gives {check.name} away"
    return replace(finding, alone=alone, title=title, cost=_cost(alone.counts, "it", shortcut.base, shortcut.without))


def _cost(alone: Counts, name: str, base: Accuracy | None, without: Accuracy | None) -> Cost:
    """What something costs that alone tells the poles apart; if that is not measured, how many it gets right alone."""
    if base is None or without is None:
        right, of = _total(alone)
        return Cost(right, of, f"right by {name} alone.")
    (left, of), (now, _) = _total(without.counts), _total(base.counts)
    return Cost(left, of, f"right with {name} hidden, {now:,} as it is.", max(0, now - left))


def _total(counts: Counts) -> tuple[int, int]:
    (one, of), (two, others) = counts
    return one + two, of + others


def _upper(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"


def _remains(check: TraitCheck, without: str, base: Accuracy | None, left: Accuracy | None) -> str:
    """How many texts are on their side without something."""
    if base is None or left is None:
        return ""
    now = check.sides(left.counts)
    if base.auroc - left.auroc >= LOST:
        return f"{without}, a model gets only {now} ones right, instead of {check.sides(base.counts)}."
    return f"{without}, a model still gets {now} ones right."


def _by_length(
    check: TraitCheck, auroc_of_length: float, judgement: LabelCheck | None, reading: _Reading
) -> Iterator[Finding]:
    area, lengths = None if judgement is None else judgement.auroc, np.array([len(each.text) for each in check.samples])
    medians = {pole: int(np.median(lengths[check.at(pole)])) for pole in POLES}
    short, long = sorted(POLES, key=lambda pole: medians[pole])
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
    poles = [int(check.at(pole).sum()) for pole in POLES]
    is_lost = base is not None and without is not None and base.auroc - without.auroc >= LOST
    if interval(auroc_of_length, poles[0], poles[1])[0] < (AT_LEAST if is_lost else BY_NATURE):
        return
    says = (
        f"{check.label(long)} texts are {_times_as_long(medians[long] / max(1, medians[short]))} {check.label(short)}"
        f" ones: the length alone gets {check.sides(alone.counts)} ones right."
    )
    few = max(_FEWEST_TO_ADD, int(check.at(short).sum()) // 4)
    more = _remains(check, f"With every text cut to {count(cut, 'word')}", base, without)
    finding = finding_on(
        check,
        "length",
        _severity(auroc_of_length, area),
        (),
        says,
        to_add(check, short, few, words),
        more=more,
        texts=sum(poles),
    )
    title = f"Length gives {check.name} away: {check.label(short)} texts are short"
    yield replace(finding, alone=alone, title=title, cost=_cost(alone.counts, "the length", base, without))


def _times_as_long(ratio: float) -> str:
    times = round(ratio)
    if ratio < _TWICE:
        return "longer than"
    return f"about {'twice' if times == 2 else f'{times:,} times'} as long as"


def _at_one_length(check: TraitCheck, short: Pole, reading: _Reading) -> tuple[int, Accuracy | None, Accuracy | None]:
    """A number of words that most texts of the shorter pole have, and how well all texts, whole and cut to it, are told
    apart.
    """
    counts = [len(words_of(check.samples[int(row)].text)) for row in reading.rows[check.at(short)[reading.rows]]]
    cut = max(_FEWEST_WORDS, int(np.quantile(counts or [0], 0.25)))
    if reading.embed is None:
        return cut, None, None
    return cut, reading.measure(reading.texts), reading.measure([first_words(text, cut) for text in reading.texts])


def _by_group(
    check: TraitCheck,
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
    fuller, other = POLES if group.positive > group.negative else POLES[::-1]
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
    fix = to_add(check, other, few, kind=name_of(group.name) if kind == "language" else "such")
    finding = finding_on(
        check, kind, _severity(group.area, area), (), says, fix, more=more, texts=int(own[check.at(fuller)].sum())
    )
    return replace(finding, alone=alone, cost=_cost(alone.counts, f"the {kind}", None, None))


def _by_language(check: TraitCheck, groups: Sequence[str | None]) -> Iterator[Finding]:
    """Findings on languages that nearly only one pole has, by `groups` (n,): the languages of the samples."""
    for group in nuisance.one_sided(groups, check.y):
        fuller, other = POLES if group.positive > group.negative else POLES[::-1]
        own = np.array([each == group.name for each in groups]) & (check.y != 0.5)
        rows, name = np.flatnonzero(own & check.at(fuller)), name_of(group.name)
        says = (
            f"{len(rows):,} of {int(own.sum()):,} {name} texts are {check.label(fuller)}: a model may score {name}"
            f" texts {check.label(fuller)} for their language."
        )
        more = f"{name} texts at both poles show what {check.name} means in {name}."
        fix = to_add(check, other, max(_FEWEST_TO_ADD, len(rows) // 4), kind=name)
        yield finding_on(check, "language", "warning", check.ids(rows), says, fix, more=more)


def _are(kind: _Grouping, name: str) -> str:
    """`are German`, `come from a.example`."""
    if kind == "language":
        return f"are {name_of(name)}"
    own = {"synthesized": "are synthesized", "feedback": "come from feedback", "no address": "have no address"}
    return own.get(name, f"come from {shortened(name, LONGEST)}")


def _severity(auroc: float, area: float | None) -> Severity:
    return "warning" if area is None or auroc >= area - _AS_GOOD else "note"

"""What is wrong with samples, before anything is learnt from them: findings, the gravest first, each with its remedy.

Pure: texts, labels and vectors go in. Nothing found is proof. A finding names the samples and says what makes them
stand out, and a person decides; a remedy is what would be done if the person agrees. No sentence repeats a text.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from traitbench.scoring import nuisance
from traitbench.scoring.axis import Floats
from traitbench.scoring.duplicates import Vectors, alike, joined, plain
from traitbench.scoring.inputs import SampleLike, TraitLike
from traitbench.scoring.negation import negates
from traitbench.scoring.suspects import Judgement, judge, lonely

Kind = Literal[
    "no_samples",
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
    "no_samples": "A pole without samples",
    "conflict": "One text at both poles",
    "negation": "A label that only negates",
    "suspect": "Labels that look wrong",
    "length": "Poles that differ by length",
    "language": "Poles that differ by language",
    "source": "Poles that differ by source",
    "few": "Few samples",
    "unbalanced": "Poles of unequal size",
    "duplicate": "The same text again",
    "near_duplicate": "Nearly the same text",
    "outlier": "Texts unlike all others",
}
"""Every kind of finding and its title, in the order in which findings of one severity stand."""

_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
_ENOUGH = 8
_UNBALANCED = 4
_MOST_SUSPECTS = 20
_MOST_OUTLIERS = 5
_AS_GOOD = 0.05
_LENGTHENED = 3


class Sample(SampleLike, Protocol):
    """A sample with its text; `trait` may be a name too."""

    @property
    def text(self) -> str:
        """The text."""
        ...

    @property
    def source_url(self) -> str | None:
        """Where it was found."""
        ...


@dataclass(frozen=True)
class Wanted:
    """Samples to add: at which pole, how many, and of about how many words, None for any."""

    pole: Pole
    count: int
    words: int | None = None


@dataclass(frozen=True)
class Fix:
    """What to do: ids to delete, new qualities by id, and what a person would have to write."""

    says: str
    delete: tuple[int, ...] = ()
    relabel: Mapping[int, float] = field(default_factory=dict)
    add: Wanted | None = None


@dataclass(frozen=True)
class Finding:
    """Something that a person should look at; `sample_ids` begin with the one that stands out most."""

    kind: Kind
    trait_key: str
    sample_ids: tuple[int, ...]
    severity: Severity
    says: str
    fix: Fix | None = None


def examine(traits: Sequence[TraitLike], samples: Sequence[Sample], X: Vectors) -> tuple[Finding, ...]:
    """All findings on samples with vectors (n, d); samples of no trait here are looked at by nobody.

    Equal samples give equal findings, in whatever order they come.
    """
    order = sorted(range(len(samples)), key=lambda place: samples[place].id)
    keys = {**{trait.name: trait.key for trait in traits}, **{trait.key: trait.key for trait in traits}}
    found: list[tuple[int, int, int, Finding]] = []
    kinds = list(KINDS)
    with threadpool_limits(limits=1):
        alone = lonely(X[order])
        for place, trait in enumerate(traits):
            own = np.array([i for i, at in enumerate(order) if keys.get(samples[at].trait) == trait.key], np.intp)
            rows = [order[i] for i in own.tolist()]
            ward = _Ward(trait, [samples[at] for at in rows], X[rows], alone[own])
            for finding in _of_trait(ward):
                found.append((_SEVERITIES.index(finding.severity), place, kinds.index(finding.kind), finding))
    return tuple(finding for *_, finding in sorted(found, key=lambda each: (*each[:3], each[3].sample_ids)))


@dataclass(frozen=True, eq=False)
class _Ward:
    """The samples of a trait, by id; `alone` (n,) marks texts that are like none of the model."""

    trait: TraitLike
    samples: Sequence[Sample]
    X: Vectors
    alone: NDArray[np.bool_]
    y: Floats = field(init=False)
    made: NDArray[np.bool_] = field(init=False)
    same: NDArray[np.int64] = field(init=False)
    near: NDArray[np.int64] = field(init=False)
    kin: NDArray[np.int64] = field(init=False)

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
            "kin": joined(same, near),
        }.items():
            object.__setattr__(self, name, value)

    def at(self, pole: Pole) -> NDArray[np.bool_]:
        """(n,): whether a sample stands at the pole."""
        return self.y > 0.5 if pole == "positive" else self.y < 0.5

    def distinct(self, pole: Pole) -> int:
        """Different texts of the pole that somebody wrote."""
        return len(np.unique(self.kin[self.at(pole) & ~self.made]))

    def label(self, pole: Pole) -> str:
        """What the pole is called."""
        return self.trait.positive_label if pole == "positive" else self.trait.negative_label

    def ids(self, rows: Sequence[int] | NDArray[np.integer]) -> tuple[int, ...]:
        """The numbers of samples at these places."""
        return tuple(self.samples[int(row)].id for row in rows)


_POLES: tuple[Pole, Pole] = ("positive", "negative")


def _of_trait(ward: _Ward) -> Iterator[Finding]:
    judgement = judge(ward.X, ward.y, ward.kin, ward.made)
    yield from _labels(ward)
    yield from _sizes(ward)
    kept = {rows[0]: _kept(ward, rows, judgement) for rows in _groups(ward.same)}
    yield from _copies(ward, judgement, kept)
    yield from _near(ward, kept)
    yield from _suspects(ward, judgement)
    yield from _nuisances(ward, judgement)
    yield from _outliers(ward)


def _finding(
    ward: _Ward, kind: Kind, severity: Severity, ids: tuple[int, ...], says: str, fix: Fix | None = None
) -> Finding:
    return Finding(kind, ward.trait.key, ids, severity, says, fix)


# ---- the trait ---------------------------------------------------------------------------------------------------


def _labels(ward: _Ward) -> Iterator[Finding]:
    for pole in _POLES:
        if negates(ward.label(pole)):
            says = (
                f"The label of the {pole} pole, {ward.label(pole)}, only says what a text is not. Such a pole gathers"
                " whatever is left, and its words teach nothing."
            )
            yield _finding(
                ward, "negation", "warning", (), says, Fix("Rename the label: say what such a text is instead.")
            )


def _sizes(ward: _Ward) -> Iterator[Finding]:
    counts = {pole: ward.distinct(pole) for pole in _POLES}
    for pole, count in counts.items():
        there = int(ward.at(pole).sum())
        if not there:
            says = f"The {pole} pole, {ward.label(pole)}, has no sample: the trait cannot be learnt."
            yield _finding(ward, "no_samples", "error", (), says, _more(ward, pole, _ENOUGH))
        elif count < 2:
            made = ", synthesised ones aside" if ward.made[ward.at(pole)].any() else ""
            says = (
                f"The {pole} pole, {ward.label(pole)}, has {_number(count, 'distinct text')}{made}: nothing can be held"
                " out, so nothing can be measured."
            )
            yield _finding(ward, "few", "warning", (), says, _more(ward, pole, _ENOUGH - count))
        elif count < _ENOUGH:
            says = (
                f"The {pole} pole, {ward.label(pole)}, has {count} distinct texts: the figures will be unsure. From"
                f" {_ENOUGH} on they begin to tell."
            )
            yield _finding(ward, "few", "note", (), says, _more(ward, pole, _ENOUGH - count))
    small, large = sorted(_POLES, key=lambda pole: counts[pole])
    if counts[small] >= _ENOUGH and counts[large] >= _UNBALANCED * counts[small]:
        says = (
            f"The {small} pole, {ward.label(small)}, has {counts[small]} distinct texts and the other {counts[large]}:"
            " a new text teaches most at the smaller pole."
        )
        missing = counts[large] // _UNBALANCED + 1 - counts[small]
        yield _finding(ward, "unbalanced", "note", (), says, _more(ward, small, missing))


def _more(ward: _Ward, pole: Pole, count: int, words: int | None = None) -> Fix:
    long = f" of about {_number(words, 'word')}" if words else ""
    return Fix(f"Add {_number(count, 'text')}{long} that {ward.label(pole)} fits.", add=Wanted(pole, count, words))


# ---- texts that stand there more than once -----------------------------------------------------------------------


def _copies(ward: _Ward, judgement: Judgement | None, kept: Mapping[int, int]) -> Iterator[Finding]:
    for rows in (group for group in _groups(ward.same) if len(group) > 1):
        stays = kept[rows[0]]
        gone = [row for row in rows if row != stays]
        ids, delete = ward.ids([stays, *gone]), ward.ids(gone)
        sides = [int(ward.at(pole)[rows].sum()) for pole in _POLES]
        if all(sides):
            side = "positive" if ward.y[stays] > 0.5 else "negative"
            says = (
                f"One text stands {_times(sides[0])} at the positive and {_times(sides[1])} at the negative pole. Its"
                " labels cancel each other."
            )
            fix = Fix(f"Keep it once, at the {side} pole, {_why(ward, rows, stays, judgement)}.", delete)
            yield _finding(ward, "conflict", "error", ids, says, fix)
        else:
            says = f"One text stands there {_times(len(rows))}, case, spaces and punctuation aside; it counts as one."
            yield _finding(ward, "duplicate", "note", ids, says, Fix("Keep it once and delete its copies.", delete))


def _kept(ward: _Ward, rows: Sequence[int], judgement: Judgement | None) -> int:
    """The copy that stays: written by somebody, at the side of most, else where the other samples put it; the newest
    of a text with two labels, the oldest of any other."""
    sides = np.sign(ward.y[list(rows)] - 0.5)
    lean = sides.sum() or _leaning(rows, judgement)
    torn = len(set(sides.tolist()) - {0.0}) > 1

    def worth(row: int) -> tuple[bool, bool, int]:
        agrees = bool(lean * (ward.y[row] - 0.5) > 0) if torn else bool(ward.y[row] != 0.5)
        return agrees, not ward.made[row], row if torn else -row

    return max(rows, key=worth)


def _leaning(rows: Sequence[int], judgement: Judgement | None) -> float:
    return 0.0 if judgement is None else float(np.sign(judgement.scores[list(rows)].mean() - 0.5))


def _why(ward: _Ward, rows: Sequence[int], kept: int, judgement: Judgement | None) -> str:
    if np.sign(ward.y[list(rows)] - 0.5).sum():
        return "where most of its copies are"
    if _leaning(rows, judgement) * (ward.y[kept] - 0.5) > 0:
        return "where the other samples put it"
    return "where it was put last"


def _near(ward: _Ward, kept: Mapping[int, int]) -> Iterator[Finding]:
    """Of texts that somebody wrote, copies aside; a variation that was asked for is like its seed on purpose."""
    stay = np.zeros(len(ward.y), bool)
    stay[list(kept.values())] = True
    for rows in (group for group in _groups(ward.near, stay & ~ward.made) if len(group) > 1):
        ids = ward.ids(rows)
        if len({bool(side) for side in ward.y[rows] > 0.5}) > 1:
            says = (
                f"{len(rows)} texts are nearly the same and stand at different poles. A label may be wrong; if the"
                " small difference is what the trait is about, they teach it well."
            )
            yield _finding(ward, "near_duplicate", "warning", ids, says, Fix("Read them; change what is wrong."))
        else:
            says = f"{len(rows)} texts are nearly the same. They are judged together and teach little more than one."
            yield _finding(ward, "near_duplicate", "note", ids, says, Fix("Keep the first of them.", delete=ids[1:]))


def _groups(labels: NDArray[np.int64], among: NDArray[np.bool_] | None = None) -> list[list[int]]:
    """The places of each label, in order of the first."""
    found: dict[int, list[int]] = {}
    for row in range(len(labels)) if among is None else np.flatnonzero(among).tolist():
        found.setdefault(int(labels[row]), []).append(row)
    return list(found.values())


# ---- labels, and what else may tell the poles apart --------------------------------------------------------------


def _suspects(ward: _Ward, judgement: Judgement | None) -> Iterator[Finding]:
    if judgement is None:
        return
    torn = {row for rows in _groups(ward.same) if len(rows) > 1 for row in rows}
    rows = [row for row in judgement.suspects.tolist() if row not in torn and not ward.made[row]][:_MOST_SUSPECTS]
    if not rows:
        return
    says = (
        f"{_number(len(rows), 'text')} {'looks' if len(rows) == 1 else 'look'} as if at the wrong pole: learnt from all"
        " others, the trait puts each far towards the other end. Most often that is a wrong label, at times a text that"
        " is hard to tell."
    )
    relabel = {ward.samples[row].id: round(1 - ward.samples[row].quality, 6) for row in rows}
    fix = Fix("Read them, and turn the label of those that are wrong.", relabel=relabel)
    yield _finding(ward, "suspect", "warning", ward.ids(rows), says, fix)


def _nuisances(ward: _Ward, judgement: Judgement | None) -> Iterator[Finding]:
    if min(int(ward.at(pole).sum()) for pole in _POLES) < 2:
        return
    area = None if judgement is None else judgement.area
    yield from _by_length(ward, area)
    tests: tuple[tuple[Kind, str, Callable[[Sample], str | None]], ...] = (
        ("language", "language or script", lambda sample: nuisance.language(sample.text)),
        ("source", "source", lambda sample: nuisance.source(sample.provenance, sample.source_url)),
    )
    for kind, what, of in tests:
        groups = [of(sample) for sample in ward.samples]
        if group := nuisance.of_group(groups, ward.y):
            fuller, other = ("positive", "negative") if group.positive > group.negative else ("negative", "positive")
            says = (
                f"{group.positive:.0%} of the positive and {group.negative:.0%} of the negative texts are"
                f" {group.name}: the {what} alone tells the poles apart ({_against(group.area, area)})."
            )
            fix = Fix(f"Add {group.name} texts to the {other} pole, or others to the {fuller}.")
            yield _finding(ward, kind, _gravity(group.area, area), (), says, fix)


def _by_length(ward: _Ward, area: float | None) -> Iterator[Finding]:
    lengths = np.array([len(sample.text) for sample in ward.samples])
    alone = nuisance.of_length(lengths.tolist(), ward.y)
    if alone is None:
        return
    middles = {pole: int(np.median(lengths[ward.at(pole)])) for pole in _POLES}
    short, long = sorted(_POLES, key=lambda pole: middles[pole])
    rows = np.flatnonzero(ward.at(long))
    typical = rows[np.argsort(lengths[rows], kind="stable")[len(rows) // 2]]
    words = len(ward.samples[int(typical)].text.split())
    says = (
        f"Half of the {long} texts have {middles[long]:,} characters or more, of the {short} ones {middles[short]:,}:"
        f" length alone tells the poles apart ({_against(alone, area)})."
    )
    few = max(_LENGTHENED, int(ward.at(short).sum()) // 4)
    yield _finding(ward, "length", _gravity(alone, area), (), says, _more(ward, short, few, words))


def _against(alone: float, area: float | None) -> str:
    return f"AUROC {alone:.2f}" if area is None else f"AUROC {alone:.2f}, the whole text {area:.2f}"


def _gravity(alone: float, area: float | None) -> Severity:
    return "warning" if area is None or alone >= area - _AS_GOOD else "note"


def _outliers(ward: _Ward) -> Iterator[Finding]:
    rows = np.flatnonzero(ward.alone & ~ward.made)[:_MOST_OUTLIERS]
    if len(rows):
        are = "text is" if len(rows) == 1 else "texts are"
        says = f"{len(rows)} {are} unlike every other text of the model; what they teach helps few others."
        fix = Fix("See whether they belong here. If they do, add more of their kind; if not, delete them.")
        yield _finding(ward, "outlier", "note", ward.ids(rows), says, fix)


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")

"""Check samples before a training: findings, each with a suggested fix.

Pure: texts, labels and vectors are the input. A finding about one text or a few quotes how they begin.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from traitbench.analysis import nuisance
from traitbench.analysis.belonging import belonging
from traitbench.analysis.confounders import confounders
from traitbench.analysis.findings import KINDS, SEVERITIES, CheckedSample, Cost, Finding, Fix, Severity
from traitbench.analysis.suspects import LabelCheck, isolated, out_of_fold_check
from traitbench.analysis.trait_check import FEWEST, POLES, Embed, TraitCheck, finding_on, to_add
from traitbench.contract.samples import LONGEST_GROUP
from traitbench.display.text import count
from traitbench.fitting.auroc import auroc, interval
from traitbench.fitting.duplicates import Vectors
from traitbench.fitting.phrases import negates
from traitbench.fitting.pole_names import pole_labels, pole_vector
from traitbench.scoring.inputs import TraitLike

ENOUGH = 10
"""Different texts at each pole from which the figures of a trait are worth reading. Screens recommend this number."""

_UNBALANCED = 4
# core/docs/scoring.md, section 11: below that AUROC labels look alike; with that many texts a pole it is no accident.
_CHANCE, _CERTAIN = 0.6, 30
_MOST_SUSPECTS = 20
_MOST_FITTED_AGAIN = 2_000
_MOST_OUTLIERS = 5
# None of 1,260 draws of 8, 16 and 64 texts a pole from seven sets reaches this with names that fit.
_OTHER_WAY, _NEITHER_WAY = 0.25, 0.5


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
            check = TraitCheck(trait, [samples[at] for at in rows], X[rows])
            for finding in (*_of_trait(check, embed), *_outliers(check, is_isolated.result()[own])):
                findings.append((SEVERITIES.index(finding.severity), kinds.index(finding.kind), number, finding))
    return tuple(finding for *_, finding in sorted(findings, key=lambda each: (*each[:3], each[3].sample_ids)))


def _of_trait(check: TraitCheck, embed: Embed | None) -> Iterator[Finding]:
    judgement = out_of_fold_check(check.X, check.y, check.groups, check.made, check.texts)
    yield from _labels(check)
    yield from _reversed(check, embed)
    yield from _sizes(check)
    yield from _inseparable(check, judgement)
    yield from _together(check)
    to_keep = {rows[0]: _copy_to_keep(check, rows, judgement) for rows in _groups(check.same)}
    yield from _copies(check, judgement, to_keep)
    yield from _near(check, to_keep)
    yield from _suspects(check, judgement)
    yield from confounders(check, judgement, embed)


# ---- the trait ---------------------------------------------------------------------------------------------------


def _labels(check: TraitCheck) -> Iterator[Finding]:
    for pole, label in zip(POLES, (check.trait.positive_label, check.trait.negative_label), strict=True):
        if negates(label):
            says = (
                f"“{check.label(pole)}” only says what a text of {check.name} is not, so it gathers whatever is left."
            )
            there, fix = int(check.at(pole).sum()), Fix("Rename the pole", rename=True)
            more = "A label that says what such a text is helps the training."
            yield finding_on(check, "negation", "warning", (), says, fix, more=more, texts=there)


def _reversed(check: TraitCheck, embed: Embed | None) -> Iterator[Finding]:
    """Names that the texts contradict: most texts of each pole read more like the name of the other."""
    labels = pole_labels(check.trait)
    rows = np.unique(check.texts, return_index=True)[1]
    rows = rows[~check.made[rows] & (check.y[rows] != 0.5)]
    y = check.y[rows]
    poles = [int((y > 0.5).sum()), int((y < 0.5).sum())]
    if embed is None or min(poles) < FEWEST or any(map(negates, labels)):
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
    yield finding_on(check, "reversed", "warning", (), says, fix, more=more, texts=sum(poles))


def _sizes(check: TraitCheck) -> Iterator[Finding]:
    counts = {pole: check.distinct(pole) for pole in POLES}
    for pole, distinct in counts.items():
        there = int(check.at(pole).sum())
        fix = to_add(check, pole, ENOUGH - distinct)
        if not there:
            says = f"{check.name} has no {check.label(pole)} texts, so it cannot be trained."
            yield finding_on(check, "no_samples", "error", (), says, fix, texts=len(check.samples))
        elif distinct < 2:
            made = " (synthesized ones do not count)" if check.made[check.at(pole)].any() else ""
            texts = count(distinct, f"{check.label(pole)} text")
            says = f"{check.name} has {texts}{made}: at least 2 are needed to measure anything."
            yield finding_on(check, "few", "warning", (), says, fix, texts=there)
        elif distinct < ENOUGH:
            texts = f"{distinct} different {check.label(pole)} texts"
            says = f"{check.name} has only {texts}: from {ENOUGH} on, its figures mean more."
            yield finding_on(check, "few", "note", (), says, fix, texts=there)
    small, large = sorted(POLES, key=lambda pole: counts[pole])
    if counts[small] >= ENOUGH and counts[large] >= _UNBALANCED * counts[small]:
        one, other = (f"{counts[pole]:,} {check.label(pole)}" for pole in (large, small))
        says = f"{check.name} has {one} texts, but only {other} ones."
        fix = to_add(check, small, counts[large] // _UNBALANCED + 1 - counts[small])
        yield finding_on(check, "unbalanced", "note", (), says, fix, texts=counts[small])


# ---- duplicates --------------------------------------------------------------------------------------------------


def _copies(check: TraitCheck, judgement: LabelCheck | None, to_keep: Mapping[int, int]) -> Iterator[Finding]:
    positive, negative = map(check.label, POLES)
    for rows in (group for group in _groups(check.same) if len(group) > 1):
        stays = to_keep[rows[0]]
        ids, fix = _keep(check, rows, stays)
        other = _copy_at_other_pole(check, rows, stays)
        if other is not None:
            says = f"{check.quote(stays)} stands under {positive} and under {negative}."
            fix = replace(
                fix,
                says=f"Keep {check.label_of(stays)}",
                other=replace(_keep(check, rows, other)[1], says=f"Keep {check.label_of(other)}"),
            )
            several = f"texts stand under {positive} and under {negative}."
            more = _why(check, rows, stays, judgement)
            yield finding_on(check, "conflict", "error", ids, says, fix, several=several, more=more)
        else:
            times = {2: "twice"}.get(len(rows), f"{len(rows):,} times")
            says = f"{check.quote(stays)} stands {times} under {check.label_of(stays)}."
            several = f"texts of {check.name} are there more than once."
            yield finding_on(check, "duplicate", "note", ids, says, fix, several=several)


def _keep(check: TraitCheck, rows: Sequence[int], stays: int) -> tuple[tuple[int, ...], Fix]:
    """The ids of copies, that of the copy to keep first, and the fix that keeps it."""
    delete = check.ids([row for row in rows if row != stays])
    return (*check.ids([stays]), *delete), Fix(f"Remove the {'duplicates' if len(delete) > 1 else 'duplicate'}", delete)


def _copy_at_other_pole(check: TraitCheck, rows: Sequence[int], stays: int) -> int | None:
    """The copy to keep at the other pole: the newest real one; None if there is none at the other pole."""
    others = [row for row in rows if (check.y[row] - 0.5) * (check.y[stays] - 0.5) < 0]
    return max(others, key=lambda row: (not check.made[row], row), default=None)


def _copy_to_keep(check: TraitCheck, rows: Sequence[int], judgement: LabelCheck | None) -> int:
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


def _why(check: TraitCheck, rows: Sequence[int], stays: int, judgement: LabelCheck | None) -> str:
    """Why the copy to keep is at its pole."""
    label = check.label_of(stays)
    if np.sign(check.y[list(rows)] - 0.5).sum():
        return f"Most copies are {label}."
    if _leaning(rows, judgement) * (check.y[stays] - 0.5) > 0:
        return f"The other samples suggest {label}."
    return f"The newest is {label}."


def _near(check: TraitCheck, to_keep: Mapping[int, int]) -> Iterator[Finding]:
    """Near duplicates among real texts, without copies; variations are meant to resemble their seed."""
    stay = np.zeros(len(check.y), bool)
    stay[list(to_keep.values())] = True
    for rows in (group for group in _groups(check.near, stay & ~check.made) if len(group) > 1):
        ids, texts = check.ids(rows), f"{check.quote(rows[0])} and {_others(check, rows)}"
        if len({bool(side) for side in check.y[rows] > 0.5}) > 1:
            poles = f"under {check.label('positive')} and under {check.label('negative')}"
            says = f"{texts} are nearly the same, but stand {poles}."
            several = f"groups of nearly equal texts stand {poles}."
            more = "If the small difference is what the trait measures, keep them: they help. If not, correct a label."
            yield finding_on(check, "near_duplicate", "warning", ids, says, several=several, more=more)
        else:
            says = f"{texts} are nearly the same, so they count once."
            several = f"groups of texts of {check.name} are nearly the same, so each counts once."
            fix = Fix("Keep the first", delete=ids[1:])
            yield finding_on(check, "near_duplicate", "note", ids, says, fix, several=several)


def _others(check: TraitCheck, rows: Sequence[int]) -> str:
    return check.quote(rows[1]) if len(rows) == 2 else f"{len(rows) - 1:,} others"


def _groups(labels: NDArray[np.int64], mask: NDArray[np.bool_] | None = None) -> list[list[int]]:
    """The rows of each label, in the order of their first row."""
    rows_of: dict[int, list[int]] = {}
    for row in range(len(labels)) if mask is None else np.flatnonzero(mask).tolist():
        rows_of.setdefault(int(labels[row]), []).append(row)
    return list(rows_of.values())


# ---- labels, and other differences between the poles -------------------------------------------------------------


def _inseparable(check: TraitCheck, judgement: LabelCheck | None) -> Iterator[Finding]:
    """Labels that a fit to the other samples hardly predicts; an error if there are enough texts to be sure."""
    if judgement is None or judgement.auroc >= _CHANCE:
        return
    severity: Severity = "error" if min(check.distinct(pole) for pole in POLES) >= _CERTAIN else "warning"
    positive, negative = map(check.label, POLES)
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
        finding_on(check, "inseparable", severity, (), says, fix, more=more, texts=texts), auroc=judgement.auroc
    )


def _together(check: TraitCheck) -> Iterator[Finding]:
    """Samples that say nothing about what they belong to, although their source repeats and predicts their label."""
    sources = [None if made else each.source_url for each, made in zip(check.samples, check.made.tolist(), strict=True)]
    if any(each.group for each in check.samples):
        return
    column = belonging({"source": sources}, check.y.tolist(), check.same.tolist())
    if column is None:
        return
    shared = Counter(sources)
    own = {
        each.id: source[:LONGEST_GROUP]
        for each, source in zip(check.samples, sources, strict=True)
        if source and shared[source] > 1
    }
    says = (
        f"{column.rows:,} texts of {check.name} share {column.values:,} sources, and all texts of a source have one"
        f" label in {column.one_label:,} of them, by chance in {column.by_chance:.0f}."
    )
    more = "If texts of a source belong together, figures that divide a source show how well a model knows the source."
    fix = Fix("Keep texts of a source together", group=own)
    yield finding_on(check, "together", "warning", tuple(own), says, fix, more=more, texts=column.rows)


def _suspects(check: TraitCheck, judgement: LabelCheck | None) -> Iterator[Finding]:
    if judgement is None:
        return
    torn = {row for rows in _groups(check.same) if len(rows) > 1 for row in rows}
    rows = [row for row in judgement.suspects.tolist() if row not in torn and not check.made[row]][:_MOST_SUSPECTS]
    cost = _cost_of_labels(check, judgement, rows)
    for row in rows:
        better = check.label("negative" if check.y[row] > 0.5 else "positive")
        says = f"{check.quote(row)} is labelled {check.label_of(row)}, but reads like {better}."
        several = f"labels of {check.name} look wrong."
        more = "Read each text: the label may be wrong, or the text is hard for a model."
        # Rounded, because 1 - 0.9 is not 0.1 in floating point.
        fix = Fix(f"Change to {better}", relabel={check.samples[row].id: round(1 - check.samples[row].quality, 6)})
        finding = finding_on(check, "suspect", "warning", check.ids([row]), says, fix, several=several, more=more)
        yield replace(finding, cost=cost)


def _cost_of_labels(check: TraitCheck, judgement: LabelCheck, rows: Sequence[int]) -> Cost | None:
    """How many texts would be right with these labels changed; None for many texts, because it is one more fit."""
    if not rows or len(check.y) > _MOST_FITTED_AGAIN:
        return None
    y = check.y.copy()
    y[rows] = 1 - y[rows]
    changed = out_of_fold_check(check.X, y, check.groups, check.made, check.texts)
    if changed is None:
        return None
    (right, of), (now, _) = ([sum(each) for each in zip(*each.counts, strict=True)] for each in (changed, judgement))
    which, are = ("them", "they are") if len(rows) > 1 else ("it", "it is")
    return Cost(right, of, f"right with {which} changed, {now:,} as {are}.", max(0, right - now))


def _outliers(check: TraitCheck, is_isolated: NDArray[np.bool_]) -> Iterator[Finding]:
    """Texts unlike all others of the model, by `is_isolated` (n,)."""
    for row in np.flatnonzero(is_isolated & ~check.made)[:_MOST_OUTLIERS].tolist():
        ids = check.ids([row])
        says = f"{check.quote(row)} is unlike all other texts, so it hardly helps."
        several = f"texts of {check.name} are unlike all others, so they hardly help."
        more = "If such texts belong here, add more like them."
        fix = Fix("Remove the text", delete=ids)
        yield finding_on(check, "outlier", "note", ids, says, fix, several=several, more=more)

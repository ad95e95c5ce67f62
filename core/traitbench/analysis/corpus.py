"""What a corpus says, from its scores and the labels of a random sample: shares, means, differences, and a cut.

    from traitbench.analysis import corpus

    drawn = corpus.draw(len(scores), size=100, seed=7)        # label these texts without looking at their scores
    labels = {row: 1.0 if is_disappointed(texts[row]) else 0.0 for row in drawn}
    answer = corpus.answer(scores, labels, pole="disappointed", seed=7)
    print(answer.paragraph)

Needs no service and no network. Scores are from 0 to 100 as the service gives them, labels from 0 to 1. The method is
in `traitbench.analysis.estimates`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traitbench.analysis.estimates import (
    FEWEST,
    PROMISED,
    Cut,
    Estimate,
    ShareDifference,
    difference,
    estimate_mean,
    estimate_share,
    fewest_labels,
    promised_cut,
    total_of,
)
from traitbench.display import frames
from traitbench.display.html import draw as draw_html
from traitbench.display.html import write_page

__all__ = ["FEWEST", "PROMISED", "Answer", "Cut", "Estimate", "GroupAnswer", "ShareDifference", "answer", "draw"]

METHOD = (
    "Prediction-powered inference with power tuning (Angelopoulos, Duchi and Zrnic 2023), finite-population correction,"
    " Wilson interval with the effective sample size, 95 %."
)
CUT_METHOD = (
    "Fixed sequence testing from the top down (Learn then Test, Angelopoulos et al. 2025) with exact hypergeometric"
    " tests; promise and interval hold together in 95 of 100 audits."
)


@dataclass(frozen=True)
class GroupAnswer:
    """The answers for one group of texts."""

    name: str
    share: Estimate
    mean: Estimate


@dataclass(frozen=True)
class Answer:
    """What the corpus says. Shares and means are between 0 and 1; the score of the cut is between 0 and 100.

    `cut` is None if these labels promise none; `no_cut` says why. `skipped` counts drawn texts without a label.
    `left_out` has the groups with fewer than `FEWEST` labels by name, and how many they have. `between` compares the
    first two groups.
    """

    pole: str
    positive: bool
    share: Estimate
    mean: Estimate
    promised: float
    cut: Cut | None
    no_cut: str = ""
    groups: Sequence[GroupAnswer] = ()
    between: ShareDifference | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    stratified: bool = False
    seed: int | None = None
    skipped: int = 0
    graded: bool = field(default=False, repr=False)

    @property
    def paragraph(self) -> str:
        """The answer as a paragraph of plain text."""
        return " ".join(_sentences(self))

    @property
    def method(self) -> str:
        """The method in one line, for reports."""
        drawn = "by group, simple random within each" if self.stratified else "simple random"
        seed = "unknown" if self.seed is None else str(self.seed)
        return f"Audit sample: {drawn}, seed {seed}, {self.share.labelled} labels. {METHOD}"

    def rows(self) -> list[dict[str, object]]:
        """Return the figures as rows for a table or a file, in percent and scores."""
        return list(_rows(self))

    def write_html(self, path: str | Path) -> None:
        """Write the answer as a page that needs no other file."""
        write_page(path, f"Share of texts that are {self.pole}", self._repr_html_())

    def _repr_html_(self) -> str:
        return draw_html("local", "share", self)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the figures as a data frame: `pandas`, `polars` or `pyarrow`."""
        return frames.frame(self.rows(), backend)


def draw(total: int, *, size: int, seed: int, groups: Sequence[str] | None = None) -> list[int]:
    """Return the rows of a random sample of the corpus, in the order in which they should be labelled.

    The same arguments give the same rows, and every beginning of them is a random sample too. With `groups`, one for
    each text, the groups alternate, so that each has about the same number of texts.
    """
    lot = np.random.default_rng(seed)
    if groups is None:
        return [int(row) for row in lot.permutation(total)[:size]]
    names = np.asarray(groups)
    shuffled = [lot.permutation(np.flatnonzero(names == name)) for name in sorted(set(groups))]
    alternating = (int(row) for drawn in zip_longest(*shuffled) for row in drawn if row is not None)
    return list(islice(alternating, size))


def answer(
    scores: Sequence[float],
    labels: Mapping[int, float],
    *,
    pole: str = "positive",
    positive: bool = True,
    groups: Sequence[str] | None = None,
    stratified: bool = False,
    promised: float = PROMISED,
    seed: int | None = None,
    skipped: int = 0,
) -> Answer:
    """Return what the corpus says about a pole.

    `scores` (0 to 100) are of all texts. `labels` are those of the random sample, by row: 1 is the positive pole, 0
    the negative one. With `positive=False` the question is about the negative pole. `groups` names the group of each
    text; with `stratified` the sample was drawn by group. Raise `ValueError` if there are fewer than `FEWEST` labels.
    """
    f = np.asarray(scores, np.float64) / 100
    rows = np.array(sorted(labels), np.int64)
    y = np.array([labels[int(row)] for row in rows], np.float64)
    if not positive:
        f, y = 1 - f, 1 - y
    if ((y < 0) | (y > 1)).any():
        raise ValueError("Labels are numbers from 0 to 1.")
    names = None if groups is None else np.asarray(groups)
    by_group: list[GroupAnswer] = []
    left_out: dict[str, int] = {}
    for name in [] if names is None else sorted(set(names.tolist())):
        own = names == name
        inside = own[rows]
        indices = (np.cumsum(own) - 1)[rows[inside]]
        if inside.sum() < min(FEWEST, own.sum()):
            left_out[str(name)] = int(inside.sum())
            continue
        by_group.append(
            GroupAnswer(
                str(name), estimate_share(f[own], indices, y[inside]), estimate_mean(f[own], indices, y[inside])
            )
        )
    if stratified and left_out:
        raise ValueError(f"Every group needs at least {FEWEST} labels; too few: {_with_counts(left_out)}.")
    if stratified and by_group:
        share, mean = total_of([each.share for each in by_group]), total_of([each.mean for each in by_group])
        cut, why = None, "A cutoff needs a simple random sample; this one was drawn by group."
    else:
        share, mean = estimate_share(f, rows, y), estimate_mean(f, rows, y)
        cut = promised_cut(f, rows, y, promised=promised)
        why = "" if cut else _why_no_cut(f[rows], y, promised, pole)
    return Answer(
        pole,
        positive,
        share,
        mean,
        promised,
        _in_scores(cut, positive),
        why,
        by_group,
        difference(by_group[0].share, by_group[1].share) if len(by_group) > 1 else None,
        left_out,
        stratified,
        seed,
        skipped,
        not bool(np.isin(y, (0.0, 1.0)).all()),
    )


def _in_scores(cut: Cut | None, positive: bool) -> Cut | None:
    if cut is None:
        return None
    score = 100 * cut.score if positive else 100 * (1 - cut.score)
    # Rounded, because 100 * (1 - 0.9) is not 10 in floating point.
    return Cut(round(score, 6), cut.selected, cut.labelled, cut.right, cut.interval)


def _why_no_cut(sampled: NDArray[np.float64], y: NDArray[np.float64], promised: float, pole: str) -> str:
    needed = fewest_labels(promised)
    if len(y) < needed:
        return f"To guarantee {percent(promised)}, label at least {needed} texts."
    top = np.argsort(-sampled, kind="stable")[:needed]
    wrong = int((y[top] <= 0.5).sum())
    return (
        f"No cutoff can guarantee {percent(promised)} yet: of the {needed} labelled texts closest to {pole}, {wrong}"
        f" {'is' if wrong == 1 else 'are'} not {pole}. Label more texts, or choose a lower guarantee."
    )


# ---- words -----------------------------------------------------------------------------------------------------------


def _sentences(of: Answer) -> Iterator[str]:
    share = of.share
    yield (f"About {percent(share.value)} of the {share.total:,} texts are {of.pole} (95 % interval {between(share)}).")
    yield (
        f"This is based on the scores of all texts and on {share.labelled} texts that were drawn at random and labelled"
        " by hand without seeing the score."
    )
    yield f"The scores alone would have said {percent(share.counted)}."
    if of.graded:
        yield f"The mean grade is {percent(of.mean.value)} ({between(of.mean)})."
    if of.between is not None:
        a, b = of.groups[0], of.groups[1]
        yield (
            f"{a.name}: {percent(a.share.value)} ({between(a.share)}); {b.name}: {percent(b.share.value)}"
            f" ({between(b.share)}). {_compared(of.between, a.name, b.name)}"
        )
    if of.left_out:
        yield left_out_sentence(of)
    if of.cut is not None:
        yield cut_sentence(of)
    if of.skipped:
        yield (
            f"{of.skipped} of the drawn texts {'was' if of.skipped == 1 else 'were'} skipped; the answer holds for"
            " texts that can be judged."
        )


def cut_sentence(of: Answer) -> str:
    """Return what the cut promises, as a sentence; why there is none, if there is none."""
    if of.cut is None:
        return of.no_cut
    cut, (low, high) = of.cut, map(percent, of.cut.interval)
    return (
        f"Of the {cut.selected:,} texts that score {cut.score:g} or {_beyond(of)}, at least {percent(of.promised)} are"
        f" truly {of.pole} (95 % interval {low} to {high}; {cut.right} of {cut.labelled} labelled ones)."
    )


def left_out_sentence(of: Answer) -> str:
    """Return which groups have no figures, and how many labels each has; empty if there are none."""
    if not of.left_out:
        return ""
    groups = _with_counts(of.left_out)
    return f"No figures for groups with fewer than {FEWEST} labels: {groups}. Label more of their texts."


def _with_counts(groups: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({number})" for name, number in groups.items())


def _beyond(of: Answer) -> str:
    return "more" if of.positive else "less"


def _compared(between_groups: ShareDifference, a: str, b: str) -> str:
    low, high = between_groups.interval
    span = f"{100 * low:+.0f} to {100 * high:+.0f}"
    if low <= 0 <= high:
        return f"The difference ({span} points) may be chance."
    return f"The difference is {100 * between_groups.value:+.0f} points ({span})."


def percent(value: float) -> str:
    """Return a share as a percentage: without decimals, but with one below 10 % and above 90 %."""
    figure = 100 * value
    return f"{figure:.0f} %" if 10 <= figure <= 90 or figure in (0, 100) else f"{figure:.1f} %"


def between(estimate: Estimate) -> str:
    """Return an interval such as `12 % to 18 %`."""
    return f"{percent(estimate.interval[0])} to {percent(estimate.interval[1])}"


def _rows(of: Answer) -> Iterator[dict[str, object]]:
    parts = [GroupAnswer("", of.share, of.mean), *of.groups]
    for part in parts:
        for figure, each in (("share", part.share), ("mean", part.mean)):
            yield _row(of, figure, part.name, each.value, each.interval, each.counted, each.labelled, each.total)
    if of.between is not None:
        names = f"{of.groups[0].name} - {of.groups[1].name}"
        labelled = sum(part.share.labelled for part in of.groups[:2])
        total = sum(part.share.total for part in of.groups[:2])
        d = of.between
        yield _row(of, "difference of shares", names, d.value, d.interval, d.counted, labelled, total)
    if of.cut is not None:
        cut = of.cut
        right = cut.right / cut.labelled
        yield _row(of, f"cut at {cut.score:g}", "", right, cut.interval, None, cut.labelled, cut.selected, CUT_METHOD)


def _row(
    of: Answer,
    figure: str,
    group: str,
    value: float,
    interval: tuple[float, float],
    counted: float | None,
    labelled: int,
    total: int,
    method: str = "",
) -> dict[str, object]:
    return {
        "figure": figure,
        "pole": of.pole,
        "group": group,
        "percent": round(100 * value, 2),
        "low": round(100 * interval[0], 2),
        "high": round(100 * interval[1], 2),
        "counting": None if counted is None else round(100 * counted, 2),
        "labels": labelled,
        "texts": total,
        "seed": of.seed,
        "method": method or of.method,
    }

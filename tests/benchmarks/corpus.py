"""Whether answers about a corpus hold: how often an interval contains the truth, and how often a cut keeps its promise.

    python -m tests.benchmarks.corpus --data FOLDER [--quick]

Every version is trained on 16 samples a pole. The corpus is the rest of the set, as its publisher mixed the poles, and
once more with few positive texts. The audit samples are drawn from it, and the set's own labels stand for the person.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tests.benchmarks import kept, protocol
from tests.benchmarks.page import Measured, Table, run
from tests.benchmarks.scorers import fitted
from traitbench.analysis.estimates import PROMISED, Estimate, difference, estimate_mean, estimate_share, promised_cut
from traitbench.scoring.card import choose, project_whole, read

Floats = NDArray[np.float64]

_K = 16
_MOST_TEXTS = 2_500
_RARE = 0.03
_FEW = ", few positive"


@dataclass(frozen=True, eq=False)
class Corpus:
    """The scores (0 to 1) and the labels of all texts."""

    name: str
    scores: Floats
    labels: Floats


def corpora(folder: Path, sets: Sequence[str], seeds: int) -> Iterator[Corpus]:
    """Each set, with its own share of positive texts and with few of them."""
    for name in sets:
        for draw in protocol.draws(protocol.load(name, folder), (_K,), seeds):
            corpus = _corpus(draw, folder)
            yield corpus
            yield _rare(corpus, draw.seed)


def _corpus(draw: protocol.Draw, folder: Path) -> Corpus:
    data = draw.data
    labels = dict(each for part in protocol.SETS[data.name].read(folder) for each in part)
    texts = sorted({text.strip(): None for text in labels if text.strip()}.keys() - set(draw.texts))
    lot = np.random.default_rng([draw.seed, 14])
    texts = [texts[i] for i in lot.permutation(len(texts))[:_MOST_TEXTS]]
    by_text = {text.strip(): label for text, label in labels.items()}
    y = np.array([by_text[text] for text in texts])
    snapshot = fitted(draw.texts, draw.quality, trait=vars(data.trait), effort="medium").snapshot
    placed = project_whole(snapshot, texts, kept.vectors(texts))
    key = snapshot.traits[0].key
    scores = [read(snapshot, choose(snapshot, None), each).traits[key].score for each in placed]
    # EmoBank's raters grade from 1 to 5.
    return Corpus(data.name, np.array(scores) / 100, (y - 1) / 4 if data.graded else y)


def _rare(corpus: Corpus, seed: int) -> Corpus:
    """The corpus without most of its positive texts."""
    positive = corpus.labels > 0.5
    few = int(_RARE / (1 - _RARE) * np.count_nonzero(~positive))
    lot = np.random.default_rng([seed, 3])
    kept_ones = lot.permutation(np.flatnonzero(positive))[:few]
    rows = np.sort(np.concatenate([np.flatnonzero(~positive), kept_ones]))
    return Corpus(f"{corpus.name}{_FEW}", corpus.scores[rows], corpus.labels[rows])


# ---- simulation ------------------------------------------------------------------------------------------------------

QUESTIONS = ("share", "mean", "difference")


@dataclass(frozen=True)
class Cell:
    """A corpus and a number of labels: how often each interval holds the truth, how wide it is, and more."""

    corpus: str
    n: int
    covered: Mapping[str, float]
    width: Mapping[str, float]
    counting: float
    kept_promise: float
    cut_found: float


def simulated(corpus: Corpus, n: int, draws: int) -> Cell:
    """Draw the audit sample so many times, and compare each answer with all labels of the corpus."""
    lot = np.random.default_rng([n, len(corpus.scores)])
    # Groups such as a person would compare: one has twice as many positive texts as the other.
    odds = np.where(corpus.labels > 0.5, 0.67, 0.4)
    groups = lot.random(len(odds)) < odds
    truth = _truth(corpus, groups)
    held: dict[str, list[bool]] = {question: [] for question in QUESTIONS}
    widths: dict[str, list[float]] = {question: [] for question in QUESTIONS}
    promises, found = [], []
    for _ in range(draws):
        rows = lot.choice(len(corpus.scores), n, replace=False)
        for question, (low, high) in _answers(corpus, groups, rows).items():
            held[question].append(low - 1e-9 <= truth[question] <= high + 1e-9)
            widths[question].append(high - low)
        cut = promised_cut(corpus.scores, rows, corpus.labels[rows])
        found.append(cut is not None)
        above = corpus.labels[corpus.scores >= cut.score] > 0.5 if cut else np.array([True])
        promises.append(float(above.mean()) >= PROMISED - 1e-9)
    return Cell(
        corpus.name,
        n,
        {question: float(np.mean(each)) for question, each in held.items()},
        {question: float(np.mean(each)) for question, each in widths.items()},
        float(np.mean(corpus.scores > 0.5)) - truth["share"],
        float(np.mean(promises)),
        float(np.mean(found)),
    )


def _truth(corpus: Corpus, groups: NDArray[np.bool_]) -> Mapping[str, float]:
    positive = corpus.labels > 0.5
    apart = float(positive[groups].mean() - positive[~groups].mean())
    return {"share": float(positive.mean()), "mean": float(corpus.labels.mean()), "difference": apart}


def _answers(corpus: Corpus, groups: NDArray[np.bool_], rows: NDArray[np.int64]) -> Mapping[str, tuple[float, float]]:
    labels = corpus.labels[rows]
    answers = {
        "share": estimate_share(corpus.scores, rows, labels).interval,
        "mean": estimate_mean(corpus.scores, rows, labels).interval,
    }
    parts = [_within(corpus, own, rows) for own in (groups, ~groups)]
    return answers | {"difference": difference(*parts).interval}


def _within(corpus: Corpus, own: NDArray[np.bool_], rows: NDArray[np.int64]) -> Estimate:
    places = np.cumsum(own) - 1
    inside = rows[own[rows]]
    return estimate_share(corpus.scores[own], places[inside], corpus.labels[inside])


# ---- tables ----------------------------------------------------------------------------------------------------------


def measure(folder: Path, *, sets: Sequence[str], sizes: Sequence[int], seeds: int, draws: int = 400) -> Measured:
    """All cells, and their tables."""
    with threadpool_limits(limits=1):
        cells = [simulated(each, n, draws) for each in corpora(folder, sets, seeds) for n in sizes]
    few = [cell for cell in cells if cell.corpus.endswith(_FEW)]
    own = [cell for cell in cells if cell not in few]
    tables = [
        _over_sets(own, sizes, "as published"),
        _over_sets(few, sizes, f"{_RARE:.0%} positive"),
    ]
    return Measured(tables, {"cells": [vars(cell) for cell in cells]})


def _over_sets(cells: Sequence[Cell], sizes: Sequence[int], which: str) -> Table:
    own = [[cell for cell in cells if cell.n == n] for n in sizes]
    rows = [
        [
            f"{question}: intervals that contain the truth",
            *(_spread([c.covered[question] for c in some]) for some in own),
        ]
        for question in QUESTIONS
    ]
    rows += [
        [f"{question}: width, in points", *(_points([c.width[question] for c in some]) for some in own)]
        for question in QUESTIONS
    ]
    rows.append(["cut: promises kept", *(_spread([c.kept_promise for c in some]) for some in own)])
    rows.append(["cut: audits that find one", *(_spread([c.cut_found for c in some]) for some in own)])
    rows.append(["counting above 50: error in points", *(_points([abs(c.counting) for c in some]) for some in own)])
    note = "The mean over all corpora, and the range."
    return Table(
        f"Answers about a corpus, {which}, by number of labels", ["figure", *(f"n={n}" for n in sizes)], rows, note
    )


def _spread(values: Sequence[float]) -> str:
    return f"{100 * np.mean(values):.1f} % ({100 * min(values):.1f}-{100 * max(values):.1f})"


def _points(values: Sequence[float]) -> str:
    return f"{100 * np.mean(values):.1f} ({100 * min(values):.1f}-{100 * max(values):.1f})"


if __name__ == "__main__":
    run(
        "corpus",
        measure,
        data=True,
        quick={"sets": ("cr", "spam"), "sizes": (50, 200), "seeds": 1},
        whole={"sets": tuple(protocol.SETS), "sizes": (50, 100, 200), "seeds": 2},
    )

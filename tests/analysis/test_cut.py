"""The cut with a promise: kept on random corpora, found where labels show it, and never better than the labels."""

import numpy as np
import pytest

from tests.analysis.drawn import population
from traitbench.analysis.estimates import Cut, fewest_labels, promised_cut


def cuts(scores: np.ndarray, labels: np.ndarray, n: int, draws: int) -> list[Cut | None]:
    lot = np.random.default_rng(8)
    rows = [lot.choice(len(scores), n, replace=False) for _ in range(draws)]
    return [promised_cut(scores, each, labels[each]) for each in rows]


@pytest.mark.parametrize("apart", [1.0, 3.0])
def test_the_promise_and_the_interval_are_kept(apart: float) -> None:
    scores, labels = population(0.5, apart)
    scores = np.round(scores, 2)
    kept = []
    for cut in cuts(scores, labels, 200, 80):
        share = 0.9 if cut is None else labels[scores >= cut.score].mean()
        kept.append(cut is None or cut.interval[0] - 1e-9 <= share <= cut.interval[1])
    assert np.mean(kept) >= 0.93


def test_scores_that_say_nothing_give_a_cut_hardly_ever() -> None:
    """At a true share just below the promise at every cut, which is the worst case."""
    lot = np.random.default_rng(9)
    labels = (np.arange(2_000) % 100 >= 11).astype(np.float64)
    found = cuts(np.round(lot.random(2_000), 2), labels, 150, 200)
    assert sum(cut is not None for cut in found) <= 20


def test_perfect_scores_give_a_cut_close_to_the_boundary() -> None:
    labels = np.repeat([1.0, 0.0], 1_000)
    scores = np.linspace(1, 0, 2_000)
    cut = next(each for each in cuts(scores, labels, 200, 1) if each is not None)
    assert 800 < cut.selected < 1_100
    assert cut.selected == (scores >= cut.score).sum()
    assert cut.interval[0] == 0.9
    assert cut.right <= cut.labelled


def test_too_few_labels_give_no_cut() -> None:
    rows = np.arange(fewest_labels() - 1)
    scores = np.linspace(1, 0, 1_000)
    assert promised_cut(scores, rows, np.ones(len(rows))) is None
    enough = np.arange(fewest_labels())
    assert promised_cut(scores, enough, np.ones(len(enough))) is not None

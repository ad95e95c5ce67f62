"""Cohen's kappa, Krippendorff's alpha and their intervals: known values, laws, and coverage by simulation."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.size import sized
from traitbench.analysis.agreement import (
    NO_TEXTS,
    ONE_LABEL,
    Agreement,
    agreement,
    alpha,
    difference_interval,
    in_words,
    of_table,
    pairs,
    share_interval,
    sides,
)

POSITIVE, BETWEEN, NEGATIVE, MISSING = 1.0, 0.5, 0.0, math.nan
QUALITIES = st.sampled_from([NEGATIVE, 0.2, BETWEEN, 0.9, POSITIVE, MISSING])
RATED = st.lists(st.tuples(QUALITIES, QUALITIES), max_size=30)


def rated(both: list[tuple[float, float]]) -> Agreement:
    first, second = np.array(both, np.float64).reshape(-1, 2).T
    return agreement(first, second)


@pytest.mark.parametrize("quality", [POSITIVE, BETWEEN, NEGATIVE])
def test_one_label_only_has_no_kappa_and_says_why(quality: float) -> None:
    result = rated([(quality, quality)] * 12)
    assert (result.kappa, result.interval, result.why_not) == (None, None, ONE_LABEL)
    assert result.share == 1.0


def test_no_text_in_common_has_no_kappa_and_says_why() -> None:
    result = rated([(POSITIVE, MISSING), (MISSING, NEGATIVE)])
    assert (result.texts, result.share, result.kappa, result.why_not) == (0, None, None, NO_TEXTS)


def test_a_side_is_what_matters_not_how_far_a_quality_is_on_it() -> None:
    assert sides(np.array([0.0, 0.49, 0.5, 0.51, 1.0, math.nan])).tolist() == [0, 0, 1, 2, 2, -1]


def test_alpha_is_that_of_the_published_example() -> None:
    """Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011, section A: binary data, two observers."""
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert alpha(np.array([first, second], np.float64).T) == pytest.approx(0.095, abs=5e-4)


def test_alpha_leaves_out_texts_with_a_single_label() -> None:
    labels = np.array([[1, 1, 0], [0, 0, 0], [1, 1, math.nan], [0, 1, math.nan]])
    alone = np.array([[1, math.nan, math.nan], [math.nan] * 3])
    # Pairs that differ: 2 * 2 / 2 of the first text, 2 of the last. Labels: 5 positive and 5 negative.
    assert alpha(labels) == pytest.approx(1 - (2 + 2) / (2 * 5 * 5 / 9))
    assert alpha(np.vstack([labels, alone])) == alpha(labels)


@pytest.mark.parametrize("labels", [[[1, 1], [1, 1]], [[1, math.nan]], np.empty((0, 2))])
def test_alpha_of_nothing_that_differs_is_none(labels: object) -> None:
    assert alpha(np.array(labels, np.float64).reshape(-1, 2)) is None


@pytest.mark.parametrize(
    ("kappa", "words"),
    [
        (-1.0, "agree less than chance would"),
        (0.0, "agree hardly more than chance would"),
        (0.2, "agree a little"),
        (0.59, "agree moderately"),
        (0.6, "agree mostly"),
        (0.8, "agree almost always"),
        (1.0, "agree almost always"),
    ],
)
def test_every_kappa_has_words(kappa: float, words: str) -> None:
    assert in_words(kappa) == words


def test_every_two_raters_are_compared() -> None:
    labels = np.array([[1, 1, 0], [0, 0, 1], [1, 0, math.nan]])
    found = {(one, other): result.texts for one, other, result in pairs(labels)}
    assert found == {(0, 1): 3, (0, 2): 2, (1, 2): 2}


@settings(max_examples=sized(20, 60), deadline=None)
@given(RATED)
@example([(POSITIVE, NEGATIVE), (NEGATIVE, POSITIVE)] * 10)
@example([(POSITIVE, POSITIVE)] * 10 + [(NEGATIVE, POSITIVE)] * 10)  # the second rater has one label only
def test_kappa_is_that_of_scikit_learn(both: list[tuple[float, float]]) -> None:
    from sklearn.metrics import cohen_kappa_score

    result = rated(both)
    labels = sides(np.array(both, np.float64).reshape(-1, 2)).tolist()
    labelled = [(one, other) for one, other in labels if one >= 0 and other >= 0]
    assert (result.texts, result.agreed) == (len(labelled), sum(one == other for one, other in labelled))
    if result.kappa is not None:
        expected = cohen_kappa_score(*zip(*labelled, strict=True))
        assert result.kappa == pytest.approx(expected, abs=1e-12)
    else:
        assert len({side for pair in labelled for side in pair}) < 2


@settings(max_examples=sized(20, 60), deadline=None)
@given(RATED, st.randoms(use_true_random=False))
def test_it_does_not_matter_who_comes_first_or_in_which_order_texts_are(
    both: list[tuple[float, float]], random: Random
) -> None:
    result = rated(both)
    swapped = rated([(other, one) for one, other in both])
    assert swapped.kappa == pytest.approx(result.kappa, abs=1e-12)
    assert swapped.interval == result.interval
    mixed = list(both)
    random.shuffle(mixed)
    assert rated(mixed) == result


@settings(max_examples=sized(20, 60), deadline=None)
@given(RATED)
def test_kappa_is_in_its_interval_and_both_are_possible(both: list[tuple[float, float]]) -> None:
    result = rated(both)
    if result.kappa is not None:
        assert result.interval is not None
        low, high = result.interval
        assert -1 <= low <= result.kappa <= high <= 1
        assert low < high


def test_perfect_agreement_on_few_texts_is_no_certainty() -> None:
    lows = []
    for number in (5, 20, 100, 1_000):
        result = rated([(POSITIVE, POSITIVE)] * (number // 2) + [(NEGATIVE, NEGATIVE)] * (number - number // 2))
        assert result.interval is not None
        assert (result.kappa, result.interval[1]) == (1.0, 1.0)
        lows.append(result.interval[0])
    assert lows == sorted(lows)
    assert lows[0] < 0.4
    assert lows[-1] > 0.98


@pytest.mark.parametrize("labels", [(0.5, 0.0, 0.5), (0.25, 0.05, 0.7)])
@pytest.mark.parametrize(("texts", "kappa"), [(20, 0.8), (50, 0.5), (200, 0.2)])
def test_the_interval_holds_the_true_kappa_as_often_as_it_says(
    labels: tuple[float, float, float], texts: int, kappa: float
) -> None:
    """In 150 simulated tables each; 142 are expected.
    A kappa that both raters leave undefined is not counted."""
    marginal = np.array(labels)
    chances = (1 - kappa) * np.outer(marginal, marginal) + kappa * np.diag(marginal)
    drawn = np.random.default_rng(7).multinomial(texts, chances.ravel(), size=150).reshape(-1, 3, 3)
    intervals = [result.interval for each in drawn if (result := of_table(as_table(each))).interval is not None]
    assert len(intervals) > 140
    held = np.mean([low <= kappa <= high for low, high in intervals])
    assert 0.9 <= held <= 0.99


def as_table(counts: NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
    return tuple(map(tuple, counts.tolist()))


def test_a_share_has_jeffreys_interval_and_is_open_at_the_ends() -> None:
    """Brown, Cai and DasGupta, 2001, table 5: of 7, none has 0 to 0.292 in the upper tail."""
    assert share_interval(0, 7) == pytest.approx((0.0, 0.292), abs=5e-4)
    assert share_interval(7, 7) == pytest.approx((0.708, 1.0), abs=5e-4)
    assert share_interval(1, 7) == pytest.approx((0.016, 0.501), abs=5e-4)
    assert (share_interval(0, 7)[0], share_interval(7, 7)[1]) == (0.0, 1.0)
    assert share_interval(0, 0) == (0.0, 1.0)


def test_a_difference_of_shares_counts_only_texts_on_which_they_differ() -> None:
    first, second = np.array([True] * 34 + [False] * 6), np.array([True] * 30 + [False] * 10)
    low, high = difference_interval(first, second)
    # Agresti and Min: (4.5 - 0.5) / 42, with a variance of (5 - 16 / 42) / 42 ** 2.
    spread = 1.959964 * math.sqrt(5 - 16 / 42) / 42
    assert (low, high) == pytest.approx((4 / 42 - spread, 4 / 42 + spread))
    low, high = difference_interval(second, first)
    assert low < 0 < high
    low, high = difference_interval(first, first)
    assert low == pytest.approx(-high)

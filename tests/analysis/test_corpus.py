"""Shares, means and differences over a corpus: exact where everything is known, and covered where it is not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.drawn import population
from tests.size import sized
from traitbench.analysis.estimates import FEWEST, Estimate, difference, estimate_mean, estimate_share, total_of

DRAWS = 300


def coverage(scores: np.ndarray, labels: np.ndarray, n: int, *, seed: int = 2) -> tuple[float, float]:
    """How often the interval of the mean contains the truth, and its mean width."""
    lot = np.random.default_rng(seed)
    found = []
    for _ in range(DRAWS):
        rows = lot.choice(len(scores), n, replace=False)
        found.append(estimate_mean(scores, rows, labels[rows]).interval)
    lows, highs = np.array(found).T
    return float(((lows <= labels.mean()) & (labels.mean() <= highs)).mean()), float((highs - lows).mean())


@pytest.mark.parametrize("share", [0.03, 0.3, 0.9])
@pytest.mark.parametrize("apart", [0.0, 1.5, 3.0])
def test_intervals_contain_the_truth_95_times_in_100(share: float, apart: float) -> None:
    # Three standard errors of 300 draws below 95 %.
    assert coverage(*population(share, apart), 80)[0] >= 0.912


def test_intervals_of_grades_contain_the_mean() -> None:
    scores, labels = population(0.4, 1.5)
    grades = np.clip(np.round(4 * (0.3 * labels + 0.7 * scores)) / 4, 0, 1)
    assert coverage(scores, grades, 80)[0] >= 0.912


def test_good_scores_make_the_interval_narrower_and_useless_ones_do_not_widen_it() -> None:
    scores, labels = population(0.5, 3.0)
    alone = coverage(np.full(len(labels), 0.5), labels, 100)[1]
    assert coverage(scores, labels, 100)[1] < 0.6 * alone
    shuffled = np.random.default_rng(3).permutation(scores)
    assert coverage(shuffled, labels, 100)[1] < 1.05 * alone


def test_biased_scores_do_not_bias_the_estimate() -> None:
    scores, labels = population(0.1, 2.0)
    lot = np.random.default_rng(4)
    draws = (lot.choice(len(scores), 100, replace=False) for _ in range(DRAWS))
    biased = np.sqrt(scores)
    found = [estimate_share(biased, rows, labels[rows]).value for rows in draws]
    assert abs(np.mean(found) - labels.mean()) < 0.01
    assert estimate_share(biased, np.arange(100), labels[:100]).counted > 0.3


@settings(max_examples=sized(20, 60), deadline=None)
@given(
    st.integers(FEWEST, 60),
    st.integers(0, 300),
    st.sampled_from([0.0, 0.02, 0.5, 1.0]),
    st.sampled_from(["same", "good", "noise"]),
    st.booleans(),
    st.integers(0, 99),
)
def test_intervals_are_sound(n: int, more: int, share: float, kind: str, graded: bool, seed: int) -> None:
    """Within 0 and 1, around the estimate, exact where all texts are labelled, and mirrored by the other pole."""
    lot = np.random.default_rng(seed)
    labels = np.round(lot.random(n + more) * (lot.random(n + more) < share), 1) if graded else lot.random(n + more)
    labels = labels if graded else (labels < share).astype(np.float64)
    scores = {"same": np.full(n + more, 0.3), "good": labels, "noise": lot.random(n + more)}[kind]
    rows = lot.choice(n + more, n, replace=False)
    result = estimate_mean(scores, rows, labels[rows])
    low, high = result.interval
    assert 0 <= low <= result.value <= high <= 1
    if more == 0:
        assert low == high == pytest.approx(labels.mean())
    else:
        assert low < high
    mirrored = estimate_mean(1 - scores, rows, 1 - labels[rows])
    assert mirrored.value == pytest.approx(1 - result.value)
    assert mirrored.interval == pytest.approx((1 - high, 1 - low))


def test_no_positive_label_leaves_an_upper_end_like_the_rule_of_three() -> None:
    scores = np.linspace(0, 1, 5_000)
    low, high = estimate_share(scores, np.arange(0, 5_000, 50), np.zeros(100)).interval
    assert low == 0
    assert 0.025 < high < 0.05


def test_fewer_labels_than_needed_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 8 labels; there are 3"):
        estimate_share(np.linspace(0, 1, 100), np.arange(3), np.zeros(3))


def test_differences_and_totals_of_groups_contain_the_truth() -> None:
    scores, labels = population(0.3, 2.0)
    groups = np.random.default_rng(5).random(len(labels)) < np.where(labels > 0.5, 0.7, 0.4)
    truth = labels[groups].mean() - labels[~groups].mean()
    lot = np.random.default_rng(6)
    apart, together = [], []
    for _ in range(DRAWS):
        parts = []
        for own in (groups, ~groups):
            rows = lot.choice(int(own.sum()), 40, replace=False)
            parts.append(estimate_share(scores[own], rows, labels[own][rows]))
        low, high = difference(*parts).interval
        apart.append(low <= truth <= high)
        low, high = total_of(parts).interval
        together.append(low <= labels.mean() <= high)
    assert np.mean(apart) >= 0.912
    assert np.mean(together) >= 0.912


def test_the_total_of_one_group_is_the_group() -> None:
    part = Estimate(0.4, (0.3, 0.55), 0.6, 50, 200, 0.5)
    total = total_of([part])
    assert (total.value, total.counted, total.labelled, total.total) == (0.4, 0.6, 50, 200)
    assert total.interval == pytest.approx(part.interval)

"""Groups of texts by their mean scores: random groups are hardly ever marked, real differences are."""

import numpy as np
import pytest
import scipy.stats

from tests.size import sized
from traitbench.analysis.groups import FEWEST, half_widths, standings

SEEDS = sized(400, 4_000)


def drawn(kind: str, n: int, lot: np.random.Generator) -> np.ndarray:
    if kind == "normal":
        return np.clip(lot.normal(50, 15, n).round(), 0, 100)
    low, high = lot.integers(0, 15, n), lot.integers(85, 101, n)
    return np.where(lot.random(n) < (0.5 if kind == "two peaks" else 0.9), low, high).astype(float)


@pytest.mark.parametrize("groups", [2, 4, 12])
@pytest.mark.parametrize("kind", ["normal", "two peaks", "skewed"])
def test_at_most_five_in_a_hundred_comparisons_of_random_groups_mark_any(kind: str, groups: int) -> None:
    lot = np.random.default_rng(groups)
    marked = 0
    for _ in range(SEEDS):
        names = lot.integers(0, groups, 240).astype(str).tolist()
        marked += any(each in ("higher", "lower") for each in standings(drawn(kind, 240, lot), names).values())
    # Two standard deviations of the count above 5 %.
    assert marked <= 0.05 * SEEDS + 2 * np.sqrt(0.05 * 0.95 * SEEDS)


@pytest.mark.parametrize("groups", [2, 4, 12])
def test_a_real_difference_is_marked_with_its_direction(groups: int) -> None:
    lot = np.random.default_rng(3)
    names = lot.integers(0, groups, 600)
    scores = np.clip(lot.normal(50, 15, 600) - 20 * (names == 1), 0, 100)
    marks = standings(scores, names.astype(str).tolist())
    assert marks["1"] == "lower"
    assert "lower" not in {mark for name, mark in marks.items() if name != "1"}


def test_small_groups_and_equal_scores_are_not_compared() -> None:
    names = ["a"] * (FEWEST - 1) + ["b"] * 40 + ["c"] * 40
    scores = np.array([100.0] * (FEWEST - 1) + [10.0] * 40 + [90.0] * 40)
    assert standings(scores, names) == {"a": "few", "b": "lower", "c": "higher"}
    assert set(standings(np.full(87, 50.0), names).values()) == {"few", "none"}


def test_the_interval_of_a_mean_is_that_of_students_t() -> None:
    scores = np.array([10.0, 20.0, 60.0, 30.0])
    low, high = scipy.stats.t.interval(0.95, 3, loc=scores.mean(), scale=scipy.stats.sem(scores))
    halves = half_widths(np.array([scores.std(ddof=1), np.nan]), np.array([4, 1]))
    assert halves[0] == pytest.approx((high - low) / 2)
    assert np.isnan(halves[1])

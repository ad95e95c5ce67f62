"""Distributions over the levels of a scale."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traitbench.doors import probability
from traitbench.doors.decisions import certainty, spread

SHARES = st.integers(0, 1_000).map(lambda thousandths: probability.on_grid(thousandths / 1_000))
LEVELS = st.integers(2, 10)


@given(SHARES, LEVELS)
def test_the_mean_is_the_share_of_the_way_up(high: float, levels: int) -> None:
    weights = spread(high, levels)
    assert len(weights) == levels
    assert all(0 <= weight <= 1 for weight in weights)
    assert sum(weights) == 1
    mean = sum(position * weight for position, weight in enumerate(weights))
    assert mean == pytest.approx(high * (levels - 1), abs=1e-5)


@given(SHARES, LEVELS)
def test_the_reversed_scale_has_the_reversed_distribution(high: float, levels: int) -> None:
    assert spread(1 - high, levels) == pytest.approx(spread(high, levels)[::-1], abs=1e-6)


@given(SHARES)
def test_two_levels_have_the_probabilities_of_their_poles(high: float) -> None:
    assert [*spread(high, 2)] == [1 - high, high]


@given(SHARES, LEVELS)
def test_an_unsure_score_names_no_level_surely(high: float, levels: int) -> None:
    assert certainty(spread(0.4 + high / 5, levels)) <= 0.35


def test_levels_are_as_sure_as_they_are_close_to_the_most_likely_one() -> None:
    assert certainty([0, 0, 1]) == 1
    assert certainty([0.25, 0.25, 0.25, 0.25]) == 0
    assert certainty([0.1, 0.8, 0.1]) == pytest.approx(1 - 0.2 / (2 / 3))

import numpy as np
import pytest

from tests.scoring.hand import directions
from traitbench.synthesis.filters import NEAR_DUPLICATE, agreeing, distinct, on_side


def test_the_first_of_near_duplicates_is_kept() -> None:
    close = float(np.degrees(np.arccos(NEAR_DUPLICATE)))
    assert distinct(directions(0, close - 1, close + 1, 90, 90, 180)).tolist() == [True, False, True, True, False, True]


def test_a_duplicate_of_a_dropped_text_may_stay() -> None:
    close = float(np.degrees(np.arccos(NEAR_DUPLICATE)))
    assert distinct(directions(0, close * 0.9, close * 1.8)).tolist() == [True, False, True]


def test_a_text_far_on_the_other_side_is_dropped() -> None:
    positive, negative = directions(0, 10, 20, 30, 170), directions(180, 190, 200, 210, 100)
    kept = on_side(positive, negative, np.array([1.0, 0.0]))
    assert [side.tolist() for side in kept] == [[True] * 4 + [False], [True] * 5]


@pytest.mark.parametrize(("least", "kept"), [(0.9, [True, False]), (-1.0, [True, True])])
def test_a_variation_stays_near_its_seed(least: float, kept: list[bool]) -> None:
    assert agreeing(directions(5, 95), [1, 0], directions(0, 0), least=least).tolist() == kept

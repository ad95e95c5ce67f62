"""A score as a probability: its side, its order, and how far from the middle an unsure one may be."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from traitbench.contract.scores import Confidence
from traitbench.doors import probability

POLARITIES = st.floats(-1, 1)
CONFIDENCES: tuple[Confidence, ...] = ("high", "moderate", "low")


@given(POLARITIES, st.sampled_from(CONFIDENCES))
def test_it_is_above_the_middle_exactly_where_the_score_is(polarity: float, confidence: Confidence) -> None:
    at = probability.at(polarity, confidence)
    assert 0 <= at <= 1
    assert (at > 0.5, at < 0.5) == (polarity > 0, polarity < 0)


@given(POLARITIES, st.sampled_from(CONFIDENCES))
def test_those_of_both_poles_add_to_exactly_one(polarity: float, confidence: Confidence) -> None:
    at = probability.at(polarity, confidence)
    assert at + (1 - at) == 1
    assert at + probability.at(-polarity, confidence) == 1


@given(POLARITIES)
def test_a_sure_score_is_its_position(polarity: float) -> None:
    assert probability.at(polarity, "high") == pytest.approx((polarity + 1) / 2, abs=2e-7)


@example([-1.0, 1.0], "low")
@given(st.lists(POLARITIES, min_size=2), st.sampled_from(CONFIDENCES))
def test_scores_of_one_confidence_keep_their_order(polarities: list[float], confidence: Confidence) -> None:
    found = [probability.at(each, confidence) for each in sorted(polarities)]
    assert all(one <= next_one for one, next_one in pairwise(found))
    assert confidence != "low" or all(0.4 <= each <= 0.6 for each in found)

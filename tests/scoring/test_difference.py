"""A certain difference is a promise: of new texts at opposite poles, the order is right as often as it says."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scoring.hand import axis, fitted, samples, snapshot
from tests.scoring.test_certainty import measured, texts
from tests.size import sized
from traitbench.scoring.card import half_up, of_vectors, trait_score
from traitbench.scoring.certainty import Certainty, Levels
from traitbench.scoring.difference import certain
from traitbench.scoring.snapshot import Snapshot, canonical_bytes

LEVELS = Levels(high=(20, 80), moderate=(35, 65))
POINTS = st.integers(0, 100)


def pairs(snapshot: Snapshot, X: np.ndarray, y: np.ndarray, seed: int) -> tuple[int, int, int]:
    """Of 400 pairs of texts: at opposite poles and certain, of these in the right order, and certain in all."""
    rng = np.random.default_rng(seed)
    points = [half_up(100 * position) for position in of_vectors(snapshot, X)[:, 0].tolist()]
    trait = snapshot.traits[0]
    opposite, right, anywhere = 0, 0, 0
    for one, other in rng.integers(0, len(X), (400, 2)).tolist():
        if trait.certainty.differ(points[one], points[other]):
            anywhere += 1
            if y[one] != y[other]:
                opposite += 1
                right += (points[one] > points[other]) == (y[one] > y[other])
    return opposite, right, anywhere


@pytest.mark.parametrize("per_pole", [6, 16, 64])
@pytest.mark.parametrize("apart", [1.0, 2.0, 4.0])
def test_a_certain_order_is_right_nine_times_in_ten(per_pole: int, apart: float) -> None:
    rng = np.random.default_rng(per_pole)
    fresh_X, fresh_y = texts(rng, 300, apart=apart)
    opposite, right = 0, 0
    for seed in range(6):
        X, y = texts(rng, per_pole, apart=apart)
        found = pairs(fitted(samples(X, y.tolist()), effort="low").snapshot, fresh_X, fresh_y, seed)
        opposite, right = opposite + found[0], right + found[1]
    assert right >= 0.9 * opposite, (right, opposite)
    if per_pole == 64 and apart == 4.0:
        assert opposite > 0.7 * 6 * 200  # a promise that is never given would be kept too


@pytest.mark.parametrize("per_pole", [2, 5, 10, 40])
def test_labels_at_random_give_hardly_a_certain_difference(per_pole: int) -> None:
    rng = np.random.default_rng(per_pole)
    fresh, labels = texts(rng, 100, apart=0.0)
    anywhere, rounds = 0, 10
    for seed in range(rounds):
        X, y = texts(rng, per_pole, apart=0.0)
        anywhere += pairs(fitted(samples(X, y.tolist()), effort="low").snapshot, fresh, labels, seed)[2]
    assert anywhere <= 0.05 * rounds * 400


@settings(max_examples=sized(15, 40), deadline=None)
@given(st.integers(2, 40), st.integers(2, 40), st.integers(0, 1_000), st.floats(0, 4))
def test_two_sure_scores_on_opposite_sides_always_differ(positive: int, negative: int, seed: int, apart: float) -> None:
    rng = np.random.default_rng(seed)
    y = np.array([1.0] * positive + [0.0] * negative)
    found = measured(rng.normal(size=len(y)) + apart * (2 * y - 1), y)
    below, above = found.proven.moderate
    if found.limit is None and below >= 0 and above <= 100:
        assert found.differ(below, above)


@given(POINTS, POINTS, POINTS, st.floats(0.1, 10))
def test_a_difference_has_no_direction_and_grows_with_distance(one: int, two: int, three: int, least: float) -> None:
    found = Certainty(LEVELS, LEVELS, difference=least)
    assert found.differ(one, two) == found.differ(two, one)
    assert not found.differ(one, one)
    low, middle, high = sorted((one, two, three))
    assert found.differ(low, high) >= max(found.differ(low, middle), found.differ(middle, high))


@given(POINTS, POINTS)
def test_nothing_differs_where_no_score_is_sure_or_nothing_was_measured(one: int, other: int) -> None:
    assert not Certainty(limit="few_samples").differ(one, other)
    assert not Certainty(limit="not_separable", difference=0.1).differ(one, other)
    assert not Certainty(LEVELS, LEVELS).differ(one, other)


def test_more_evidence_needs_a_smaller_difference() -> None:
    rng = np.random.default_rng(1)
    y = np.repeat([1.0, 0.0], 2_000)
    values = rng.normal(size=len(y)) + 2 * (2 * y - 1)
    some = np.r_[0:12, 2_000:2_012]
    sparse, dense = measured(values[some], y[some]).difference, measured(values, y).difference
    assert sparse is not None
    assert dense is not None
    assert sparse > dense > 0


def test_a_version_says_of_each_trait_whether_it_is_certain_or_unlike() -> None:
    sure = Certainty(LEVELS, LEVELS, difference=2.0)
    version = snapshot(axis("a", certainty=sure), axis("b", certainty=sure))
    low, high = ({trait.key: trait_score(trait, at) for trait in version.traits} for at in (0.2, 0.8))
    near = high | {"b": low["b"]}
    unlike = {key: score._replace(confidence_reason="unlike_samples") for key, score in high.items()}
    assert certain(version, low, high) == {"a": True, "b": True}
    assert certain(version, low, near) == {"a": True, "b": False}
    assert certain(version, low, unlike) == certain(version, unlike, low) == {"a": False, "b": False}
    assert certain(version, {"b": low["b"]}, {"b": high["b"]}) == {"b": True}


def test_the_difference_is_part_of_the_snapshot_and_survives_it() -> None:
    version = snapshot(axis(certainty=Certainty(LEVELS, LEVELS, difference=2.5)))
    assert Snapshot.from_json(version.to_json()).traits[0].certainty == version.traits[0].certainty
    other = replace(version, traits=(axis(certainty=Certainty(LEVELS, LEVELS)),))
    assert canonical_bytes(version) != canonical_bytes(other)


def test_a_trained_version_has_a_difference_of_single_precision() -> None:
    X, y = texts(np.random.default_rng(5), 30, apart=4.0)
    certainty = fitted(samples(X, y.tolist()), effort="low").snapshot.traits[0].certainty
    assert certainty.difference is not None
    assert certainty.difference == float(np.float32(certainty.difference)) > 0

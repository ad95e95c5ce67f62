"""The confidence of a score is a promise: on new texts, the side is right as often as it says, or more often."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit

from tests.scoring.hand import axis, directions, fitted, samples
from tests.size import sized
from traitbench.fitting.auroc import auroc, out_of_fold_interval
from traitbench.scoring.card import confidence, half_up, of_vectors
from traitbench.scoring.certainty import NOWHERE, Certainty, Levels, certainty
from traitbench.scoring.snapshot import Quartiles, Snapshot

Floats = NDArray[np.float64]
D = 32
LEVELS = Levels(high=(20, 80), moderate=(35, 65))


def measured(held_out: Floats, y: Floats) -> Certainty:
    area = auroc(held_out, y)
    pole = int((y > 0.5).sum()), int((y < 0.5).sum())
    return certainty(held_out, y, np.arange(len(y)), out_of_fold_interval(area, *pole))


def texts(rng: np.random.Generator, per_pole: int, *, apart: float) -> tuple[NDArray[np.float32], Floats]:
    """Unit vectors whose poles differ by `apart` in one direction."""
    y = np.repeat([1.0, 0.0], per_pole)
    X = rng.normal(size=(len(y), D))
    X[:, 0] += apart * (2 * y - 1)
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32), y


def sureness(snapshot: Snapshot, X: NDArray[np.float32], y: Floats) -> dict[str, tuple[int, int]]:
    """By confidence: how many texts have it, and how many of them are on the right side."""
    found = {"high": [0, 0], "moderate": [0, 0], "low": [0, 0]}
    for position, quality in zip(of_vectors(snapshot, X)[:, 0].tolist(), y.tolist(), strict=True):
        points = half_up(100 * position)
        level = found[confidence(snapshot.traits[0], points)[0]]
        level[0] += 1
        level[1] += points > 50 if quality > 0.5 else points < 50
    return {level: (count, right) for level, (count, right) in found.items()}


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        (Certainty(limit="not_separable"), "not_separable"),
        (Certainty(limit="few_samples"), "few_samples"),
        (Certainty(proven=NOWHERE, likely=LEVELS), "few_samples"),
        (Certainty(proven=LEVELS, likely=LEVELS), None),
    ],
)
def test_a_trait_says_why_no_score_is_sure(known: Certainty, reason: str | None) -> None:
    assert known.nowhere == reason
    if reason:
        assert {known.at(points, "high")[0] for points in range(101)} == {"low"}


@pytest.mark.parametrize("per_pole", [6, 16, 64])
@pytest.mark.parametrize("apart", [1.0, 2.0, 4.0])
def test_high_is_right_nine_times_in_ten_and_moderate_three_in_four(per_pole: int, apart: float) -> None:
    rng = np.random.default_rng(per_pole)
    fresh_X, fresh_y = texts(rng, 300, apart=apart)
    totals = {"high": [0, 0], "moderate": [0, 0]}
    for _ in range(6):
        X, y = texts(rng, per_pole, apart=apart)
        found = sureness(fitted(samples(X, y.tolist()), effort="low").snapshot, fresh_X, fresh_y)
        for level, total in totals.items():
            total[0] += found[level][0]
            total[1] += found[level][1]
    for level, promised in (("high", 0.9), ("moderate", 0.75)):
        count, right = totals[level]
        assert right >= promised * count, (level, right, count)
    if per_pole == 64 and apart == 4.0:
        assert totals["high"][0] > 0.4 * 6 * len(fresh_y)  # a promise that is never given would be kept too


@pytest.mark.parametrize("per_pole", [1, 2, 3, 5, 10, 40])
def test_labels_at_random_give_hardly_a_confident_score_and_no_extreme_one(per_pole: int) -> None:
    rng = np.random.default_rng(per_pole)
    fresh, _ = texts(rng, 100, apart=0.0)
    high, extreme, rounds = 0, 0, 10
    for _ in range(rounds):
        X, y = texts(rng, per_pole, apart=0.0)
        snapshot = fitted(samples(X, y.tolist()), effort="low").snapshot
        positions = of_vectors(snapshot, fresh)[:, 0]
        high += sureness(snapshot, fresh, np.ones(len(fresh)))["high"][0]
        extreme += int((np.abs(positions - 0.5) > 0.47).sum())
    assert high <= 0.05 * rounds * len(fresh)
    assert extreme <= 0.05 * rounds * len(fresh)


def test_what_proves_nothing_is_low_everywhere_and_says_why() -> None:
    rng = np.random.default_rng(0)
    few = np.array([2.0, 1.0, -1.0, -2.0]), np.array([1.0, 1.0, 0.0, 0.0])
    many = rng.normal(size=400), np.repeat([1.0, 0.0], 200)
    slight = rng.normal(size=4_000) + np.repeat([0.08, -0.08], 2_000), np.repeat([1.0, 0.0], 2_000)
    assert measured(*few) == Certainty(limit="few_samples")
    assert measured(*many) == Certainty(limit="not_separable")
    assert measured(*slight) == Certainty(limit="not_separable")
    assert certainty(None, np.array([1.0, 0.0]), np.arange(2), None) == Certainty(limit="few_samples")


def test_between_the_poles_the_samples_overlap_and_more_of_them_make_a_place_surer() -> None:
    rng = np.random.default_rng(1)
    y = np.repeat([1.0, 0.0], 2_000)
    values = rng.normal(size=len(y)) + 2 * (2 * y - 1)
    some = np.r_[0:12, 2_000:2_012]
    sparse, dense = measured(values[some], y[some]), measured(values, y)
    assert sparse.proven != NOWHERE
    assert sparse.proven.high[1] > dense.proven.high[1] > 50
    assert sparse.proven.high[0] < dense.proven.high[0] < 50
    assert dense.at(50, "high") == ("low", "overlap")
    likely = sparse.likely.high[1]
    assert likely < sparse.proven.high[1]
    assert sparse.at(likely, "high") == ("moderate", "few_samples")


def test_the_chances_are_those_of_the_scale_where_there_is_much_evidence() -> None:
    """Of scores that are right as they are, 90 is sure at 0.9 and 75 at 0.75, as far as 20,000 samples can tell."""
    rng = np.random.default_rng(2)
    logits = rng.normal(scale=2.0, size=20_000)
    y = (rng.random(len(logits)) < expit(logits)).astype(float)
    proven = measured(logits, y).proven
    assert [*proven.high, *proven.moderate] == pytest.approx([10, 90, 25, 75], abs=2)


def test_near_duplicates_are_one_piece_of_evidence() -> None:
    rng = np.random.default_rng(3)
    y = np.repeat([1.0, 0.0], 12)
    values = rng.normal(size=len(y)) + 2.5 * (2 * y - 1)
    groups = np.arange(len(y))
    area = auroc(values, y)
    span = out_of_fold_interval(area, 12, 12)
    once = certainty(values, y, groups, span)
    thrice = certainty(np.tile(values, 3), np.tile(y, 3), np.tile(groups, 3), span)
    assert once == thrice


@given(st.integers(0, 100))
def test_the_quartiles_set_the_most_that_a_confidence_can_be(points: int) -> None:
    sure = Certainty(Levels((49, 51), (49, 51)), Levels((49, 51), (49, 51)))
    apart = axis(certainty=sure)
    overlapping = axis(certainty=sure, positive=Quartiles(40, 60, 80), negative=Quartiles(20, 30, 55))
    expected = "low" if points == 50 else "moderate" if 40 <= points < 60 else "high"
    assert confidence(apart, points)[0] == expected
    if 40 <= points <= 55:
        assert confidence(overlapping, points) == ("low", "overlap")


@given(st.integers(0, 100))
def test_a_reason_is_given_exactly_when_the_confidence_is_not_high(points: int) -> None:
    for trait in (axis(certainty=Certainty(LEVELS, LEVELS)), axis(), axis(positive=None, negative=None)):
        level, reason = confidence(trait, points)
        assert (reason is None) == (level == "high")


@settings(max_examples=sized(15, 30), deadline=None)
@given(st.integers(2, 40), st.integers(2, 40), st.integers(0, 1_000), st.floats(0, 4))
def test_further_out_is_never_less_sure(positive: int, negative: int, seed: int, apart: float) -> None:
    rng = np.random.default_rng(seed)
    y = np.array([1.0] * positive + [0.0] * negative)
    found = measured(rng.normal(size=len(y)) + apart * (2 * y - 1), y)
    order = ["low", "moderate", "high"]
    up = [order.index(found.at(points, "high")[0]) for points in range(50, 101)]
    down = [order.index(found.at(points, "high")[0]) for points in range(50, -1, -1)]
    assert up == sorted(up)
    assert down == sorted(down)


def test_poles_that_are_nearly_the_same_text_give_no_steep_axis() -> None:
    for degree in (1.0, 0.1, 0.01, 0.0001):
        X = directions(0.0, degree)
        snapshot = fitted(samples(X, [1, 0])).snapshot
        elsewhere = of_vectors(snapshot, directions(*range(0, 360, 10)))[:, 0]
        assert np.all(np.abs(elsewhere - 0.5) < 0.49), degree


def test_near_duplicates_of_opposite_poles_are_fitted_and_not_measured() -> None:
    """Held out together they could leave a fit without a pole; this was a failed training."""
    X = directions(0, 1, 90, 91, 180)
    trained = fitted(samples(X[:4], [0, 0, 1, 1], groups=[0, 1, 2, 1]))
    assert trained.metrics["traits"]["warmth"]["auroc"] is None
    assert trained.snapshot.traits[0].certainty == Certainty(limit="few_samples")

import numpy as np
import pytest
from scipy.special import expit

from tests.scoring.hand import directions
from tests.scoring.test_axis import cloud
from traitbench.scoring.search import EFFORTS, Evidence, Found, evidence, search


def test_a_text_that_stands_twice_is_one_sample_with_the_mean_of_its_qualities() -> None:
    found = evidence(directions(0, 0, 180), np.array([1.0, 0.0, 0.0]), ["a", "a", "b"])
    assert len(found.y) == 2
    assert sorted(found.y) == [0.0, 0.5]


def test_texts_without_a_token_tell_nothing() -> None:
    X = np.vstack([directions(0, 180), np.zeros((2, 2), np.float32)])
    assert len(evidence(X, np.array([1.0, 0, 1, 0]), range(4)).y) == 2


def test_groups_and_equal_vectors_make_kin() -> None:
    """1 and 2 share a group, 2 and 3 a vector: all three are kin, 4 is not."""
    found = evidence(directions(0, 10, 10, 180), np.array([1.0, 1, 1, 0]), ["a", "a", "b", "c"])
    assert len(found.y) == 3
    assert len(np.unique(found.kin)) == 2


def test_kin_never_stand_on_both_sides_of_a_fold() -> None:
    """Noise, every text with a near copy of the same label: whoever saw the copy knows the label, nobody else does."""
    rng = np.random.default_rng(2)
    X = np.repeat(rng.normal(size=(28, 200)), 2, axis=0) + 0.1 * rng.normal(size=(56, 200))
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    y = np.repeat(np.tile([1.0, 0.0], 14), 2)
    copies_apart = search(evidence(X, y, range(56)), EFFORTS["high"])
    copies_together = search(evidence(X, y, np.repeat(np.arange(28), 2)), EFFORTS["high"])
    assert accuracy(copies_apart, evidence(X, y, range(56))) > 0.9
    assert accuracy(copies_together, evidence(X, y, range(56))) < 0.7


def accuracy(found: Found, samples: Evidence) -> float:
    assert found.held_out is not None
    return float(((found.held_out > 0) == (samples.y > 0.5)).mean())


@pytest.mark.parametrize(
    ("positive", "negative", "effort", "folds"),
    [
        (2, 9, "high", 2),
        (5, 5, "high", 5),
        (31, 31, "high", 10),
        (31, 31, "low", 10),
        (32, 32, "high", None),
        (3, 97, "high", 3),
    ],
)
def test_folds_or_leave_one_out_as_the_samples_allow(
    positive: int, negative: int, effort: str, folds: int | None
) -> None:
    X, _ = cloud(positive + negative, 16)
    y = np.array([1.0] * positive + [0.0] * negative)
    assert search(evidence(X, y, range(len(y))), EFFORTS[effort]).folds == folds


@pytest.mark.parametrize("n", [40, 200])
def test_held_out_scores_of_noise_know_nothing(n: int) -> None:
    X, _ = cloud(n, 64, apart=0.0)
    y = np.tile([1.0, 0.0], n // 2)
    found = search(evidence(X, y, range(n)), EFFORTS["high"])
    assert found.held_out is not None
    assert np.abs(expit(found.held_out) - 0.5).mean() < 0.2


def test_one_sample_at_each_pole_points_from_one_to_the_other() -> None:
    found = search(evidence(directions(0, 180), np.array([1.0, 0.0]), range(2)), EFFORTS["high"])
    assert found.held_out is None
    np.testing.assert_allclose(
        expit(directions(0, 90, 180) @ found.vector + found.offset), [0.731, 0.5, 0.269], atol=1e-3
    )


@pytest.mark.parametrize("y", [(1.0, 1.0, 1.0), (0.0, 0.2, 0.4), (0.5, 0.5, 0.5), (1.0, 0.5, 0.5)])
def test_without_a_second_pole_everything_stands_in_the_middle(y: tuple[float, ...]) -> None:
    found = search(evidence(directions(0, 90, 180), np.array(y), range(3)), EFFORTS["high"])
    assert found.held_out is None
    assert not found.vector.any()
    assert found.offset == 0


def test_grades_alone_are_enough() -> None:
    X = directions(0, 30, 60, 120, 150, 180)
    found = search(evidence(X, np.array([0.9, 0.8, 0.6, 0.4, 0.3, 0.1]), range(6)), EFFORTS["high"])
    scores = expit(X @ found.vector + found.offset)
    assert (np.diff(scores) < 0).all()
    assert scores[0] > 0.5 > scores[-1]

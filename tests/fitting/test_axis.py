import numpy as np
import pytest

from tests.scoring.hand import cloud, directions
from traitbench.fitting.axis import centroid_difference, path, path_and_left_out, pole_weights


@pytest.mark.parametrize(
    ("y", "weights"),
    [
        ((1, 0), (0.5, 0.5)),
        ((1, 0, 0, 0, 0), (0.5, 0.125, 0.125, 0.125, 0.125)),
        ((0.9, 0.6, 0.2), (0.25, 0.25, 0.5)),
        ((1, 0.5, 0), (1 / 3, 1 / 3, 1 / 3)),
    ],
)
def test_each_pole_has_half_of_the_weight(y: tuple[float, ...], weights: tuple[float, ...]) -> None:
    np.testing.assert_allclose(pole_weights(np.array(y)), weights)


def test_samples_beyond_the_midpoint_are_above_zero() -> None:
    X, y = directions(0, 10, 180, 190, 200, 210, 220, 230), np.array([1.0, 1, 0, 0, 0, 0, 0, 0])
    values = path(X, y, [0.1, 1, 1000]).values(X)
    assert (values[:2] > 0).all()
    assert (values[2:] < 0).all()


@pytest.mark.parametrize(("n", "d"), [(80, 10), (80, 200)])
def test_closed_form_leave_one_out_equals_refitting(n: int, d: int) -> None:
    X, y = cloud(n, d)
    shrinkages = [0.3, 3, 300]
    result, values = path_and_left_out(X, y, shrinkages)
    np.testing.assert_allclose(result.directions, path(X, y, shrinkages).directions)
    keep = ~np.eye(n, dtype=bool)
    refitted = np.array([path(X[keep[i]], y[keep[i]], shrinkages).values(X[i : i + 1])[0] for i in range(n)])
    assert np.abs(values - refitted).max() < 0.03 * np.abs(refitted).max()
    assert np.abs((values - refitted).mean(axis=0)).max() < 0.003


def test_graded_qualities_pull_in_proportion() -> None:
    X = np.array([(1, 0), (0.5, 0), (0, 0.5), (-0.5, 0), (-1, 0)], np.float32)
    strong = path(X, np.array([1, 0.9, 0.5, 0.1, 0]), [1]).directions[0]
    weak = path(X, np.array([0.6, 0.55, 0.5, 0.45, 0.4]), [1]).directions[0]
    assert strong[0] > 4 * weak[0] > 0


def test_identical_samples_give_no_direction() -> None:
    X, y = directions(30, 30, 30, 30), np.array([1.0, 1, 0, 0])
    np.testing.assert_allclose(path(X, y, [0.1, 1]).directions, 0, atol=1e-9)
    assert np.isfinite(centroid_difference(X, y).directions).all()


def test_the_centroid_difference_is_scaled_by_its_own_values() -> None:
    values = centroid_difference(directions(0, 180), np.array([1.0, 0])).values(directions(0, 90, 180))
    np.testing.assert_allclose(values[:, 0], [1, 0, -1], atol=1e-6)


@pytest.mark.parametrize(("n", "d"), [(200, 60), (5_000, 60), (30, 45)], ids=["some", "many", "few"])
def test_a_direction_is_that_of_the_formula(n: int, d: int) -> None:
    """The first direction has a thousand times the deviation of the last, or more, as in vectors of texts."""
    X, y = cloud(n, d)
    X *= np.geomspace(1, 0.03, d, dtype=np.float32)
    weights, target = pole_weights(y), 2 * y - 1
    centred = X - weights @ X
    S, c = (weights * centred.T) @ centred, (weights * target) @ centred
    for shrinkage in (0.01, 1.0, 100.0, 1e6):
        expected = np.linalg.solve(S + shrinkage * np.trace(S) / min(n - 1, d) * np.eye(d), c)
        result = path(X, y, [shrinkage]).directions[0]
        assert np.linalg.norm(result - expected) < 1e-4 * np.linalg.norm(expected)


def test_leave_one_out_of_very_many_samples_is_nearly_exact() -> None:
    X, y = cloud(4_096, 24)
    _, result = path_and_left_out(X, y, [0.1, 10.0])
    for i in (0, 1, 4_000):
        rest = np.arange(4_096) != i
        refitted = path(X[rest], y[rest], [0.1, 10.0]).values(X[i : i + 1])[0]
        np.testing.assert_allclose(result[i], refitted, atol=0.01 * np.abs(result).max())


def test_leaving_out_a_grade_does_not_move_the_middle_away_from_it() -> None:
    """At large shrinkage directions are short, so the shift of the middle would dominate."""
    rng = np.random.default_rng(3)
    y = rng.uniform(0, 1, 100)
    X = rng.normal(size=(100, 20))
    X[:, 0] += 3 * y
    _, result = path_and_left_out(X.astype(np.float32), y, [1000.0])
    assert np.corrcoef(result[:, 0], y)[0, 1] > 0.4

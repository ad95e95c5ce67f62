import numpy as np
import pytest
from scipy.optimize import minimize

from traitbench.fitting.calibrate import calibrate, smoothed


def column(*values: float) -> np.ndarray:
    return np.array(values, np.float64)[:, None]


def test_calibration_finds_the_most_probable_slope() -> None:
    """A general minimizer finds the same minimum."""
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.normal(1, 1, 40), rng.normal(-1, 1, 40)])
    targets = smoothed(np.repeat([1.0, 0.0], 40), 80)

    def loss(at: np.ndarray) -> float:
        logits = np.exp(at[0]) * values + at[1]
        return float((np.logaddexp(0, logits) - targets * logits).sum() + at[0] ** 2 / 4.5 + at[1] ** 2 / 0.125)

    result, expected = calibrate(values[:, None], targets, np.ones(80)), minimize(loss, [0.0, 0.0], tol=1e-12)
    np.testing.assert_allclose([result.log_slopes[0], result.offsets[0]], expected.x, atol=1e-5)


def test_columns_are_calibrated_independently() -> None:
    rng = np.random.default_rng(4)
    values, targets = rng.normal(size=(20, 3)), smoothed(np.repeat([1.0, 0.0], 10), 20)
    together = calibrate(values, targets, np.ones(20))
    for i in range(3):
        alone = calibrate(values[:, i : i + 1], targets, np.ones(20))
        np.testing.assert_allclose(together.slopes[i], alone.slopes[0], rtol=1e-7)


@pytest.mark.parametrize("turn", [1, -1])
def test_the_slope_stays_positive_for_reversed_values(turn: int) -> None:
    result = calibrate(turn * column(1, 1, -1, -1), smoothed(np.array([1.0, 1, 0, 0]), 4), np.ones(4))
    assert 0 < result.slopes[0] < 20


def test_swapping_the_poles_negates_the_offset_and_keeps_the_slope() -> None:
    values, y = column(1.5, 0.4, 0.2, -1), np.array([1.0, 1, 0, 0])
    one, other = calibrate(values, y, np.ones(4)), calibrate(-values, 1 - y, np.ones(4))
    np.testing.assert_allclose(one.slopes, other.slopes, rtol=1e-8)
    np.testing.assert_allclose(one.offsets, -other.offsets, atol=1e-9)


def test_another_start_gives_the_same_calibration() -> None:
    values, y = column(1.5, 0.4, 0.2, -1), smoothed(np.array([1.0, 1, 0, 0]), 4)
    cold = calibrate(values, y, np.ones(4))
    warm = calibrate(values, y, np.ones(4), start=calibrate(values * 1.1, y, np.ones(4)))
    np.testing.assert_allclose(warm.slopes, cold.slopes, rtol=1e-7)


def test_smoothing_moves_poles_inward_and_keeps_grades() -> None:
    np.testing.assert_allclose(smoothed(np.array([1, 0.7, 0.5, 0]), 16), [0.9, 0.7, 0.5, 0.1])

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from core.scoring.evaluate import auroc, figures, interval
from core.scoring.search import EFFORTS, evidence, search
from tests.scoring.hand import directions
from tests.scoring.test_axis import cloud


def test_auroc_is_the_usual_one_ties_counting_half() -> None:
    rng = np.random.default_rng(5)
    values, y = rng.integers(0, 6, 80).astype(float), rng.integers(0, 2, 80).astype(float)
    assert auroc(values, y) == pytest.approx(roc_auc_score(y, values))


def test_auroc_leaves_the_middle_out() -> None:
    assert auroc(np.array([2.0, 9, 1]), np.array([1.0, 0.5, 0])) == 1.0


@pytest.mark.parametrize("area", [0.0, 0.3, 0.5, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("n", [2, 5, 50, 1000])
def test_the_interval_ends_where_the_area_would_be_a_surprise(area: float, n: int) -> None:
    """Hanley and McNeil's standard error at either end is the distance to it, over 1.96."""
    for end in set(interval(area, n, n)) - {0.0, 1.0}:
        one, two = end / (2 - end), 2 * end**2 / (1 + end)
        variance = (end * (1 - end) + (n - 1) * (one - end**2) + (n - 1) * (two - end**2)) / n**2
        assert abs(area - end) == pytest.approx(1.96 * variance**0.5, rel=1e-3)


@pytest.mark.parametrize(
    ("area", "positive", "negative", "low", "high"),
    [
        (0.9, 50, 50, 0.816, 0.946),
        (0.9, 10, 90, 0.737, 0.963),
        (1.0, 5, 5, 0.643, 1.0),
        (1.0, 200, 200, 0.990, 1.0),
        (0.0, 5, 5, 0.0, 0.357),
    ],
)
def test_the_interval_holds_the_area_and_is_wide_where_little_is_known(
    area: float, positive: int, negative: int, low: float, high: float
) -> None:
    assert interval(area, positive, negative) == pytest.approx((low, high), abs=0.001)


def test_figures_name_what_they_were_measured_on() -> None:
    samples = evidence(*cloud(40, 16), range(40))
    found = figures(samples, search(samples, EFFORTS["high"]))
    assert found["measured_on"] == "out-of-fold, 10 folds, 40 distinct samples"
    low, high = found["auroc_interval"]
    assert 0 <= low <= found["auroc"] <= high <= 1
    assert 0 < found["brier"] < 0.25
    assert 0 <= found["calibration_error"] < 0.3
    assert 0 < found["cross_entropy"] < 0.7


def test_leave_one_out_is_called_so() -> None:
    samples = evidence(*cloud(100, 16), range(100))
    assert figures(samples, search(samples, EFFORTS["high"]))["measured_on"] == "leave-one-out, 100 distinct samples"


@pytest.mark.parametrize(
    ("y", "reason"),
    [
        ((1, 0, 0), "not measured: one distinct text at the positive pole, two are needed to hold one out"),
        ((1, 1, 0), "not measured: one distinct text at the negative pole, two are needed to hold one out"),
        ((1, 1, 1), "not measured: no distinct text at the negative pole, two are needed to hold one out"),
    ],
)
def test_without_anything_held_out_figures_are_null_and_say_why(y: tuple[float, ...], reason: str) -> None:
    samples = evidence(directions(0, 90, 180), np.array(y, float), range(3))
    found = figures(samples, search(samples, EFFORTS["high"]))
    assert found["measured_on"] == reason
    assert {found[name] for name in ("auroc", "auroc_interval", "brier", "calibration_error", "cross_entropy")} == {
        None
    }


def test_figures_do_not_praise_what_they_have_seen() -> None:
    """On noise, the fit knows its own samples by heart; the figures do not fall for it."""
    X, _ = cloud(60, 200, apart=0.0)
    y = np.tile([1.0, 0.0], 30)
    samples = evidence(X, y, range(60))
    found = search(samples, EFFORTS["high"])
    assert auroc(samples.X @ found.vector, samples.y) > 0.95
    assert figures(samples, found)["auroc"] < 0.75

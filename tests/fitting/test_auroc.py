import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from traitbench.fitting.auroc import auroc, interval, out_of_fold_interval


def test_auroc_counts_ties_half_and_uses_sample_weights() -> None:
    rng = np.random.default_rng(6)
    values, y, votes = rng.integers(0, 6, 80).astype(float), rng.integers(0, 2, 80).astype(float), rng.uniform(0, 1, 80)
    assert auroc(values, y) == pytest.approx(roc_auc_score(y, values))
    assert auroc(values, y, votes) == pytest.approx(roc_auc_score(y, values, sample_weight=votes))


def test_auroc_ignores_samples_in_the_middle() -> None:
    assert auroc(np.array([2.0, 9, 1]), np.array([1.0, 0.5, 0])) == 1.0


@pytest.mark.parametrize("area", [0.0, 0.3, 0.5, 0.9, 0.999, 1.0])
@pytest.mark.parametrize("n", [2, 5, 50, 1000])
def test_the_interval_ends_where_the_score_test_rejects(area: float, n: int) -> None:
    """At either end, the distance to the AUROC is 1.96 standard errors by Hanley and McNeil."""
    ends = set(interval(area, n, n)) - {0.0, 1.0}
    assert ends
    for end in ends:
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
def test_the_interval_contains_the_auroc_and_is_wide_for_few_samples(
    area: float, positive: int, negative: int, low: float, high: float
) -> None:
    assert interval(area, positive, negative) == pytest.approx((low, high), abs=0.001)


@pytest.mark.parametrize("area", [0.0, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("n", [2, 10, 100])
def test_an_out_of_fold_interval_is_wider_than_that_of_a_test_set(area: float, n: int) -> None:
    (low, high), (lower, higher) = interval(area, n, n), out_of_fold_interval(area, n, n)
    assert 0 <= lower <= low <= area <= high <= higher <= 1
    assert higher - lower > high - low

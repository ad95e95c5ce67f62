"""The differences of two versions, against the definitions of their intervals."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from traitbench.comparison import paired
from traitbench.comparison.paired import Difference, auroc_difference, error_difference, paired_shares

Floats = NDArray[np.float64]

Z = float(norm.ppf(0.975))
POLES = np.repeat([1.0, 0.0], 12)
ALONE = np.arange(24)


def drawn(seed: int, count: int = 12) -> tuple[Floats, Floats, Floats]:
    """Values of two versions that have much in common, and the poles."""
    lot = np.random.default_rng(seed)
    y = np.repeat([1.0, 0.0], count)
    common = y + lot.normal(size=2 * count)
    return common + 0.5 * lot.normal(size=2 * count), common + 0.5 * lot.normal(size=2 * count), y


def test_auroc_is_the_share_of_pairs_in_the_right_order() -> None:
    a, b, y = drawn(1)
    a, b = np.round(a, 1), np.round(b, 1)
    found = auroc_difference(a, b, y, ALONE)
    for values, area in ((a, found.a), (b, found.b)):
        pairs = [(values[i] > values[j]) + (values[i] == values[j]) / 2 for i, j in product(range(12), range(12, 24))]
        assert area == pytest.approx(np.mean(pairs))
    assert found.delta == found.b - found.a


def test_the_variance_is_that_of_delong(monkeypatch: pytest.MonkeyPatch) -> None:
    """With covariances of the placements, as in the paper, and without the imaginary group."""
    monkeypatch.setattr(paired, "IMAGINARY", 0.0)
    a, b, y = drawn(2)
    kernel = [(values[:12, None] > values[None, 12:]).astype(float) for values in (a, b)]
    S10, S01 = (np.cov([each.mean(axis=axis) for each in kernel]) for axis in (1, 0))
    S = S10 / 12 + S01 / 12
    found = auroc_difference(a, b, y, ALONE, level=0.95)
    reach = (found.interval[1] - found.interval[0]) / 2
    error = float(np.sqrt(S[0, 0] + S[1, 1] - 2 * S[0, 1]))
    assert 1.0 < reach / (Z * error) < 1.12, "Student's t is a little wider than the normal distribution"


def test_samples_of_one_group_count_once() -> None:
    a, b, y = drawn(3)
    three = np.repeat(np.arange(24), 3)
    once, copied = auroc_difference(a, b, y, ALONE), auroc_difference(a[three], b[three], y[three], three)
    assert copied.interval == pytest.approx(once.interval)
    assert (copied.a, copied.b) == pytest.approx((once.a, once.b))
    assert auroc_difference(a[three], b[three], y[three], np.arange(72)).interval != pytest.approx(once.interval)
    once, copied = (
        error_difference(60 * a[rows], 60 * b[rows], y[rows], groups)
        for rows, groups in ((ALONE, ALONE), (three, three))
    )
    assert copied.interval == pytest.approx(once.interval)


@pytest.mark.parametrize("same", [np.linspace(1, 0, 24), drawn(4)[0]], ids=["both perfect", "both alike"])
def test_equal_scores_are_no_proof_that_nothing_differs(same: Floats) -> None:
    found = auroc_difference(same, same, POLES, ALONE)
    assert found.delta == 0
    assert found.interval[0] == -found.interval[1] < -0.02
    many = np.repeat(same, 20), np.repeat(POLES, 20)
    more = auroc_difference(many[0], many[0], many[1], np.arange(480))
    assert more.interval[1] < found.interval[1] / 10, "but many equal scores are nearly one"


@pytest.mark.parametrize(("more", "less", "count"), [(0, 0, 20), (5, 0, 20), (3, 9, 44), (16, 4, 34), (2.5, 0.5, 12)])
def test_the_interval_of_paired_shares_is_tangos(more: float, less: float, count: float) -> None:
    """At each bound, the score statistic with the most likely shares is z."""
    for bound in paired_shares(more, less, count):
        other = _most_likely_share(more, less, count, bound)
        variance = count * (2 * other + bound * (1 - bound))
        assert abs(more - less - count * bound) == pytest.approx(Z * np.sqrt(variance), rel=1e-3)


def _most_likely_share(more: float, less: float, count: float, difference: float) -> float:
    """The share of `less` that is most likely if the difference is this one."""

    def unlikely(share: float) -> float:
        shares = (share + difference, share, 1 - 2 * share - difference)
        counts = (more, less, count - more - less)
        return -float(sum(each * np.log(max(part, 1e-300)) for each, part in zip(counts, shares, strict=True) if each))

    bounds = (max(0.0, -difference), (1 - difference) / 2)
    return float(minimize_scalar(unlikely, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x)


def test_the_error_counts_scores_that_are_not_on_their_side() -> None:
    y = np.array([1.0, 1.0, 0.0, 0.0, 0.5])
    a, b = np.array([51.0, 50.0, 50.0, 49.0, 0.0]), np.array([100.0, 51.0, 0.0, 51.0, 100.0])
    found = error_difference(a, b, y, np.arange(5))
    assert (found.a, found.b) == (0.5, 0.25), "the middle is on no side, and a sample at 0.5 does not count"


def test_a_stricter_level_is_wider() -> None:
    a, b, y = drawn(5)
    wide, narrow = (auroc_difference(a, b, y, ALONE, level=level).interval for level in (0.99, 0.95))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]
    wide, narrow = (error_difference(60 * a, 60 * b, y, ALONE, level=level).interval for level in (0.99, 0.95))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_intervals_contain_the_truth_about_as_often_as_they_say() -> None:
    """Of two versions whose true difference is 0; the benchmark `versions` measures it on real texts."""
    inside = np.mean([_contains_zero(auroc_difference(*drawn(seed, 20), np.arange(40))) for seed in range(400)])
    assert 0.92 < inside < 0.99


def _contains_zero(found: Difference) -> bool:
    return found.interval[0] <= 0 <= found.interval[1]

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import fisher_exact

from traitbench.analysis import nuisance
from traitbench.analysis.nuisance import of_group, of_length, one_sided, source

POLES = np.r_[np.ones(12), np.zeros(12)]


@pytest.mark.parametrize(
    ("lengths", "y", "area"),
    [
        ([*range(200, 212), *range(20, 32)], POLES, 1.0),
        ([*range(20, 32), *range(200, 212)], POLES, 1.0),
        ([50, 60] * 12, POLES, None),
        ([7] * 24, POLES, None),
        ([200, 210, 20, 30], POLES[[0, 1, 12, 13]], None),
    ],
    ids=["longer", "shorter", "overlapping", "equal", "few"],
)
def test_poles_are_separated_by_length_only_if_one_is_longer(
    lengths: list[int], y: NDArray[np.float64], area: float | None
) -> None:
    assert of_length(lengths, y) == area


def test_a_group_that_one_pole_has_is_found_with_its_shares() -> None:
    result = of_group(["German"] * 10 + ["English"] * 2 + ["English"] * 12, POLES)
    assert result is not None
    assert result.name in ("German", "English")
    assert abs(result.positive - result.negative) == pytest.approx(10 / 12)


@pytest.mark.parametrize(
    "groups", [["a", "b"] * 12, [None] * 24, ["a"] * 24, ["a"] * 8 + ["b"] * 4 + ["a"] * 3 + ["b"] * 9]
)
def test_groups_that_both_poles_share_are_not_reported(groups: list[str | None]) -> None:
    assert of_group(groups, POLES) is None


def test_three_against_three_may_be_chance() -> None:
    assert of_group(["a"] * 3 + ["b"] * 3, np.r_[np.ones(3), np.zeros(3)]) is None


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        (["en"] * 60 + ["de"] * 10 + ["en"] * 70, ["de"]),
        (["en"] * 55 + ["de"] * 15 + ["en"] * 69 + ["de"], ["de"]),
        (["en"] * 60 + ["de"] * 10 + ["en"] * 60 + ["ja"] * 10, ["de", "ja"]),
        (["en"] * 60 + ["de"] * 10 + ["en"] * 67 + ["de"] * 3, []),
        (["en"] * 67 + ["de"] * 3 + ["en"] * 70, []),
        (["en"] * 60 + [None] * 10 + ["en"] * 70, []),
        (["en"] * 140, []),
    ],
    ids=["one pole", "nine tenths", "one each", "both poles", "few", "unknown", "all alike"],
)
def test_a_small_group_that_only_one_pole_has_is_found(groups: list[str | None], names: list[str]) -> None:
    y = np.r_[np.ones(70), np.zeros(70)]
    assert [group.name for group in one_sided(groups, y)] == names
    assert of_group(groups, y) is None


@pytest.mark.parametrize(
    ("provenance", "address", "name"),
    [
        ("authored", "https://example.org/a?b#c", "example.org"),
        ("authored", "https://EXAMPLE.org:8080/", "example.org"),
        ("authored", None, "no address"),
        ("authored", "notes of May", "notes of May"),
        ("authored", "http://[broken", "http://[broken"),
        ("score_feedback", None, "feedback"),
        ("synthesized", "https://example.org", "synthesized"),
    ],
)
def test_a_source_is_a_host_a_name_or_a_provenance(provenance: str, address: str | None, name: str) -> None:
    assert source(provenance, address) == name


@given(st.integers(1, 80), st.integers(1, 80), st.floats(0, 1), st.floats(0, 1))
def test_chance_is_that_of_fishers_exact_test(n: int, m: int, one: float, other: float) -> None:
    k, j = round(one * n), round(other * m)
    tails = [fisher_exact(np.array([[k, n - k], [j, m - j]]), alternative=tail).pvalue for tail in ("less", "greater")]
    assert nuisance.by_chance(k, n, j, m) == pytest.approx(min(1.0, 2 * min(tails)), rel=1e-6)

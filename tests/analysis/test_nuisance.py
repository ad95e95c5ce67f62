import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import fisher_exact

from traitbench.analysis import nuisance
from traitbench.analysis.nuisance import language, of_group, of_length, source

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
    ("text", "name"),
    [
        ("The delivery was late and the box was broken.", "English"),
        ("Die Lieferung kam zu spät und das Paket war nicht zu gebrauchen.", "German"),
        ("La livraison est arrivée en retard et le colis était dans un état affreux.", "French"),
        ("El envío llegó tarde y la caja no era la que yo esperaba.", "Spanish"),
        ("La consegna è arrivata tardi e non sono contento del pacco.", "Italian"),
        ("A entrega não chegou com o pacote e isso foi muito mau.", "Portuguese"),
        ("De levering kwam te laat en het pakket was niet in orde.", "Dutch"),
        ("Доставка опоздала.", "Cyrillic"),
        ("配達が遅れました。", "Hiragana"),
        ("快递来晚了", "Han"),
        ("배송이 늦었습니다.", "Hangul"),
        ("وصل الطرد متأخرا", "Arabic"),
        ("Ok!", None),
        ("123 👍", None),
        ("", None),
    ],
)
def test_a_language_is_known_by_script_and_common_words(text: str, name: str | None) -> None:
    assert language(text) == name


@given(st.text(max_size=60))
def test_any_text_has_a_language_or_none(text: str) -> None:
    assert language(text) is None or language(text)


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

"""The pictures that pages share say in words what they show, and draw each sample once."""

import re

import pytest

from traitbench.contract.metrics import Pole
from traitbench.display.pictures import bar, difference, interval, strip
from traitbench.display.tokens import COLOURS, style_sheet, token

HOSTILE = '"><script>alert(1)</script>'


def counts(**samples: dict[int, int]) -> dict[Pole, list[int]]:
    """By pole, 101 counts from the few that are not zero."""
    return {
        "positive": [samples["positive"].get(score, 0) for score in range(101)],
        "negative": [samples["negative"].get(score, 0) for score in range(101)],
    }


def dots(picture: str) -> list[tuple[float, float, bool]]:
    """Position of each dot, and whether it has the ring of the wrong side."""
    found = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="[\d.]+"( style="stroke)?', picture)
    return [(float(x), float(y), bool(ring)) for x, y, ring in found]


def test_a_strip_has_a_dot_for_each_sample_above_and_below_the_line() -> None:
    picture = strip(
        counts(positive={99: 3, 40: 1, 50: 1}, negative={2: 2, 70: 1}), negative="cold", positive="warm", height=100
    )
    placed = dots(picture)
    assert sum(y < 50 for _, y, _ in placed) == 5
    assert sum(y > 50 for _, y, _ in placed) == 3
    assert sorted(round(x / 640 * 100) for x, _, ring in placed if ring) == [40, 50, 70]
    assert "3 of 5 warm and 2 of 3 cold samples are on their side." in picture


@pytest.mark.parametrize("samples", [1, 9, 200, 100_000])
def test_a_strip_of_many_samples_stays_in_its_frame_and_says_what_a_dot_is(samples: int) -> None:
    picture = strip(counts(positive={99: samples}, negative={1: 1}), negative="cold", positive="warm", height=100)
    assert all(0 <= y <= 100 for _, y, _ in dots(picture))
    per_dot = re.search(r"A dot is up to ([\d,]+) samples", picture)
    several = int(per_dot[1].replace(",", "")) if per_dot else 1
    assert len(dots(picture)) == -(-samples // several) + 1


def test_a_strip_without_samples_is_an_empty_line() -> None:
    picture = strip(counts(positive={}, negative={}), negative="cold", positive="warm")
    assert dots(picture) == []
    assert "0 of 0 warm" in picture


def test_labels_of_others_are_text() -> None:
    for picture in (
        strip(counts(positive={1: 1}, negative={}), negative=HOSTILE, positive=HOSTILE),
        bar(70, "high", negative=HOSTILE, positive=HOSTILE, words=HOSTILE),
        interval(0.5, 0.4, 0.6, least=0, most=1, words=HOSTILE),
        difference(0.5, 0.4, 0.6, reach=1, words=HOSTILE),
    ):
        assert "<script" not in picture
        assert 'role="img"' in picture


@pytest.mark.parametrize(
    ("score", "left", "width", "side"),
    [(50, 50, 0, "left"), (84, 50, 34, "right"), (0, 0, 50, "left"), (100, 50, 50, "right"), (31, 31, 19, "left")],
)
def test_a_bar_runs_from_the_middle_to_the_score(score: int, left: int, width: int, side: str) -> None:
    picture = bar(score, "high", negative="cold", positive="warm", words="clearly")
    assert f"left:{left}%;width:{width}%" in picture
    assert token(side) in picture


def test_a_bar_that_claims_no_side_has_no_colour_of_a_pole() -> None:
    picture = bar(80, "low", negative="cold", positive="warm", words="no clear side")
    assert "--tb-right" not in picture
    assert "no clear side: 80 from 0, cold, to 100, warm" in picture


@pytest.mark.parametrize(("low", "high", "colour"), [(0.1, 0.3, "accent"), (-0.3, -0.1, "bad"), (-0.1, 0.1, "ink-3")])
def test_a_difference_has_a_colour_only_where_it_is_shown(low: float, high: float, colour: str) -> None:
    picture = difference((low + high) / 2, low, high, reach=0.5, words="B against A")
    coloured = {name for name in COLOURS if f"background:{token(name)}" in picture}
    assert coloured == {colour, "ink-3"}


def test_every_colour_is_declared_once_for_light_and_dark_pages() -> None:
    declared = re.findall(r"--tb-([a-z0-9-]+): light-dark\((#\w{6}), (#\w{6})\);", style_sheet())
    assert {name: (light, dark) for name, light, dark in declared} == COLOURS

"""The pictures that pages share say in words what they show, and draw each sample once."""

import re
from itertools import pairwise
from urllib.parse import unquote

import pytest

from traitbench.contract.metrics import Pole
from traitbench.display.pictures import (
    RightShare,
    balance,
    bar,
    course,
    difference,
    empty_strip,
    histogram,
    interval,
    listed,
    shares,
    small_bar,
    strip,
)
from traitbench.display.sides import COLOURS as SIDE_COLOURS
from traitbench.display.tokens import COLOURS, style_sheet, token

HOSTILE = '"><script>alert(1)</script>'


def counts(**samples: dict[int, int]) -> dict[Pole, list[int]]:
    """By pole, 101 counts from the few that are not zero."""
    return {
        "positive": [samples["positive"].get(score, 0) for score in range(101)],
        "negative": [samples["negative"].get(score, 0) for score in range(101)],
    }


def dots(picture: str) -> list[tuple[float, float, bool]]:
    """Position of each dot, and whether it has the ring of the wrong side; each layer is drawn once and named twice."""
    layers = unquote(picture)
    stacked = [each for path in dict.fromkeys(re.findall(r'path d="([^"]*)"', layers)) for each in path.split("M")[1:]]
    rings = dict.fromkeys(re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', layers))
    found = [tuple(each.removesuffix("h0").split()) for each in stacked]
    return [(float(x), float(y), (x, y) in rings) for x, y in found]


def test_a_strip_has_a_dot_for_each_sample_above_and_below_the_line() -> None:
    picture = strip(
        counts(positive={99: 3, 40: 1, 50: 1}, negative={2: 2, 70: 1}), negative="cold", positive="warm", height=100
    )
    placed = dots(picture)
    assert sum(y < 50 for _, y, _ in placed) == 5
    assert sum(y > 50 for _, y, _ in placed) == 3
    assert sorted(round(x / 640 * 100) for x, _, ring in placed if ring) == [40, 50, 70]
    assert "3 of 5 warm and 2 of 3 cold samples are on their side." in picture


def test_evenly_spread_scores_leave_no_gap_in_a_wide_strip() -> None:
    every = dict.fromkeys(range(101), 1)
    picture = strip(counts(positive=every, negative={}), negative="cold", positive="warm", width=900)
    across = sorted(x for x, _, _ in dots(picture))
    assert {round(right - left) for left, right in pairwise(across)} == {9}


@pytest.mark.parametrize("samples", [1, 9, 200, 100_000])
def test_a_strip_of_many_samples_stays_in_its_frame_and_says_what_a_dot_is(samples: int) -> None:
    picture = strip(counts(positive={99: samples}, negative={1: 1}), negative="cold", positive="warm", height=100)
    assert all(0 <= y <= 100 for _, y, _ in dots(picture))
    per_dot = re.search(r"A dot is up to ([\d,]+) samples", picture)
    several = int(per_dot[1].replace(",", "")) if per_dot else 1
    assert len(dots(picture)) == -(-samples // several) + 1


def test_more_than_400_samples_of_a_pole_are_five_to_a_dot() -> None:
    few, many = (
        strip(counts(positive=dict.fromkeys(range(50, 100), each), negative={}), negative="cold", positive="warm")
        for each in (8, 9)
    )
    assert "A dot is" not in few
    assert "A dot is up to 5 samples" in many


def test_without_labels_the_names_of_the_poles_are_only_in_the_words() -> None:
    picture = strip(counts(positive={99: 1}, negative={}), negative="cold", positive="warm", is_labelled=False)
    assert "<bdi" not in picture
    assert "1 of 1 warm" in picture


def test_rings_keep_their_share_where_a_dot_is_several_samples() -> None:
    right = {score: 40 if score > 90 else 3 for score in range(51, 101)}
    wrong = dict.fromkeys(range(47), 1)
    picture = strip(counts(positive={**right, **wrong}, negative={}), negative="cold", positive="warm", height=60)
    placed = dots(picture)
    assert "A dot is up to" in picture
    samples = sum(right.values()) + len(wrong)
    assert sum(ring for *_, ring in placed) / len(placed) == pytest.approx(len(wrong) / samples, abs=0.01)


def test_strips_beside_each_other_have_one_scale() -> None:
    tall, low = counts(positive={99: 40}, negative={}), counts(positive={99: 2, 80: 4}, negative={})
    alone, beside = (strip(low, negative="cold", positive="warm", among=among) for among in ([], [tall]))
    gaps = [sorted({round(b - a, 1) for (_, a, _), (_, b, _) in pairwise(dots(each)[-2:])}) for each in (alone, beside)]
    assert gaps[0] != gaps[1]
    assert "A dot is" not in beside, "dots of a tall stack overlap before one stands for several samples"


def test_a_strip_without_samples_is_an_empty_line() -> None:
    picture = strip(counts(positive={}, negative={}), negative="cold", positive="warm")
    assert dots(picture) == []
    assert "0 of 0 warm" in picture


def test_the_buttons_of_a_strip_have_each_sample_once() -> None:
    picture = strip(
        counts(positive={0: 1, 9: 2, 10: 3, 89: 1, 100: 4}, negative={99: 5, 30: 6}),
        negative="cold",
        positive="warm",
        opens=True,
    )
    labels = dict(re.findall(r'data-cell="([^"]*)" aria-label="([^"]*)"', picture))
    assert labels == {
        "positive.0": "3 warm, score 0 to 9",
        "positive.10": "3 warm, score 10 to 19",
        "positive.80": "1 warm, score 80 to 89",
        "positive.90": "4 warm, score 90 to 100",
        "negative.30": "6 cold, score 30 to 39",
        "negative.90": "5 cold, score 90 to 100",
    }


def test_labels_of_others_are_text() -> None:
    for picture in (
        strip(counts(positive={1: 1}, negative={}), negative=HOSTILE, positive=HOSTILE, opens=True),
        bar(70, "high", negative=HOSTILE, positive=HOSTILE, words=HOSTILE),
        interval(0.5, 0.4, 0.6, least=0, most=1, words=HOSTILE),
        difference(0.5, 0.4, 0.6, reach=1, words=HOSTILE),
        empty_strip(negative=HOSTILE, positive=HOSTILE, words=HOSTILE),
        balance(1, 2, negative=HOSTILE, positive=HOSTILE),
        shares(1, 2, 3, negative=HOSTILE, positive=HOSTILE),
        histogram([1], step=1, unit=HOSTILE, words=HOSTILE),
        course([RightShare(HOSTILE, HOSTILE, 1, 2, (0.1, 0.9))]),
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


@pytest.mark.parametrize(
    ("negative", "positive", "shares"), [(30, 10, ["30", "10"]), (0, 4, ["0", "4"]), (0, 0, ["1", "1"])]
)
def test_a_balance_is_as_wide_as_the_samples_of_each_pole(negative: int, positive: int, shares: list[str]) -> None:
    picture = balance(negative, positive, negative="cold", positive="warm")
    assert re.findall(r"flex:(\d+) 1 0", picture) == shares
    assert f'aria-label="{negative} cold and {positive} warm samples"' in picture
    assert f">{negative} cold</bdi>" in picture
    assert f">warm {positive}</bdi>" in picture


def test_shares_are_as_wide_as_their_numbers_and_a_zero_is_not_drawn() -> None:
    assert re.findall(r"flex:(\d+) 1 0", shares(13, 1_097, 877, negative="cold", positive="warm")) == [
        "13",
        "1097",
        "877",
    ]
    picture = shares(0, 3, 1, negative="cold", positive="warm")
    assert re.findall(r"flex:(\d+) 1 0", picture) == ["3", "1"]
    assert "cold 0" not in picture
    assert ">warm 1</bdi>" in picture


def test_a_histogram_has_a_bar_for_each_step_and_names_its_largest_and_its_end() -> None:
    picture = histogram([0, 1, 8, 4], step=5, unit="words", words="Half have 12 words.")
    heights = [float(each) for each in re.findall(r"height:([\d.]+)px;min-height", picture)]
    assert heights == [0.0, 6.0, 48.0, 24.0]
    assert re.findall(r"<span>([^<]*)</span>", picture) == ["8", "0", "10 words", "20"]
    assert histogram([], step=1, unit="words", words="None.").startswith('<div role="img" aria-label="None."')


def test_only_shares_of_the_same_samples_are_joined() -> None:
    shares = [
        RightShare("v1", "2 Nov", 30, 40, (0.6, 0.86)),
        RightShare("v2", "9 Nov", 36, 40, (0.77, 0.96), is_joined=True),
        RightShare("v3", "9 Nov", 90, 100, (0.82, 0.95), is_accented=True),
    ]
    picture = course(shares)
    assert picture.count('class="line"') == 1
    assert "Right in 10: v1 2 Nov 7.5 (6.0 to 8.6), v2 9 Nov 9.0 (7.7 to 9.6), v3 9 Nov 9.0 (8.2 to 9.5)" in picture
    assert re.findall(r"top:-16px;[^>]*>(\d+)<", picture) == ["10", "9", "8", "7", "6"]
    assert picture.count(f"background:{token('accent')}") == 2, "the interval and the dot of the one in use"
    assert "<br>36 of 40</div>" in picture


@pytest.mark.parametrize("right", [0, 1, 20])
def test_every_share_lies_in_its_frame(right: int) -> None:
    picture = course([RightShare("v1", "2 Nov", right, 20, (0.0 if right < 2 else 0.83, 1.0 if right == 20 else 0.2))])
    assert all(-1 < float(each) <= 100 for each in re.findall(r"top:(-?[\d.]+)%", picture))


def test_a_list_of_numbers_has_grey_zeros_and_plain_words() -> None:
    picture = listed({HOSTILE: 1_200, "None": 0})
    assert "<script" not in picture
    assert ">1,200</span>" in picture
    assert f'{token("ink-3")}">0</span>' in picture


def test_the_small_bar_of_a_table_goes_from_the_middle_and_is_hatched_where_no_side_is_clear() -> None:
    drawn = small_bar(80, "high"), small_bar(20, "moderate"), small_bar(80, "low")
    right, left, unclear = map(unquote, drawn)
    assert 'x="50" y="4" width="30"' in right
    assert 'x="20" y="4" width="30"' in left
    assert (SIDE_COLOURS[True] in right, SIDE_COLOURS[False] in left, 'fill="url(#h)"' in unclear) == (True, True, True)
    assert ('fill-opacity="1"' in right, 'fill-opacity="0.52"' in left) == (True, True)


def test_a_number_stays_beside_a_name_that_is_read_from_right_to_left() -> None:
    drawn = shares(8, 7, 5, negative="חסר סבלנות", positive="סבלני") + balance(
        8, 5, negative="חסר סבלנות", positive="סבלני"
    )
    for words in ("\u2068חסר סבלנות\u2069 8", "\u2068סבלני\u2069 5", "8 \u2068חסר סבלנות\u2069"):
        assert words in drawn

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.nasty import FAMILIES, PROSE
from traitbench.scoring.repeats import LONGEST, shorten

RUNS = st.lists(
    st.tuples(st.sampled_from(". \n\ta😀\u0301今"), st.sampled_from((1, 2, 3, 40, 127, 128, 255, 256, 257, 300, 700))),
    max_size=8,
).map(lambda runs: "".join(sign * length for sign, length in runs))


def reference(text: str) -> str:
    """The same result, character by character."""
    short = ""
    for kind, group in groupby(text, key=lambda sign: " " if sign.isspace() else sign):
        run = "".join(group)
        if len(run) > LONGEST:
            run = (("\n\n"[: run.count("\n")]) or " ") if kind == " " else run[:LONGEST]
        short += run
    return short


@given(RUNS)
def test_only_long_runs_are_shortened(text: str) -> None:
    assert shorten(text).text == reference(text)


@given(RUNS)
def test_short_texts_are_not_changed(text: str) -> None:
    once = shorten(text).text
    assert shorten(once).text is once


@given(RUNS)
def test_every_position_maps_to_the_original(text: str) -> None:
    short = shorten(text)
    assert short.origin(0) == 0
    assert short.origin(len(short.text)) == len(text)
    places = [short.origin(place) for place in range(len(short.text) + 1)]
    assert places == sorted(places)
    for place, sign in enumerate(short.text):
        if not sign.isspace():
            assert text[places[place]] == sign


@pytest.mark.parametrize("text", ["", "a", PROSE * 50, "- " * 500, "=" * 120 + "\n" + "-" * LONGEST, " " * 200 + "x"])
def test_an_ordinary_text_is_the_same_object(text: str) -> None:
    assert shorten(text).text is text


def test_long_white_space_becomes_a_break() -> None:
    wide = " " * 200
    assert shorten(f"a{wide}\n{wide}\nb").text == "a\n\nb"
    assert shorten(f"a{wide}\n{wide}b").text == "a\nb"
    assert shorten(f"a{wide}\t{wide}b").text == "a b"


@pytest.mark.parametrize("family", ["dots", "spaces", "newlines", "emoji", "combining marks", "one word", "backticks"])
def test_ten_megabytes_of_one_character_become_little(family: str) -> None:
    assert len(shorten(FAMILIES[family](10 * 2**20)).text) < 1_000

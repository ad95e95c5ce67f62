from itertools import groupby
from unicodedata import normalize

from hypothesis import example, given
from hypothesis import strategies as st

from tests.nasty import FAMILIES, PROSE
from traitbench.as_read import LONGEST_RUN, as_read

RUNS = st.lists(
    st.tuples(st.sampled_from(". \n\ta😀\u0301今"), st.sampled_from((1, 2, 3, 40, 127, 128, 255, 256, 257, 300, 700))),
    max_size=8,
).map(lambda runs: normalize("NFC", "".join(sign * length for sign, length in runs)))


def reference(text: str) -> str:
    """The same result, character by character."""
    short = ""
    for kind, group in groupby(text, key=lambda sign: " " if sign.isspace() else sign):
        run = "".join(group)
        if len(run) > LONGEST_RUN:
            run = (("\n\n"[: run.count("\n")]) or " ") if kind == " " else run[:LONGEST_RUN]
        short += run
    return short


@given(RUNS)
@example(PROSE * 50)
@example("=" * 120 + "\n" + "-" * LONGEST_RUN)
@example(FAMILIES["emoji"](2**20))
def test_only_long_runs_are_shortened(text: str) -> None:
    assert as_read(text).text == reference(text)


@given(RUNS)
@example(PROSE * 50)
def test_a_text_without_a_long_run_is_the_same_object(text: str) -> None:
    short = as_read(text).text
    assert as_read(short).text is short


@given(RUNS)
def test_every_position_maps_to_the_original(text: str) -> None:
    short = as_read(text)
    assert short.origin(0) == 0
    assert short.origin(len(short.text)) == len(text)
    places = [short.origin(place) for place in range(len(short.text) + 1)]
    assert places == sorted(places)
    for place, sign in enumerate(short.text):
        if not sign.isspace():
            assert text[places[place]] == sign

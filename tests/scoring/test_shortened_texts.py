"""A text of odd signs or long runs is explained in places of the text as it was sent, and scored as it is explained."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings

from tests import wild
from tests.scoring.hand import axis, encode, snapshot
from tests.scoring.positions import positions
from tests.size import sized
from traitbench.as_read import as_read
from traitbench.scoring.explain import explain

MODEL = snapshot(axis("warmth", vector=(2.0, 0.5), offset=0.1, aggregation="mean"), max_depth=3)


@settings(max_examples=sized(60, 3_000))
@given(wild.TEXTS)
def test_the_parts_of_an_explanation_are_places_of_the_text_in_order(text: str) -> None:
    parts = explain(MODEL, encode, text).traits["warmth"].parts
    places = [place for part in parts for place in (part.start, part.end)]
    assert places == sorted(places)
    # What nobody sees may be between two parts.
    shown = as_read("".join(text[part.start : part.end] for part in parts)).text
    assert "".join(shown.split()) == "".join(as_read(text).text.split())


def test_the_parts_of_a_shortened_text_are_places_of_the_text_as_it_was_sent() -> None:
    text = f"east north. {'.' * 5_000} West it is.\n{' ' * 900}\nSouth \u201cand{'!' * 700}\u201d east."
    explanation = explain(MODEL, encode, text).traits["warmth"]
    result = [text[part.start : part.end] for part in explanation.parts]
    assert result[0] == "east north."
    assert "West it is." in result
    assert result[-1].endswith("east.")
    assert "".join("".join(result).split()) == "".join(text.split())
    total = math.fsum([explanation.baseline, *(part.contribution for part in explanation.parts)])
    assert total == pytest.approx(explanation.position, abs=1e-9)


def test_a_shortened_text_is_scored_as_it_is_explained() -> None:
    text = f"east north. {'.' * 5_000} west it is."
    assert np.array_equal(positions(MODEL, encode, [text]), positions(MODEL, encode, [as_read(text).text]))
    one, other = (explain(MODEL, encode, each).traits["warmth"] for each in (text, as_read(text).text))
    assert dataclasses.replace(one, parts=()) == dataclasses.replace(other, parts=())

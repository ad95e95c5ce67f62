"""Reasons as rows and as highlighted text; texts are hostile."""

import re
from html import unescape

import pytest

from traitbench.contract.explanations import Explanation
from traitbench.display.reasons import (
    MOST_SHOWN,
    amount,
    changed_most,
    deciding,
    highlighted,
    legend,
    rows,
    strongest,
)

EVIL = "<script>alert('1')</script> &amp; </div><img src=x onerror=y> \"quoted\""
TEXT = f"Thank you, {EVIL}.  No reply."


def explanation(text: str = TEXT, *, unit: str = "logit") -> Explanation:
    cut, end = text.index(",") + 1, text.index(".  ") + 1
    return Explanation.model_validate(
        {
            "unit": unit,
            "position": 1.25,
            "baseline": 0.0,
            "parts": [
                {
                    "start": 0,
                    "end": end,
                    "contribution": 2.0,
                    "pieces": [
                        {"start": 0, "end": cut, "contribution": 2.5},
                        {"start": cut + 1, "end": end, "contribution": -0.5},
                    ],
                },
                {"start": end + 2, "end": len(text), "contribution": -0.75, "pieces": []},
            ],
            "refined": True,
            "decided_by": None,
            "nearest": None,
            "note": None,
        }
    )


@pytest.mark.parametrize("by_pieces", [True, False])
def test_the_highlighted_text_is_the_text_and_nothing_of_it_is_a_tag(by_pieces: bool) -> None:
    html = highlighted(explanation(), TEXT, by_pieces=by_pieces).partition('<div class="tb-why">')[2]
    assert unescape(re.sub(r"</?span[^>]*>|</div>$", "", html)) == TEXT
    assert set(re.findall(r"<\s*/?\s*(\w+)", html)) == {"span", "div"}


def test_what_pulls_to_a_pole_has_its_colour_its_line_and_its_number() -> None:
    spans = re.findall(r'<span title="([^"]*)" style="([^"]*)">', highlighted(explanation(), TEXT, by_pieces=True))
    assert [title for title, _ in spans] == ["▲ +2.50", "▼ -0.50", "▼ -0.75"]
    assert [("solid" in look, "dashed" in look) for _, look in spans] == [(True, False), (False, True), (False, True)]
    opacities = [
        float(result) for _, look in spans for result in re.findall(r"background-color: rgba\(.*, (.*?)\)", look)
    ]
    assert opacities == [0.5, 0.1, 0.15]


def test_what_adds_hardly_anything_is_left_plain() -> None:
    result = explanation()
    faint = result.parts[1].model_copy(update={"contribution": 0.001})
    html = highlighted(result.model_copy(update={"parts": [result.parts[0], faint]}), TEXT, by_pieces=False)
    assert '<span title="▲ +0.00">' in html


def test_a_long_text_is_shown_as_far_as_it_is_readable() -> None:
    text = TEXT + " more" * MOST_SHOWN
    assert len(highlighted(explanation(text), text, by_pieces=True)) < 2 * MOST_SHOWN


def test_the_labels_of_the_poles_are_text() -> None:
    assert "<img" not in legend("<img src=x>", "<b>warm</b>")


def test_every_part_and_piece_is_a_row() -> None:
    end = len(f"Thank you, {EVIL}.")
    assert rows(explanation(), TEXT) == [
        ("sentence", 0, end, 2.0, TEXT[:end]),
        ("piece", 0, 10, 2.5, "Thank you,"),
        ("piece", 11, end, -0.5, f"{EVIL}."),
        ("sentence", end + 2, len(TEXT), -0.75, "No reply."),
    ]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(1.234, "logit", "+1.23"), (-0.001, "logit", "+0.00"), (-0.0421, "score", "-4.2 points")],
)
def test_amounts_are_logits_or_points(value: float, unit: str, text: str) -> None:
    assert amount(value, unit) == text


def test_the_words_that_pull_most_are_named_without_their_punctuation() -> None:
    result = explanation()
    assert strongest(result, TEXT, positive=True) == ["Thank you"]
    assert strongest(result, TEXT, positive=False)[0] == "No reply"
    assert len(strongest(result, TEXT, positive=False, most=1)) == 1


def test_the_words_whose_pull_changed_most_are_named_even_where_they_are_divided_differently() -> None:
    before = explanation()
    first, second = before.parts
    second = second.model_copy(update={"contribution": 0.5})
    for each in (first, first.model_copy(update={"pieces": []})):  # one sentence, which pulls as its words did
        after = before.model_copy(update={"parts": [each, second]})
        assert changed_most(before, after, TEXT, most=1) == ["No reply"]


def test_the_words_that_decide_are_named_once_each_and_have_their_numbers() -> None:
    words = deciding(explanation(), TEXT, most=2)
    assert words.count("<span") == 2
    assert "<script" not in words
    assert [strongest(explanation(), TEXT, positive=positive)[0] in words for positive in (True, False)] == [True, True]

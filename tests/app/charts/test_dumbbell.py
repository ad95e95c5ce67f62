"""Two scores a row: direction, order, and what is uncertain."""

from typing import Any

import pytest

from traitbench.app.charts import dumbbell
from traitbench.app.charts.dumbbell import Order, Pair
from traitbench.app.shell.theme import PALETTE

PAIRS = [Pair("Warmth", 66, 60), Pair("Clarity", 50, 84), Pair("Evidence", 40, 52, sure=False), Pair("Brevity", 45, 45)]
LABELS = ("v1", "v2")


def connectors(figure: Any) -> dict[tuple[str, str], list[float | None]]:
    return {(trace.line.color, trace.line.dash): list(trace.x) for trace in figure.data if trace.mode == "lines"}


@pytest.mark.parametrize(("delta", "text"), [(7, "▲ +7"), (-3, "▼ −3"), (0, "=")])
def test_a_change_is_said_by_a_sign_and_a_number(delta: int, text: str) -> None:
    assert dumbbell.signed(delta) == text


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("change", ["Clarity", "Evidence", "Warmth", "Brevity"]),
        ("score", ["Clarity", "Warmth", "Evidence", "Brevity"]),
        ("name", ["Brevity", "Clarity", "Evidence", "Warmth"]),
    ],
)
def test_rows_can_be_put_in_three_orders(by: Order, names: list[str]) -> None:
    assert [pair.name for pair in dumbbell.ordered(PAIRS, by)] == names


def test_up_down_and_uncertain_are_joined_each_in_their_own_way() -> None:
    joined = connectors(dumbbell.figure(PAIRS, LABELS, PALETTE))
    assert joined[PALETTE.positive, "solid"] == [50, 84, None]
    assert joined[PALETTE.negative, "solid"] == [66, 60, None]
    assert joined[PALETTE.positive, "dot"] == [40, 52, None]
    assert joined[PALETTE.negative, "dot"] == []


def test_before_is_a_hollow_circle_and_after_a_filled_diamond() -> None:
    figure = dumbbell.figure(PAIRS, LABELS, PALETTE)
    ends = {trace.name: trace for trace in figure.data if trace.mode == "markers" and trace.hovertemplate}
    assert ends["v1"].marker.symbol == "circle-open"
    assert list(ends["v1"].x) == [66, 50, 40, 45]
    assert ends["v2"].marker.symbol == "diamond"
    assert list(ends["v2"].x) == [60, 84, 52, 45]


def test_the_column_on_the_right_says_what_is_uncertain() -> None:
    figure = dumbbell.figure(PAIRS, LABELS, PALETTE)
    assert [annotation.text for annotation in figure.layout.annotations] == [
        "<b>▼ −6</b>",
        "<b>▲ +34</b>",
        "<b>▲ +12</b>  uncertain",
        "<b>=</b>",
    ]


def test_the_chart_in_words_says_every_change() -> None:
    assert "Clarity 50 to 84 (▲ +34); Evidence 40 to 52 (▲ +12, uncertain)" in dumbbell.alt(PAIRS, LABELS)


@pytest.mark.parametrize(
    ("pair", "note", "dash"),
    [
        (Pair("x", 40, 52, sure=True, doubt="not sure"), "<b>▲ +12</b>", "solid"),
        (Pair("x", 40, 52, sure=False, doubt="not sure"), "<b>▲ +12</b>  not sure", "dot"),
        (Pair("x", 40, 52, sure=None, doubt="not known if sure"), "<b>▲ +12</b>  not known if sure", "dot"),
        (Pair("x", 40, 40, sure=False, doubt="not sure"), "<b>=</b>", None),
    ],
)
def test_a_doubt_has_its_own_words_and_a_score_that_stays_has_none(pair: Pair, note: str, dash: str | None) -> None:
    figure = dumbbell.figure([pair], LABELS, PALETTE)
    assert [annotation.text for annotation in figure.layout.annotations] == [note]
    drawn = [style for (_, style), x in connectors(figure).items() if x]
    assert drawn == ([dash] if dash else [])
    assert dumbbell.table([pair], LABELS)["Sure"].tolist() == [pair.sure]


def test_the_table_names_its_columns_after_the_two_sides() -> None:
    table = dumbbell.table(PAIRS, LABELS, rows="Text")
    assert table.columns.tolist() == ["Text", "v1", "v2", "Change", "Sure"]
    assert table["Change"].tolist() == [-6, 34, 12, 0]

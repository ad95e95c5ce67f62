"""Many scores as bars in the colours of the sides that they claim."""

from traitbench.display.charts import distributions
from traitbench.display.colours import PALETTE, SIDES

WARMTH = distributions.binned([0, 4, 5, 47, 95, 100], [-1, -1, 0, 0, 1, 1], negative="cold", positive="warm")


def test_every_score_is_in_the_bar_of_its_side() -> None:
    assert (WARMTH.totals[0], WARMTH.totals[1], WARMTH.totals[9], WARMTH.totals[19]) == (2, 1, 1, 2)
    assert [distributions.range_of(place) for place in (0, 19)] == [(0, 4), (95, 100)]
    bars = distributions.figure(WARMTH, PALETTE).data
    assert bars[0].marker.pattern.shape == "/", "what has no clear side is hatched"
    assert [bar.marker.color for bar in bars[1:]] == [SIDES[False].colour, SIDES[True].colour]


def test_the_poles_are_named_at_both_ends_and_the_middle_is_marked() -> None:
    figure = distributions.figure(WARMTH, PALETTE)
    ends = {note.x: note.text for note in figure.layout.annotations if note.yref == "paper"}
    assert ends == {0: "<b>▼ cold</b>", 50: "50", 100: "<b>▲ warm</b>"}
    assert [line.x0 for line in figure.layout.shapes] == [50]
    assert [note.text for note in figure.layout.annotations if note.yref != "paper"] == ["2"]


def test_the_chart_is_in_words_and_a_table() -> None:
    assert distributions.alt(WARMTH) == (
        "Histogram of 6 scores from 0 to 100, median 26: 2 cold, 2 no clear side, 2 warm."
    )
    table = distributions.table(WARMTH)
    assert list(table.columns) == ["Score", "Texts", "cold", "no clear side", "warm"]
    assert table["Score"].iloc[[0, 19]].tolist() == ["0 to 4", "95 to 100"]
    assert table["Texts"].sum() == 6


def test_nothing_scored_is_an_empty_chart() -> None:
    assert not distributions.figure(distributions.binned([], [], negative="cold", positive="warm"), PALETTE).data

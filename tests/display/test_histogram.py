"""Many scores as bars, by tier."""

from traitbench.display.charts import distributions
from traitbench.display.colours import PALETTE

WARMTH = distributions.binned(
    "Warmth", [0, 4, 5, 47, 95, 100], ["Weak", "Weak", "Weak", "uncertain", "Strong", "Strong"], (20, 50, 80)
)


def test_every_score_is_in_a_bar_of_its_tier() -> None:
    assert (WARMTH.totals[0], WARMTH.totals[1], WARMTH.totals[9], WARMTH.totals[19]) == (2, 1, 1, 2)
    assert [sum(counts) for counts in WARMTH.counts.values()] == [3, 0, 0, 2, 1]
    figure = distributions.figure(WARMTH, PALETTE)
    assert len(figure.data) == 3, "tiers without a text have no bars"
    assert figure.data[-1].marker.pattern.shape == "/"


def test_lines_stand_where_the_tiers_begin() -> None:
    figure = distributions.figure(WARMTH, PALETTE)
    assert [line.x0 for line in figure.layout.shapes] == [20, 50, 80]
    assert [sign.text for sign in figure.layout.annotations] == ["◔", "◑", "◕", "●"]


def test_a_composite_has_no_tiers() -> None:
    composite = distributions.binned("Composite", [10, 12, 90], [""] * 3, None)
    figure = distributions.figure(composite, PALETTE)
    assert (len(figure.data), figure.layout.shapes, composite.median) == (1, (), 12)
    assert list(distributions.table(composite).columns) == ["Score", "Texts"]


def test_the_chart_is_told_in_words_and_as_a_table() -> None:
    assert distributions.alt(WARMTH) == (
        "Histogram of Warmth from 0 to 100: 6 texts, median 26; 3 Weak; 0 Developing; 0 Solid; 2 Strong; 1 uncertain."
    )
    table = distributions.table(WARMTH)
    assert table["Score"].iloc[[0, 19]].tolist() == ["0 to 4", "95 to 100"]
    assert table["Texts"].sum() == 6


def test_nothing_scored_is_an_empty_chart() -> None:
    empty = distributions.binned("Warmth", [], [], None)
    assert not distributions.figure(empty, PALETTE).data
    assert distributions.alt(empty).endswith("nothing was scored.")


def test_scores_of_low_confidence_are_apart_by_their_reason() -> None:
    groups = ["Weak", "unlike_samples", "unlike_samples", "overlap", "uncertain", "Strong"]
    trait = distributions.binned("Warmth", [4, 3, 52, 47, 51, 95], groups, (20, 50, 80))
    figure = distributions.figure(trait, PALETTE)
    assert [bar.marker.pattern.shape for bar in figure.data] == [None, None, "\\", "/", "/"]
    assert figure.data[2].customdata[0][1] == "uncertain: unlike the samples"
    assert "2 uncertain: unlike the samples; 1 uncertain: both kinds get this score" in distributions.alt(trait)
    assert distributions.table(trait)["Uncertain: unlike the samples"].sum() == 2
    composite = distributions.binned("Composite", [10, 12, 90], ["", "few_samples", ""], None)
    assert distributions.alt(composite).endswith("3 texts, median 12; 1 uncertain: few samples near this score.")
    assert distributions.legend([trait, composite]) == (
        "╲ unlike the samples, ⋅ few samples near this score, ╱ both kinds get this score, ╱ no reason given"
    )
    assert distributions.legend([WARMTH, distributions.binned("Composite", [10], [""], None)]) == "╱ no reason given"
    nothing_but_low = distributions.binned("Composite", [10], ["overlap"], None)
    assert "Weak" not in distributions.alt(nothing_but_low)

"""AUROC with intervals, for one version or two."""

from typing import Any

from traitbench.display.charts import auroc
from traitbench.display.charts.auroc import Measured, Series
from traitbench.display.colours import PALETTE

CLARITY = Measured("Clarity", 0.94, (0.88, 0.98), "out-of-fold, 10 folds, 84 distinct samples")
WARMTH = Measured("Warmth", None, None, "not measured: one distinct text at the positive pole")
V1 = Series("v1", [CLARITY, WARMTH])
V2 = Series("v2", [Measured("Clarity", 0.96, (0.9, 0.99), "x"), Measured("Warmth", 0.62, (0.41, 0.8), "x")])


def marks(figure: Any) -> dict[str, Any]:
    return {trace.name: trace for trace in figure.data if trace.mode == "markers"}


def test_a_figure_has_a_mark_and_its_interval() -> None:
    figure = auroc.figure([V1], PALETTE)
    assert list(marks(figure)["v1"].x) == [0.94]
    assert list(next(trace for trace in figure.data if trace.mode == "lines").x) == [0.88, 0.98, None]


def test_what_was_not_measured_has_a_row_and_no_mark() -> None:
    figure = auroc.figure([V1], PALETTE)
    assert [name.strip() for name in figure.layout.yaxis.ticktext] == ["Clarity", "Warmth"]
    assert [annotation.text for annotation in figure.layout.annotations] == ["0.94 (0.88 to 0.98)", "–"]


def test_of_two_versions_the_first_is_hollow_and_the_second_filled() -> None:
    figure = auroc.figure([V1, V2], PALETTE)
    assert [marks(figure)[name].marker.symbol for name in ("v1", "v2")] == ["circle-open", "diamond"]
    assert [annotation.text for annotation in figure.layout.annotations] == ["0.94 → 0.96", "– → 0.62"]


def test_the_axis_begins_at_chance_unless_something_is_worse() -> None:
    assert auroc.figure([V1], PALETTE).layout.xaxis.tickvals[0] == 0.5
    assert auroc.figure([V2], PALETTE).layout.xaxis.tickvals[0] == 0.4


def test_the_table_says_what_each_figure_was_measured_on() -> None:
    table = auroc.table([V1, V2])
    assert table["Version"].tolist() == ["v1", "v1", "v2", "v2"]
    assert table["Measured on"].iloc[0] == "out-of-fold, 10 folds, 84 distinct samples"


def test_the_chart_in_words_says_every_figure() -> None:
    assert "v1: Clarity 0.94 (0.88 to 0.98); Warmth –" in auroc.alt([V1, V2])

"""The learning curve: what was measured in a band, what is foretold at the end of dots."""

from typing import Any

from traitbench.contract.metrics import CurvePoint, Forecast
from traitbench.display.charts import curve
from traitbench.display.charts.curve import Curve
from traitbench.display.colours import PALETTE


def point(samples: int, auroc: float, interval: tuple[float, float] | None = None) -> CurvePoint:
    return CurvePoint(samples=samples, auroc=auroc, interval=interval)


MEASURED = (point(8, 0.7, (0.45, 0.9)), point(16, 0.8, (0.6, 0.92)), point(32, 0.84, (0.72, 0.93)))
FORETOLD = Forecast(samples=52, auroc=0.86, interval=(0.8, 0.9), more=20)
V1 = Curve("v1", MEASURED, FORETOLD)
V2 = Curve("v2", (point(8, 0.75), point(16, 0.85)))


def named(figure: Any, name: str) -> Any:
    return next(trace for trace in figure.data if trace.name == name)


def test_each_point_is_a_mark_inside_the_band_of_the_intervals() -> None:
    figure = curve.figure([V1], PALETTE)
    assert list(named(figure, "v1").x) == [8, 16, 32]
    band = next(trace for trace in figure.data if trace.fill == "toself")
    assert list(band.y) == [0.9, 0.92, 0.93, 0.72, 0.6, 0.45]


def test_the_forecast_is_a_hollow_star_with_its_interval_at_the_end_of_dots() -> None:
    figure = curve.figure([V1], PALETTE)
    star = named(figure, "v1, forecast")
    assert (list(star.x), list(star.y), star.marker.symbol) == ([52], [0.86], "star-open")
    assert [round(end, 2) for end in (star.error_y.array[0], star.error_y.arrayminus[0])] == [0.04, 0.06]
    dots = next(trace for trace in figure.data if trace.line.dash == "dot")
    assert list(dots.x) == [32, 52]


def test_of_two_versions_the_first_is_hollow_and_the_second_filled() -> None:
    figure = curve.figure([V1, V2], PALETTE)
    assert [named(figure, name).marker.symbol for name in ("v1", "v2")] == ["circle-open", "diamond"]
    assert figure.layout.showlegend


def test_the_axis_begins_at_chance_unless_something_is_worse() -> None:
    assert round(curve.figure([V2], PALETTE).layout.yaxis.range[0], 2) == 0.48
    assert round(curve.figure([V1], PALETTE).layout.yaxis.range[0], 2) == 0.38


def test_table_and_words_have_every_figure_and_say_which_is_a_forecast() -> None:
    table = curve.table([V1, V2])
    assert table["Samples"].tolist() == [8, 16, 32, 52, 8, 16]
    assert table["Kind"].tolist() == ["measured"] * 3 + ["forecast"] + ["measured"] * 2
    assert "forecast for 52 samples: 0.86, between 0.80 and 0.90" in curve.alt([V1])


def test_markup_in_a_label_is_shown_as_it_is() -> None:
    figure = curve.figure([Curve("<b>v1</b>", MEASURED)], PALETTE)
    assert "&lt;b&gt;v1" in named(figure, "<b>v1</b>").hovertemplate

"""A learning curve: AUROC by number of samples, with a forecast for more samples.

Measured points are a line with markers inside the band of their 95 % intervals. The forecast is a hollow star at the
end of a dotted line, with its interval as an error bar. Of two versions, the first is grey and hollow, the second
filled.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from traitbench.contract.metrics import CurvePoint, Forecast, Interval
from traitbench.contract.rounding import in_decimals
from traitbench.display.charts.auroc import CHANCE
from traitbench.display.charts.layout import as_is
from traitbench.display.colours import Palette, seen_through

_HEIGHT = 300
_BAND, _ROOM = 0.16, 0.02


@dataclass(frozen=True)
class Curve:
    """The learning curve of one trait in one version."""

    label: str
    points: Sequence[CurvePoint]
    forecast: Forecast | None = None


def figure(curves: Sequence[Curve], palette: Palette) -> go.Figure:
    """One line per version."""
    drawn = go.Figure()
    for index, curve in enumerate(curves):
        first_of_two = index < len(curves) - 1
        _add_curve(drawn, curve, palette.neutral if first_of_two else palette.accent, hollow=first_of_two)
    least = _least(curves)
    drawn.update_layout(
        height=_HEIGHT + (28 if len(curves) > 1 else 0),
        margin={"l": 0, "r": 8, "t": 30 if len(curves) > 1 else 8, "b": 0},
        showlegend=len(curves) > 1,
        legend={"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "itemclick": False},
        hoverlabel={"align": "left"},
        dragmode=False,
        uirevision="constant",
    )
    drawn.update_xaxes(
        title="Samples", rangemode="tozero", fixedrange=True, showgrid=False, zeroline=False, tickformat=",d", nticks=7
    )
    drawn.update_yaxes(
        title="AUROC",
        range=[least - _ROOM, 1 + _ROOM],
        dtick=0.1,
        tickformat=".1f",
        fixedrange=True,
        gridcolor=palette.grid,
        zeroline=False,
    )
    drawn.add_hline(y=CHANCE, line={"color": palette.neutral, "width": 1, "dash": "dot"})
    return drawn


def alt(curves: Sequence[Curve]) -> str:
    """The alt text of the chart."""
    lines = [f"{curve.label}: {'; '.join(_in_words(point) for point in _all(curve))}" for curve in curves]
    return f"AUROC by number of samples, 0.5 is chance and 1 is perfect. {'. '.join(lines)}."


def table(curves: Sequence[Curve]) -> pd.DataFrame:
    """One row per point, the forecast last."""
    return pd.DataFrame(
        [
            {
                "Version": curve.label,
                "Samples": point.samples,
                "AUROC": point.auroc,
                "95 % from": point.interval[0] if point.interval else None,
                "95 % to": point.interval[1] if point.interval else None,
                "Kind": "forecast" if isinstance(point, Forecast) else "measured",
            }
            for curve in curves
            for point in _all(curve)
        ]
    )


def between(interval: Interval | None) -> str:
    """`, between 0.80 and 0.90`, or an empty string."""
    return f", between {in_decimals(interval[0])} and {in_decimals(interval[1])}" if interval else ""


def _add_curve(drawn: go.Figure, curve: Curve, colour: str, *, hollow: bool) -> None:
    banded = [(point.samples, point.interval) for point in curve.points if point.interval]
    if banded:
        upper, lower = [samples for samples, _ in banded], [samples for samples, _ in reversed(banded)]
        drawn.add_scatter(
            x=upper + lower,
            y=[span[1] for _, span in banded] + [span[0] for _, span in reversed(banded)],
            mode="lines",
            fill="toself",
            line={"width": 0, "color": colour},
            fillcolor=seen_through(colour, _BAND),
            hoverinfo="skip",
            showlegend=False,
        )
    drawn.add_scatter(
        x=[point.samples for point in curve.points],
        y=[point.auroc for point in curve.points],
        mode="lines+markers",
        name=curve.label,
        line={"color": colour, "width": 2},
        marker={
            "symbol": "circle-open" if hollow else "diamond",
            "size": 9,
            "color": colour,
            "line": {"width": 2, "color": colour},
        },
        customdata=[_in_words(point) for point in curve.points],
        hovertemplate=f"<b>{as_is(curve.label)}</b><br>%{{customdata}}<extra></extra>",
    )
    if curve.forecast:
        _add_forecast(drawn, curve, curve.forecast, colour)


def _add_forecast(drawn: go.Figure, curve: Curve, forecast: Forecast, colour: str) -> None:
    if curve.points:
        last = curve.points[-1]
        drawn.add_scatter(
            x=[last.samples, forecast.samples],
            y=[last.auroc, forecast.auroc],
            mode="lines",
            line={"color": colour, "width": 2, "dash": "dot"},
            hoverinfo="skip",
            showlegend=False,
        )
    span = forecast.interval
    drawn.add_scatter(
        x=[forecast.samples],
        y=[forecast.auroc],
        mode="markers",
        name=f"{curve.label}, forecast",
        showlegend=False,
        marker={"symbol": "star-open", "size": 14, "color": colour, "line": {"width": 2, "color": colour}},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [span[1] - forecast.auroc],
            "arrayminus": [forecast.auroc - span[0]],
            "color": colour,
            "thickness": 2,
            "width": 5,
        }
        if span
        else None,
        customdata=[_in_words(forecast)],
        hovertemplate=f"<b>{as_is(curve.label)}</b><br>%{{customdata}}<extra></extra>",
    )


def _all(curve: Curve) -> list[CurvePoint]:
    return [*curve.points, *([curve.forecast] if curve.forecast else [])]


def _in_words(point: CurvePoint) -> str:
    """`40 samples: 0.81, between 0.70 and 0.90`; a forecast starts with `forecast for`."""
    what = "forecast for " if isinstance(point, Forecast) else ""
    return f"{what}{point.samples:,} samples: {in_decimals(point.auroc)}{between(point.interval)}"


def _least(curves: Sequence[Curve]) -> float:
    """The lower end of the axis: chance, or the tenth below the lowest value if that is lower."""
    values = [point.interval[0] if point.interval else point.auroc for curve in curves for point in _all(curve)]
    return min(CHANCE, int(min(values, default=CHANCE) * 10) / 10)

"""The AUROC of each trait in one version or two, with 95 % intervals; the axis starts at chance.

Each version has one mark per row. Of two versions, the first is hollow, the second filled. A trait that was not
measured has no mark.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from traitbench.contract.metrics import NotMeasured
from traitbench.contract.rounding import in_decimals
from traitbench.display.charts.layout import as_is, lay_out, segments
from traitbench.display.colours import Palette

CHANCE = 0.5


@dataclass(frozen=True)
class Measured:
    """The AUROC of one trait, and what it was measured on."""

    name: str
    value: float | None
    interval: tuple[float, float] | None
    measured_on: str
    missing: NotMeasured | None = None

    @property
    def text(self) -> str:
        """`0.94 (0.88 to 0.98)`, or a dash."""
        if self.value is None:
            return "–"
        between = f" ({' to '.join(map(in_decimals, self.interval))})" if self.interval else ""
        return in_decimals(self.value) + between


@dataclass(frozen=True)
class Series:
    """The figures of one version."""

    label: str
    figures: Sequence[Measured]


def figure(series: Sequence[Series], palette: Palette) -> go.Figure:
    """One row per trait of any of the series, in order of first appearance."""
    names = _names(series)
    drawn = go.Figure()
    for number, one in enumerate(series):
        hollow = number < len(series) - 1
        offset = 0.0 if len(series) == 1 else (number - (len(series) - 1) / 2) * 0.34
        _add_series(drawn, one, names, offset, palette.neutral if hollow else palette.accent, hollow=hollow)
    drawn.add_vline(x=CHANCE, line={"color": palette.neutral, "width": 1, "dash": "dot"})
    least = _least(series)
    return lay_out(
        drawn,
        names,
        [_note(name, series) for name in names],
        palette,
        span=(least, 1.0),
        ticks=[tick / 10 for tick in range(round(least * 10), 11)],
        tick_format=".1f",
        legend=len(series) > 1,
    )


def alt(series: Sequence[Series]) -> str:
    """The alt text of the chart."""
    versions = [
        f"{one.label}: " + "; ".join(f"{measured.name} {measured.text}" for measured in one.figures) for one in series
    ]
    return "AUROC per trait, 0.5 is chance and 1 is perfect, with 95 % intervals. " + ". ".join(versions) + "."


def table(series: Sequence[Series]) -> pd.DataFrame:
    """One row per trait and version."""
    return pd.DataFrame(
        [
            {
                "Trait": measured.name,
                "Version": one.label,
                "AUROC": measured.value,
                "95 % from": measured.interval[0] if measured.interval else None,
                "95 % to": measured.interval[1] if measured.interval else None,
                "Measured on": measured.measured_on,
            }
            for one in series
            for measured in one.figures
        ]
    )


def _names(series: Sequence[Series]) -> list[str]:
    return list(dict.fromkeys(measured.name for one in series for measured in one.figures))


def _least(series: Sequence[Series]) -> float:
    """The left end of the axis: chance, or the tenth below the lowest value if that is lower."""
    values = [
        measured.interval[0] if measured.interval else measured.value for one in series for measured in one.figures
    ]
    lowest = min((value for value in values if value is not None), default=CHANCE)
    return min(CHANCE, int(lowest * 10) / 10)


def _add_series(
    drawn: go.Figure, one: Series, names: Sequence[str], offset: float, colour: str, *, hollow: bool
) -> None:
    marks = [
        (names.index(measured.name) + offset, measured, measured.value)
        for measured in one.figures
        if measured.value is not None
    ]
    spans = [(row, measured.interval) for row, measured, _ in marks if measured.interval]
    x, y = segments([span[0] for _, span in spans], [span[1] for _, span in spans], [row for row, _ in spans])
    drawn.add_scatter(
        x=x, y=y, mode="lines", line={"color": colour, "width": 3}, opacity=0.55, hoverinfo="skip", showlegend=False
    )
    drawn.add_scatter(
        x=[value for _, _, value in marks],
        y=[row for row, _, _ in marks],
        mode="markers",
        name=one.label,
        marker={
            "symbol": "circle-open" if hollow else "diamond",
            "size": 11,
            "color": colour,
            "line": {"width": 2, "color": colour},
        },
        customdata=[[as_is(measured.name), measured.text, as_is(measured.measured_on)] for _, measured, _ in marks],
        hovertemplate=f"<b>%{{customdata[0]}}</b>, {one.label}<br>AUROC %{{customdata[1]}}<br>%{{customdata[2]}}"
        "<extra></extra>",
    )


def _note(name: str, series: Sequence[Series]) -> str:
    figures = [next((measured for measured in one.figures if measured.name == name), None) for one in series]
    if len(figures) == 1 and figures[0]:
        return figures[0].text
    return " → ".join("–" if one is None or one.value is None else in_decimals(one.value) for one in figures)

"""Shares of a pole with their 95 % intervals, beside what counting scores says; one row for each group."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from traitbench.display.charts.layout import as_is
from traitbench.display.colours import Palette

_ROW, _AXIS = 46, 60
_LONGEST = 28


@dataclass(frozen=True)
class ChartShare:
    """A share in percent with its interval, and what counting says."""

    name: str
    value: float
    low: float
    high: float
    counted: float
    labels: int

    @property
    def text(self) -> str:
        """`24 % (19 to 30)`."""
        return f"{self.value:.0f} % ({self.low:.0f} to {self.high:.0f})"


def figure(shares: Sequence[ChartShare], colour: str, palette: Palette) -> go.Figure:
    """Dots with intervals in the colour of the pole, and a hollow grey diamond for counting."""
    drawn = go.Figure()
    names = [as_is(each.name[:_LONGEST]) for each in shares]
    drawn.add_scatter(
        x=[each.counted for each in shares],
        y=names,
        mode="markers",
        name="Scores alone",
        marker={"symbol": "diamond-open", "size": 12, "color": palette.neutral, "line": {"width": 2}},
        hovertemplate="Scores alone: %{x:.0f} %<extra></extra>",
    )
    drawn.add_scatter(
        x=[each.value for each in shares],
        y=names,
        mode="markers",
        name="Labels and scores, with 95 % interval",
        marker={"size": 13, "color": colour},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [each.high - each.value for each in shares],
            "arrayminus": [each.value - each.low for each in shares],
            "color": colour,
            "thickness": 3,
            "width": 6,
        },
        customdata=[[each.text] for each in shares],
        hovertemplate="%{customdata[0]}<extra></extra>",
    )
    drawn.update_layout(
        height=_AXIS + 30 + _ROW * len(shares),
        margin={"l": 0, "r": 14, "t": 0, "b": 0},
        legend={"orientation": "h", "y": -0.3 if len(shares) < 3 else -0.15, "x": 0},
        dragmode=False,
        uirevision="constant",
    )
    drawn.update_xaxes(range=[-2, 102], ticksuffix=" %", fixedrange=True, gridcolor=palette.grid, zeroline=False)
    drawn.update_yaxes(autorange="reversed", fixedrange=True, automargin=True, showgrid=False, type="category")
    return drawn


def alt(shares: Sequence[ChartShare], pole: str) -> str:
    """The alt text of the chart."""
    rows = "; ".join(f"{each.name} {each.text}, by the scores alone {each.counted:.0f} %" for each in shares)
    return f"Share of texts that are {pole}, with 95 % intervals: {rows}."


def table(shares: Sequence[ChartShare]) -> pd.DataFrame:
    """One row for each group."""
    return pd.DataFrame(
        {
            "Texts": [each.name for each in shares],
            "Share (%)": [round(each.value, 1) for each in shares],
            "From": [round(each.low, 1) for each in shares],
            "To": [round(each.high, 1) for each in shares],
            "Scores alone (%)": [round(each.counted, 1) for each in shares],
            "Labels": [each.labels for each in shares],
        }
    )

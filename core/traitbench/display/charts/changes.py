"""How much the scores of many texts changed: a bar for every five points, falls on the left and rises on the right."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from traitbench.display.colours import Palette

_HEIGHT = 250


@dataclass(frozen=True)
class Bar:
    """The texts whose change is from `start` to `end` points, both included."""

    start: int
    end: int
    texts: int

    @property
    def name(self) -> str:
        """The range: `+3 to +7`, `0`."""
        if self.start == self.end:
            return _signed(self.start)
        return f"{_signed(self.start)} to {_signed(self.end)}"


def figure(bars: Sequence[Bar], palette: Palette) -> go.Figure:
    """One bar per range of changes."""
    drawn = go.Figure()
    drawn.add_bar(
        x=[(bar.start + bar.end) / 2 for bar in bars],
        y=[bar.texts for bar in bars],
        width=[4.6 if bar.start != bar.end else 0.9 for bar in bars],
        marker={"color": [_colour(bar, palette) for bar in bars], "line": {"width": 0}},
        customdata=[bar.name for bar in bars],
        hovertemplate="<b>%{customdata}</b><br>%{y:,} texts<extra></extra>",
    )
    drawn.update_layout(
        height=_HEIGHT,
        margin={"l": 0, "r": 8, "t": 12, "b": 0},
        showlegend=False,
        dragmode=False,
        hoverlabel={"align": "left"},
        uirevision="constant",
    )
    reach = max((max(abs(bar.start), abs(bar.end)) for bar in bars), default=0) + 3
    drawn.update_xaxes(
        range=[-reach, reach], fixedrange=True, showgrid=False, zeroline=False, title="Change in points", nticks=9
    )
    few = {"dtick": 1} if max((bar.texts for bar in bars), default=0) < 5 else {"nticks": 5}
    drawn.update_yaxes(rangemode="tozero", tickformat=",d", fixedrange=True, gridcolor=palette.grid, **few)
    return drawn


def alt(bars: Sequence[Bar], name: str) -> str:
    """The alt text of the chart."""
    fell, rose = (sum(bar.texts for bar in bars if sign * bar.end > 0) for sign in (-1, 1))
    same = sum(bar.texts for bar in bars if bar.start == bar.end == 0)
    return f"Histogram of changes of {name}: {fell:,} texts fell, {same:,} stayed, {rose:,} rose."


def table(bars: Sequence[Bar]) -> pd.DataFrame:
    """One row per bar."""
    return pd.DataFrame({"Change": [bar.name for bar in bars], "Texts": [bar.texts for bar in bars]})


def _colour(bar: Bar, palette: Palette) -> str:
    if bar.start == bar.end:
        return palette.neutral
    return palette.positive if bar.start > 0 else palette.negative


def _signed(points: int) -> str:
    return f"{points:+d}".replace("-", "−") if points else "0"

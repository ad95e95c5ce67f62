"""The mean score of each group of texts, as bars from 0 to 100 in the colour of the side that the mean is on."""

import pandas as pd
import plotly.graph_objects as go

from traitbench.app.charts.rows import as_is
from traitbench.app.shell.theme import SIDES, Palette

_ROW, _AXIS = 30, 40
_LONGEST = 28


def figure(groups: pd.DataFrame, palette: Palette) -> go.Figure:
    """One bar for each row of `batch_results.grouped`."""
    names = [as_is(str(name)[:_LONGEST]) for name in groups.iloc[:, 0]]
    drawn = go.Figure()
    drawn.add_bar(
        x=groups["mean"],
        y=names,
        orientation="h",
        marker={"color": [SIDES[mean > 50 if mean != 50 else None].colour for mean in groups["mean"]]},
        text=[f"{mean:g}" for mean in groups["mean"]],
        textposition="auto",
        customdata=groups[["rows", "median", "above"]],
        hovertemplate="mean %{x:g}, median %{customdata[1]:g}, %{customdata[2]:g} % above 50, "
        "%{customdata[0]:,} rows<extra></extra>",
    )
    drawn.add_vline(x=50, line={"color": palette.neutral, "width": 1, "dash": "dot"})
    drawn.update_layout(
        height=_AXIS + _ROW * max(len(names), 2),
        margin={"l": 0, "r": 14, "t": 0, "b": 0},
        showlegend=False,
        dragmode=False,
        uirevision="constant",
    )
    drawn.update_xaxes(range=[0, 100], tickvals=[0, 25, 50, 75, 100], fixedrange=True, gridcolor=palette.grid)
    drawn.update_yaxes(autorange="reversed", fixedrange=True, automargin=True, type="category")
    return drawn


def alt(groups: pd.DataFrame, name: str) -> str:
    """The alt text of the chart."""
    rows = "; ".join(f"{row.iloc[0]} {row['mean']:g} of {row['rows']:,} rows" for _, row in groups.iterrows())
    return f"Mean score of {name} by {groups.columns[0]}: {rows}."


def table(groups: pd.DataFrame) -> pd.DataFrame:
    """The groups with headings in words."""
    return groups.rename(columns={"rows": "Rows", "mean": "Mean", "median": "Median", "above": "Above 50 (%)"})

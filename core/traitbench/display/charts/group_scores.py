"""The mean score of each group of texts, as bars from 0 to 100.

A bar has the colour of a pole only if its mean is shown to be nearer to that pole than the mean of the other texts.
"""

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from traitbench.display.charts.layout import as_is
from traitbench.display.colours import SIDES, Palette

_ROW, _AXIS = 30, 40
_LONGEST = 28
# Colour by the side of 50 would be simpler, but of random groups near 50 some became blue and some orange, and people
# read differences where there were none.
_SIDES: Mapping[str, bool | None] = {"higher": True, "lower": False}


def figure(groups: pd.DataFrame, palette: Palette, *, fewest: int) -> go.Figure:
    """One bar for each row of `groups`; `fewest` is how many rows a comparison needs."""
    words = _words(fewest)
    names = [as_is(str(name)[:_LONGEST]) for name in groups.iloc[:, 0]]
    drawn = go.Figure()
    drawn.add_bar(
        x=groups["mean"],
        y=names,
        orientation="h",
        marker={"color": [SIDES[_SIDES.get(each)].colour for each in groups["standing"]]},
        text=[
            f"{mean:g} {each}" if each in _SIDES else f"{mean:g}"
            for mean, each in zip(groups["mean"], groups["standing"], strict=True)
        ],
        textposition="auto",
        customdata=groups[["rows", "median", "above"]].assign(standing=groups["standing"].map(words)),
        hovertemplate="mean %{x:g}, median %{customdata[1]:g}, %{customdata[2]:g} % above 50, "
        "%{customdata[0]:,} rows: %{customdata[3]}<extra></extra>",
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


def alt(groups: pd.DataFrame, name: str, *, fewest: int) -> str:
    """The alt text of the chart."""
    words = _words(fewest)
    rows = "; ".join(
        f"{row.iloc[0]} {row['mean']:g} of {row['rows']:,} rows, {words[row['standing']]}"
        for _, row in groups.iterrows()
    )
    return f"Mean score of {name} by {groups.columns[0]}: {rows}."


def table(groups: pd.DataFrame, *, fewest: int) -> pd.DataFrame:
    """The groups with headings in words."""
    named = groups.assign(standing=groups["standing"].map(_words(fewest)))
    heads = {"rows": "Rows", "mean": "Mean", "median": "Median", "above": "Above 50 (%)", "standing": "Compared"}
    return named.rename(columns=heads)


def finding(groups: pd.DataFrame, *, fewest: int) -> str:
    """What the comparison shows, as a sentence."""
    compared = int((groups["standing"] != "few").sum())
    shown = int(groups["standing"].isin([*_SIDES]).sum())
    if not compared:
        return f"No group has the {fewest} rows that a comparison needs."
    if not shown:
        return "No difference shown: random groups differ as much as these."
    return (
        f"In colour: {shown} of {len(groups)} groups with a mean that differs from that of the other rows, after"
        " correction for the number of groups (Holm, 5 %). In grey: no difference shown."
    )


def _words(fewest: int) -> Mapping[str, str]:
    return {
        "higher": "higher than the others",
        "lower": "lower than the others",
        "none": "no difference shown",
        "few": f"fewer than {fewest} rows to compare",
    }

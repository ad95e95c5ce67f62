"""The mean score of each group of texts, as a dot with its interval and a dashed line for all texts.

All groups are grey. Only one whose mean is shown to differ from that of the other texts is in ink, and words say so.
"""

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from traitbench.display.charts.layout import as_is
from traitbench.display.colours import Palette
from traitbench.display.text import shortened

_ROW, _AXIS = 28, 56
_LONGEST = 24
_LEAST_SPAN = 20
# The colours of the poles would be simpler to see, but of random groups some became blue and some orange, and people
# read differences where there were none.
_SHOWN: Mapping[str, str] = {"higher": "higher than the rest", "lower": "lower than the rest"}


def figure(groups: pd.DataFrame, palette: Palette, *, ink: str, mean: float) -> go.Figure:
    """Return one row for each group; `mean` is that of all texts, `ink` the colour of a difference that is shown."""
    indices = list(range(len(groups)))
    low, high = _reach(groups, mean)
    drawn = go.Figure()
    drawn.add_vline(x=mean, line={"color": palette.neutral, "width": 1, "dash": "dash"})
    for is_shown, colour in ((False, palette.neutral), (True, ink)):
        # A row of the other kind has no position here, so that a click gives the place of a group in both traces.
        rows = groups.where(groups["standing"].isin([*_SHOWN]) == is_shown)
        drawn.add_scatter(
            x=rows["mean"],
            y=indices,
            mode="markers",
            marker={"color": colour, "size": 11},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": rows["high"] - rows["mean"],
                "arrayminus": rows["mean"] - rows["low"],
                "thickness": 4,
                "width": 0,
                "color": colour,
            },
            customdata=groups[["rows", "low", "high"]],
            hovertemplate="mean %{x:.1f}, interval %{customdata[1]:.1f} to %{customdata[2]:.1f}, "
            "%{customdata[0]:,} texts<extra></extra>",
        )
    for index, (_, row) in zip(indices, groups.iterrows(), strict=True):
        words = _SHOWN.get(row["standing"])
        text = f"<b>{row['mean']:.0f}, {words}</b>" if words else f"{row['mean']:.0f}"
        drawn.add_annotation(x=1, xref="paper", xanchor="right", y=index, text=text, showarrow=False)
    drawn.update_layout(
        height=_AXIS + _ROW * max(len(indices), 2),
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        showlegend=False,
        dragmode=False,
        uirevision="constant",
    )
    # Isolated, so that the count stays behind a name that is written from right to left.
    names = [f"\u2068{as_is(str(row.iloc[0])[:_LONGEST])}\u2069  {row['rows']:,}" for _, row in groups.iterrows()]
    # Named here too: the control beside the chart changes a moment before the chart does.
    column = as_is(shortened(str(groups.columns[0]), _LONGEST))
    drawn.update_xaxes(
        range=[low, high],
        domain=[0, 0.62 if groups["standing"].isin([*_SHOWN]).any() else 0.88],
        title=f"mean score by {column}, 95 % interval; dashed: all, {mean:.0f}",
        fixedrange=True,
        gridcolor=palette.grid,
        zeroline=False,
    )
    drawn.update_yaxes(
        range=[len(indices) - 0.5, -0.5],
        tickvals=indices,
        ticktext=names,
        fixedrange=True,
        automargin=True,
        showgrid=False,
        zeroline=False,
    )
    return drawn


def alt(groups: pd.DataFrame, name: str, *, fewest: int) -> str:
    """Return the alt text of the chart."""
    words = _words(fewest)
    rows = "; ".join(
        f"{row.iloc[0]} {row['mean']:g} ({row['low']:g} to {row['high']:g}) of {row['rows']:,} texts, "
        f"{words[row['standing']]}"
        for _, row in groups.iterrows()
    )
    return f"Mean score of {name} by {groups.columns[0]}: {rows}."


def table(groups: pd.DataFrame, *, fewest: int) -> pd.DataFrame:
    """Return the groups with headings in words."""
    named = groups.assign(standing=groups["standing"].map(_words(fewest)))
    heads = {"rows": "Texts", "mean": "Mean", "low": "Interval from", "high": "to", "median": "Median"}
    return named.rename(columns={**heads, "above": "Above 50 (%)", "standing": "Compared"})


def finding(groups: pd.DataFrame, *, fewest: int) -> str:
    """Return what the comparison shows, as a sentence."""
    shown = int(groups["standing"].isin([*_SHOWN]).sum())
    if not (groups["standing"] != "few").any():
        return f"No group has the {fewest} rows that a comparison needs."
    if not shown:
        return f"No difference shown between {len(groups)} groups"
    return f"{shown} of {len(groups)} groups {'differs' if shown == 1 else 'differ'} from the rest"


def _reach(groups: pd.DataFrame, mean: float) -> tuple[float, float]:
    """Return the range of the axis: all intervals, and at least 20 points."""
    low, high = min(groups["low"].min(), mean), max(groups["high"].max(), mean)
    wider = max(_LEAST_SPAN - (high - low), 2) / 2
    return max(low - wider, 0), min(high + wider, 100)


def _words(fewest: int) -> Mapping[str, str]:
    return {**_SHOWN, "none": "no difference shown", "few": f"fewer than {fewest} rows to compare"}

"""The distribution of many scores of a trait: bars of five points, in the colour of the side that they claim.

Texts with no clear side are hatched, at the bottom of each bar. The poles are named at both ends, and 50 is marked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import pandas as pd
import plotly.graph_objects as go

from traitbench.display.charts.layout import as_is
from traitbench.display.colours import NO_TIER, SIDES, Palette
from traitbench.display.sides import UNCLEAR
from traitbench.display.text import shortened

WIDTH = 5

_BINS = 100 // WIDTH
_HEIGHT, _LONGEST = 190, 24
_MIDDLE = 50


@dataclass(frozen=True)
class Histogram:
    """Counts per bar of the texts at the negative pole (-1), with no clear side (0), and at the positive pole (1)."""

    counts: Mapping[int, Sequence[int]]
    negative: str
    positive: str
    median: float | None

    @property
    def totals(self) -> list[int]:
        """The counts per bar, over all sides."""
        return [sum(bins) for bins in zip(*self.counts.values(), strict=True)]


def binned(scores: Sequence[int], sides: Sequence[int], *, negative: str, positive: str) -> Histogram:
    """Return the histogram of scores, each with the side that it claims."""
    counts = {side: [0] * _BINS for side in (0, -1, 1)}
    for score, side in zip(scores, sides, strict=True):
        counts[side][bin_of(score)] += 1
    return Histogram(counts, negative, positive, median(scores) if scores else None)


def bin_of(score: int) -> int:
    """Return the number of the bar that a score is in; the last one has 100 too."""
    return min(score // WIDTH, _BINS - 1)


def range_of(number: int) -> tuple[int, int]:
    """Return the lowest and the highest score of a bar."""
    return number * WIDTH, 100 if number == _BINS - 1 else (number + 1) * WIDTH - 1


def figure(histogram: Histogram, palette: Palette) -> go.Figure:
    """Return stacked bars from 0 to 100."""
    drawn = go.Figure()
    words = _words(histogram)
    middles = [number * WIDTH + WIDTH / 2 for number in range(_BINS)]
    for side, counts in histogram.counts.items():
        if any(counts):
            drawn.add_bar(
                x=middles,
                y=list(counts),
                width=WIDTH * 0.9,
                marker=_marker(side),
                customdata=[["{} to {}".format(*range_of(number)), as_is(words[side])] for number in range(_BINS)],
                hovertemplate="<b>%{customdata[0]}</b><br>%{y:,} %{customdata[1]}<extra></extra>",
            )
    drawn.add_vline(x=_MIDDLE, line={"color": palette.neutral, "width": 1, "dash": "dot"})
    if most := max(histogram.totals):
        number = histogram.totals.index(most)
        drawn.add_annotation(x=middles[number], y=most, yanchor="bottom", text=f"{most:,}", showarrow=False)
    below: dict[str, object] = {"y": 0, "yref": "paper", "yanchor": "top", "yshift": -2, "showarrow": False}
    for at, anchor, side in ((0, "left", False), (100, "right", True)):
        pole = as_is(shortened(words[1 if side else -1], _LONGEST))
        drawn.add_annotation(x=at, xanchor=anchor, text=f"<b>{SIDES[side].sign} {pole}</b>", **below)
    drawn.add_annotation(x=_MIDDLE, xanchor="center", text="50", **below)
    drawn.update_layout(
        height=_HEIGHT,
        margin={"l": 0, "r": 0, "t": 20, "b": 24},
        barmode="stack",
        bargap=0,
        showlegend=False,
        hoverlabel={"align": "left"},
        dragmode=False,
        uirevision="constant",
    )
    drawn.update_xaxes(range=[0, 100], showticklabels=False, fixedrange=True, showgrid=False, zeroline=False)
    drawn.update_yaxes(rangemode="tozero", fixedrange=True, showgrid=False, showticklabels=False)
    return drawn


def alt(histogram: Histogram) -> str:
    """Return the alt text of the chart."""
    parts = ", ".join(f"{sum(histogram.counts[side]):,} {words}" for side, words in _words(histogram).items())
    return f"Histogram of {sum(histogram.totals):,} scores from 0 to 100, median {histogram.median or 0:g}: {parts}."


def table(histogram: Histogram) -> pd.DataFrame:
    """Return one row per bar."""
    spans = ["{} to {}".format(*range_of(number)) for number in range(_BINS)]
    by_side = {words: list(histogram.counts[side]) for side, words in _words(histogram).items()}
    return pd.DataFrame({"Score": spans, "Texts": histogram.totals, **by_side})


def _words(histogram: Histogram) -> Mapping[int, str]:
    return {-1: histogram.negative, 0: UNCLEAR, 1: histogram.positive}


def _marker(side: int) -> dict[str, object]:
    if side == 0:
        return {
            "color": "rgba(128, 128, 128, 0.12)",
            "line": {"width": 0},
            "pattern": {"shape": "/", "fgcolor": NO_TIER.colour, "size": 6, "solidity": 0.25},
        }
    return {"color": SIDES[side > 0].colour, "line": {"width": 0}}

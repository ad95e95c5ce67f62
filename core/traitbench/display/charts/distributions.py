"""The distribution of many scores: bars of five points, stacked by tier, with lines where the tiers begin.

A score of low confidence has no tier: its bar is grey, as on a card, and hatched by the reason. The composite has no
tiers, but its scores of low confidence are apart too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from traitbench.display.charts.layout import as_is
from traitbench.display.colours import NO_TIER, SIDES, TIER_NAMES, TIERS, Palette
from traitbench.display.words import REASONS

WIDTH = 5
UNCERTAIN = "uncertain"

HATCHES: Mapping[str, tuple[str, str]] = {
    "unlike_samples": ("\\", "╲"),
    "few_samples": (".", "⋅"),
    "not_separable": ("x", "×"),
    "overlap": ("/", "╱"),
    UNCERTAIN: ("/", "╱"),
}
"""The pattern of a bar of low confidence, by reason, and a character that looks like it."""

_BINS = 100 // WIDTH
_HEIGHT = 190
_FEW = 5
_MIDDLE = 50
Breaks = tuple[int, int, int]


@dataclass(frozen=True)
class Histogram:
    """The counts per bin by tier, by reason without one, and under an empty name where there are no tiers.

    `breaks` are the scores where tiers begin.
    """

    name: str
    counts: Mapping[str, Sequence[int]]
    breaks: Breaks | None
    scored: int
    median: float | None

    @property
    def totals(self) -> list[int]:
        """The counts per bin, over all tiers."""
        return [sum(bins) for bins in zip(*self.counts.values(), strict=True)] if self.counts else [0] * _BINS


def binned(name: str, scores: Sequence[int], groups: Sequence[str], breaks: Breaks | None) -> Histogram:
    """The histogram of scores, each with its tier or, at low confidence, the reason or `uncertain`.

    Scores without tiers have an empty group.
    """
    frame = pd.DataFrame({"bin": [min(score // WIDTH, _BINS - 1) for score in scores], "tier": groups})
    counts: dict[str, Sequence[int]] = {}
    for tier in ("", *TIER_NAMES, *HATCHES):
        if tier not in groups and (breaks is None or tier not in TIER_NAMES):
            continue
        in_tier = frame.loc[frame["tier"] == tier, "bin"].value_counts()
        counts[tier] = [int(in_tier.get(place, 0)) for place in range(_BINS)]
    median = float(pd.Series(scores).median()) if scores else None
    return Histogram(name, counts, breaks, len(scores), median)


def figure(histogram: Histogram, palette: Palette) -> go.Figure:
    """Stacked bars from 0 to 100."""
    drawn = go.Figure()
    for tier, counts in histogram.counts.items():
        if any(counts):
            drawn.add_bar(
                x=[place * WIDTH + WIDTH / 2 for place in range(_BINS)],
                y=list(counts),
                width=WIDTH * 0.92,
                marker=_marker(tier),
                customdata=[[_span(place), as_is(_label(tier))] for place in range(_BINS)],
                hovertemplate="<b>%{customdata[0]}</b><br>%{y:,} %{customdata[1]}<extra></extra>",
            )
    for begins in histogram.breaks or ():
        drawn.add_vline(x=begins, line={"color": palette.neutral, "width": 1, "dash": "dot"})
    drawn.update_layout(
        height=_HEIGHT,
        margin={"l": 0, "r": 14, "t": 20, "b": 0},
        barmode="stack",
        bargap=0,
        showlegend=False,
        hoverlabel={"align": "left"},
        dragmode=False,
        uirevision="constant",
    )
    drawn.update_xaxes(range=[0, 100], tickvals=[0, 25, 50, 75, 100], fixedrange=True, showgrid=False, zeroline=False)
    few = {"dtick": 1} if max(histogram.totals) < _FEW else {"nticks": 4}
    drawn.update_yaxes(rangemode="tozero", tickformat=",d", fixedrange=True, gridcolor=palette.grid, **few)
    _mark_tiers(drawn, histogram)
    return drawn


def alt(histogram: Histogram) -> str:
    """The alt text of the chart."""
    if not histogram.scored:
        return f"Histogram of {histogram.name}: nothing was scored."
    tiers = "; ".join(f"{sum(counts):,} {_label(tier)}" for tier, counts in histogram.counts.items() if tier)
    return (
        f"Histogram of {histogram.name} from 0 to 100: {histogram.scored:,} texts, median {histogram.median:g}"
        f"{'; ' if tiers else ''}{tiers}."
    )


def legend(histograms: Iterable[Histogram]) -> str:
    """The hatches that occur, each with the reason of the low confidence; empty if there are none."""
    present = {group for histogram in histograms for group in histogram.counts}
    words = {reason: each.short for reason, each in REASONS.items()} | {UNCERTAIN: "no reason given"}
    return ", ".join(f"{HATCHES[group][1]} {words[group]}" for group in HATCHES if group in present)


def table(histogram: Histogram) -> pd.DataFrame:
    """One row per bar."""
    by_tier = {_label(tier).capitalize(): list(counts) for tier, counts in histogram.counts.items() if tier}
    return pd.DataFrame(
        {"Score": [_span(place) for place in range(_BINS)], "Texts": histogram.totals, **by_tier},
    )


def _marker(tier: str) -> dict[str, object]:
    """Bars have the colour of the side that their scores are on, as on every page; the tier is in the tooltip."""
    if tier in HATCHES:
        return {
            "color": "rgba(128, 128, 128, 0.2)",
            "line": {"width": 1, "color": NO_TIER.colour},
            "pattern": {"shape": HATCHES[tier][0], "fgcolor": NO_TIER.colour, "size": 6, "solidity": 0.25},
        }
    colours = [SIDES[(place + 0.5) * WIDTH > _MIDDLE].colour for place in range(_BINS)]
    return {"color": colours, "line": {"width": 0}}


def _mark_tiers(drawn: go.Figure, histogram: Histogram) -> None:
    """Draw the sign of each tier above its range, if the range is wide enough."""
    if histogram.breaks is None:
        return
    limits = (0, *histogram.breaks, 100)
    for tier, start, end in zip(TIER_NAMES, limits, limits[1:], strict=False):
        if end - start >= WIDTH:
            drawn.add_annotation(
                x=(start + end) / 2,
                y=1,
                yref="paper",
                yanchor="bottom",
                text=TIERS[tier].glyph,
                hovertext=f"{tier}, from {start}",
                showarrow=False,
            )


def _label(tier: str) -> str:
    reason = next((words.short for reason, words in REASONS.items() if reason == tier), "")
    return f"{UNCERTAIN}: {reason}" if reason else tier or "texts"


def _span(place: int) -> str:
    last = (place + 1) * WIDTH - 1
    return f"{place * WIDTH} to {100 if place == _BINS - 1 else last}"

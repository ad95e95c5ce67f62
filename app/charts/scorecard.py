"""A score card as a bar chart: the score, tier and confidence of each trait.

The background of a bar is shaded in steps at the trait's breaks. The thin line below it is the band: the middle half of
the samples at the nearer pole. A score of low confidence has no tier: its bar is grey and hatched and labelled
uncertain.
"""

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from traitbench.app.charts.rows import as_is, lay_out, segments
from traitbench.app.shell.theme import NO_TIER, TIERS, Palette, TierSign
from traitbench.barchart import DOTS
from traitbench.contract.confidence import why, why_short
from traitbench.contract.scores import TraitScore

_STEPS = (0.07, 0.13, 0.19, 0.26)
_TRACK, _BAR = 0.78, 0.34
_BAR_AT, _BAND_AT = -0.1, 0.24
_ANYTHING = (0, 100)  # the band of a pole with too few samples
_FIGURE_SPACE = "\u2007"


def figure(detail: Mapping[str, TraitScore], names: Mapping[str, str], palette: Palette) -> go.Figure:
    """One bar per trait, in the order of `detail`."""
    drawn = go.Figure()
    _add_tracks(drawn, detail)
    _add_bars(drawn, detail, names)
    _add_bands(drawn, detail, palette)
    rows = [names.get(key, key) for key in detail]
    return lay_out(drawn, rows, [_note(trait) for trait in detail.values()], palette, grid=False)


def alt(detail: Mapping[str, TraitScore], names: Mapping[str, str]) -> str:
    """The alt text of the chart."""
    rows = [f"{names.get(key, key)} {_in_words(trait, why_short(trait))}" for key, trait in detail.items()]
    return f"Bar chart of {len(rows)} trait scores from 0 to 100: " + "; ".join(rows) + "."


def table(detail: Mapping[str, TraitScore], names: Mapping[str, str]) -> pd.DataFrame:
    """The figures of the chart, one row per trait."""
    return pd.DataFrame(
        [
            {
                "Trait": names.get(key, key),
                "Score": trait.score,
                "Tier": trait.label,
                "Confidence": trait.confidence,
                "Why not high": why_short(trait) or None,
                "Band low": trait.band[0],
                "Band high": trait.band[1],
                "To next tier": trait.headroom,
                "Developing from": trait.breaks.developing,
                "Solid from": trait.breaks.solid,
                "Strong from": trait.breaks.strong,
                "Polarity": round(trait.native.polarity, 4),
            }
            for key, trait in detail.items()
        ]
    )


def sign(trait: TraitScore) -> TierSign:
    """The colour and glyph of a trait's tier; `NO_TIER` if it has none."""
    return TIERS[trait.label] if trait.label else NO_TIER


def _add_tracks(drawn: go.Figure, detail: Mapping[str, TraitScore]) -> None:
    edges = [(0, trait.breaks.developing, trait.breaks.solid, trait.breaks.strong, 100) for trait in detail.values()]
    for step, shade in enumerate(_STEPS):
        drawn.add_bar(
            base=[edge[step] for edge in edges],
            x=[max(edge[step + 1] - edge[step], 0) for edge in edges],
            y=list(range(len(edges))),
            orientation="h",
            width=_TRACK,
            marker={"color": f"rgba(128, 128, 128, {shade})", "line": {"width": 0}},
            hoverinfo="skip",
        )


def _add_bars(drawn: go.Figure, detail: Mapping[str, TraitScore], names: Mapping[str, str]) -> None:
    traits = list(detail.values())
    drawn.add_bar(
        x=[trait.score for trait in traits],
        y=[row + _BAR_AT for row in range(len(traits))],
        orientation="h",
        width=_BAR,
        marker={
            "color": [sign(trait).colour if trait.label else "rgba(128, 128, 128, 0.2)" for trait in traits],
            "line": {"width": [0 if trait.label else 1 for trait in traits], "color": NO_TIER.colour},
            "pattern": {
                "shape": ["" if trait.label else "/" for trait in traits],
                "fgcolor": NO_TIER.colour,
                "size": 6,
                "solidity": 0.25,
            },
        },
        customdata=[[as_is(names.get(key, key)), _hint(trait)] for key, trait in detail.items()],
        hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]}<extra></extra>",
    )


def _add_bands(drawn: go.Figure, detail: Mapping[str, TraitScore], palette: Palette) -> None:
    known = [(row, trait.band) for row, trait in enumerate(detail.values()) if tuple(trait.band) != _ANYTHING]
    x, y = segments(
        [band[0] for _, band in known], [band[1] for _, band in known], [row + _BAND_AT for row, _ in known]
    )
    drawn.add_scatter(x=x, y=y, mode="lines", line={"color": palette.neutral, "width": 2.5}, hoverinfo="skip")


def _note(trait: TraitScore) -> str:
    score = str(trait.score).rjust(3, _FIGURE_SPACE)
    return f"<b>{score}</b>  {DOTS[trait.confidence]}  {trait.label or 'uncertain'}"


def _in_words(trait: TraitScore, reason: str = "") -> str:
    tier = f"{trait.label}, {trait.confidence} confidence" if trait.label else "uncertain, low confidence, no tier"
    return f"{trait.score} ({tier}{': ' if reason else ''}{reason})"


def _hint(trait: TraitScore) -> str:
    breaks = trait.breaks
    lines = (
        _in_words(trait),
        why(trait),
        f"Middle half of the samples at the nearer pole: {trait.band[0]} to {trait.band[1]}",
        f"Developing from {breaks.developing}, Solid from {breaks.solid}, Strong from {breaks.strong}",
    )
    return "<br>".join(filter(None, lines))

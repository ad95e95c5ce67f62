"""Two scores per row and the change between them: hollow circle before, filled diamond after.

The colour of the connector and the sign in the right-hand column show the direction of a change, not whether it is
better. The connector is dotted if the change is not sure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd
import plotly.graph_objects as go

from traitbench.app.charts.rows import as_is, lay_out, segments
from traitbench.app.shell.theme import NEGATIVE_SIGN, POSITIVE_SIGN, Palette

Order = Literal["change", "score", "name"]
ORDERS: tuple[Order, ...] = ("change", "score", "name")


@dataclass(frozen=True)
class Pair:
    """One row: a name, two scores from 0 to 100, and whether the change is sure; None if that is not known.

    `doubt` is the word for a change that is not.
    """

    name: str
    a: int
    b: int
    sure: bool | None = True
    doubt: str = "uncertain"

    @property
    def delta(self) -> int:
        """The change from a to b."""
        return self.b - self.a

    @property
    def note(self) -> str:
        """The sign and size of the change, with the doubt if there is a change and it is not sure."""
        return signed(self.delta) + (f", {self.doubt}" if self.delta and not self.sure else "")


def ordered(pairs: Sequence[Pair], by: Order = "change") -> list[Pair]:
    """The pairs sorted by size of the change, by the second score, or by name; ties keep their order."""
    if by == "name":
        return sorted(pairs, key=lambda pair: pair.name.casefold())
    return sorted(pairs, key=lambda pair: -(abs(pair.delta) if by == "change" else pair.b))


def figure(pairs: Sequence[Pair], labels: tuple[str, str], palette: Palette) -> go.Figure:
    """One row per pair, in the given order; `labels` name the two scores."""
    drawn = go.Figure()
    for direction, colour in ((1, palette.positive), (-1, palette.negative)):
        for sure in (True, False):
            _add_connectors(drawn, pairs, direction, colour, sure=sure)
    _add_ends(drawn, pairs, labels, palette)
    return lay_out(drawn, [pair.name for pair in pairs], [_note(pair) for pair in pairs], palette, legend=True)


def alt(pairs: Sequence[Pair], labels: tuple[str, str]) -> str:
    """The alt text of the chart."""
    rows = [f"{pair.name} {pair.a} to {pair.b} ({pair.note})" for pair in pairs]
    return f"Change from {labels[0]} to {labels[1]}, scores from 0 to 100: " + "; ".join(rows) + "."


def table(pairs: Sequence[Pair], labels: tuple[str, str], *, rows: str = "Trait") -> pd.DataFrame:
    """The chart's figures; the first column is named `rows`."""
    return pd.DataFrame(
        {
            rows: [pair.name for pair in pairs],
            labels[0]: [pair.a for pair in pairs],
            labels[1]: [pair.b for pair in pairs],
            "Change": [pair.delta for pair in pairs],
            "Sure": [pair.sure for pair in pairs],
        }
    )


def signed(delta: int) -> str:
    """A change as text: `▲ +7`, `▼ −3` or `=`."""
    if delta == 0:
        return "="
    return f"{POSITIVE_SIGN} +{delta}" if delta > 0 else f"{NEGATIVE_SIGN} −{-delta}"


def _add_connectors(drawn: go.Figure, pairs: Sequence[Pair], direction: int, colour: str, *, sure: bool) -> None:
    rows = [(row, pair) for row, pair in enumerate(pairs) if pair.delta * direction > 0 and bool(pair.sure) is sure]
    x, y = segments([pair.a for _, pair in rows], [pair.b for _, pair in rows], [row for row, _ in rows])
    drawn.add_scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": colour, "width": 4 if sure else 3, "dash": "solid" if sure else "dot"},
        hoverinfo="skip",
        showlegend=False,
    )


def _add_ends(drawn: go.Figure, pairs: Sequence[Pair], labels: tuple[str, str], palette: Palette) -> None:
    ends = (
        (labels[0], [pair.a for pair in pairs], "circle-open", [palette.neutral] * len(pairs)),
        (labels[1], [pair.b for pair in pairs], "diamond", [_colour(pair, palette) for pair in pairs]),
    )
    for label, scores, symbol, colours in ends:
        drawn.add_scatter(
            x=scores,
            y=list(range(len(pairs))),
            mode="markers",
            name=label,
            showlegend=False,
            marker={"symbol": symbol, "size": 12, "color": colours, "line": {"width": 2, "color": colours}},
            customdata=[[as_is(pair.name), pair.note] for pair in pairs],
            hovertemplate=f"<b>%{{customdata[0]}}</b><br>{label}: %{{x}}<br>Change: %{{customdata[1]}}<extra></extra>",
        )
        drawn.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            name=label,
            marker={"symbol": symbol, "size": 12, "color": palette.neutral},
        )


def _colour(pair: Pair, palette: Palette) -> str:
    if pair.delta == 0:
        return palette.neutral
    return palette.positive if pair.delta > 0 else palette.negative


def _note(pair: Pair) -> str:
    return f"<b>{signed(pair.delta)}</b>" + (f"  {pair.doubt}" if pair.delta and not pair.sure else "")

"""The layout shared by the charts with rows: names on the left, figures in a column on the right.

No chart sets a text colour, so text follows a change of theme. The colours of marks come from the palette.
"""

from collections.abc import Sequence
from html import escape
from textwrap import wrap

import plotly.graph_objects as go

from traitbench.display.colours import Palette
from traitbench.display.text import isolated

ROW_HEIGHT = 30
_SURROUNDINGS = 48
_LONGEST_LINE = 26
# Pixels of a character: Plotly reserves no room for annotations.
_CHARACTER = 7.1
_GAP = 14


def shorten(name: str) -> str:
    """A row's name on at most two lines, shortened to them; the tooltip and the table show it in full."""
    lines = wrap(name, _LONGEST_LINE, max_lines=2, placeholder="…") or [""]
    return "<br>".join(map(as_is, lines))


def as_is(text: str) -> str:
    """A user's text escaped for a figure, because Plotly interprets some HTML tags; see also `isolated`."""
    return isolated(escape(text, quote=False))


def lay_out(
    figure: go.Figure,
    names: Sequence[str],
    notes: Sequence[str],
    palette: Palette,
    *,
    span: tuple[float, float] = (0, 100),
    ticks: Sequence[float] = (0, 25, 50, 75, 100),
    tick_format: str = "",
    legend: bool = False,
    grid: bool = True,
) -> go.Figure:
    """Add axes, names and the column of notes to `figure`, whose row i is at y = i."""
    figure.update_layout(
        height=round(ROW_HEIGHT * max(len(names), 1)) + _SURROUNDINGS + (28 if legend else 0),
        margin={"l": 0, "r": round(_widest(notes) * _CHARACTER) + _GAP, "t": 30 if legend else 4, "b": 30},
        barmode="overlay",
        bargap=0,
        showlegend=legend,
        legend={"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "itemclick": False},
        hoverlabel={"align": "left"},
        dragmode=False,
        # The browser keeps what a reader has hidden or selected when the figure is drawn again.
        uirevision="constant",
    )
    figure.update_xaxes(
        range=_roomy(span),
        tickvals=list(ticks),
        tickformat=tick_format,
        fixedrange=True,
        showgrid=grid,
        gridcolor=palette.grid,
        zeroline=False,
        title=None,
    )
    figure.update_yaxes(
        range=[len(names) - 0.5, -0.5],
        tickvals=list(range(len(names))),
        ticktext=[shorten(name).replace("<br>", "  <br>") + "  " for name in names],
        automargin=True,
        fixedrange=True,
        showgrid=False,
        zeroline=False,
        ticks="",
        title=None,
    )
    # All at once: plotly checks every annotation of a figure again whenever one is added.
    figure.layout.annotations = [_note(row, note) for row, note in enumerate(notes)]
    return figure


def segments(starts: Sequence[float], ends: Sequence[float], row: Sequence[float]) -> tuple[list[float | None], ...]:
    """The x and y of one line trace with many separate segments, with None between them."""
    x: list[float | None] = []
    y: list[float | None] = []
    for start, end, at in zip(starts, ends, row, strict=True):
        x += [start, end, None]
        y += [at, at, None]
    return x, y


def _note(row: int, text: str) -> dict[str, object]:
    """The annotation of a row, in the column on the right."""
    return {
        "x": 1,
        "xref": "paper",
        "xanchor": "left",
        "xshift": _GAP - 4,
        "y": row,
        "yref": "y",
        "yanchor": "middle",
        "text": text,
        "align": "left",
        "showarrow": False,
    }


def _roomy(span: tuple[float, float]) -> list[float]:
    """The range with a margin, so that marks on its border are not cut off."""
    room = (span[1] - span[0]) * 0.015
    return [span[0] - room, span[1] + room]


def _widest(notes: Sequence[str]) -> int:
    """The number of characters of the longest note, without markup."""
    return max((len(note.replace("<b>", "").replace("</b>", "").replace("&nbsp;", " ")) for note in notes), default=0)

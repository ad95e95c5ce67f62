"""The held-out scores of a trait's samples, as a table of poles by tiers; a darker cell has more of its pole's samples.

The table is HTML in the page's own text colour, so it follows the theme at once. Each cell also shows its number.
"""

from collections.abc import Sequence
from html import escape

import pandas as pd
import streamlit as st

from traitbench.contract.metrics import POLES, Confusion, Pole
from traitbench.contract.scores import Tier
from traitbench.display.colours import NEGATIVE_SIGN, PALETTE, POSITIVE_SIGN, TIER_NAMES, TIERS, seen_through
from traitbench_app.parts.cells import draw_cells
from traitbench_app.parts.chart import download_table

_SIGNS: dict[Pole, str] = {"positive": POSITIVE_SIGN, "negative": NEGATIVE_SIGN}
_COLOURS: dict[Pole, str] = {"positive": PALETTE.positive, "negative": PALETTE.negative}
_FAINTEST, _DARKEST = 0.08, 0.55
_TABLE = "border-collapse:separate;border-spacing:3px;width:100%;max-width:44rem;table-layout:fixed"
_HEAD = "font-weight:600;font-size:0.8rem;text-align:center;padding:0.2rem 0;overflow-wrap:anywhere;border:0"
_SIDE = "font-weight:600;font-size:0.8rem;text-align:left;padding:0.3rem 0;border:0"
_CELL = "text-align:center;padding:0.45rem 0.1rem;border:0;border-radius:4px;font-variant-numeric:tabular-nums"


def draw_confusion(
    confusion: Confusion,
    poles: tuple[str, str],
    *,
    key: str,
    file_name: str,
    opens: bool = False,
) -> tuple[Pole, Tier] | None:
    """Draw the table; `poles` are the positive and the negative label.

    With `opens`, its cells are buttons; return the pole and the tier of the open cell.
    """
    pressed = None
    html = _table(confusion, dict(zip(POLES, poles, strict=True)), opens=opens)
    if opens:
        pressed = draw_cells(html, key=f"{key}.cells")
    else:
        st.html(html)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        press = " Press a cell to read its texts." if opens else ""
        st.caption(
            "Samples by pole and by the tier of their held-out score. In a good trait, positive samples are on the "
            f"right and negative samples on the left.{press}",
            width="stretch",
        )
        download_table(_frame(confusion, poles), key=key, file_name=file_name)
    return _cell_of(pressed)


def _cell_of(pressed: str | None) -> tuple[Pole, Tier] | None:
    """The pole and the tier of a cell's name; None for a name of no cell."""
    return next(((pole, tier) for pole in POLES for tier in TIER_NAMES if pressed == _name(pole, tier)), None)


def _name(pole: Pole, tier: Tier) -> str:
    return f"{pole}.{tier}"


def _table(confusion: Confusion, labels: dict[Pole, str], *, opens: bool) -> str:
    """Return the counts as an HTML table; a darker cell has a larger share of its row."""
    heads = [f"{TIERS[tier].glyph} {tier}" for tier in TIER_NAMES]
    first = "".join(f'<th scope="col" style="{_HEAD}">{escape(head)}</th>' for head in heads)
    body = "".join(
        _row(
            f"{_SIGNS[pole]} {labels[pole]}",
            [confusion[pole][tier] for tier in TIER_NAMES],
            _COLOURS[pole],
            heads,
            [_name(pole, tier) if opens else "" for tier in TIER_NAMES],
        )
        for pole in POLES
    )
    corner = f'<td style="{_HEAD}"></td>'
    return f'<table style="{_TABLE}" aria-label="Held-out scores by tier"><tr>{corner}{first}</tr>{body}</table>'


def _row(head: str, counts: Sequence[int], colour: str, heads: Sequence[str], names: Sequence[str]) -> str:
    cells = "".join(
        _cell(count, sum(counts), colour, name, f"{count:,} of {head}, {column}: show the texts")
        for count, column, name in zip(counts, heads, names, strict=True)
    )
    return f'<tr><th scope="row" style="{_SIDE};overflow-wrap:anywhere">{escape(head)}</th>{cells}</tr>'


def _cell(samples: int, whole: int, colour: str, name: str, says: str) -> str:
    share = samples / whole if whole else 0.0
    background = f"background:{seen_through(colour, _FAINTEST + (_DARKEST - _FAINTEST) * share)}"
    part = f'<div style="font-size:0.75rem;opacity:0.8">{share:.0%}</div>' if whole else ""
    content = f"<b>{samples:,}</b>{part}"
    if name:
        disabled = "" if samples else " disabled"
        content = f'<button data-cell="{escape(name)}" aria-label="{escape(says)}"{disabled}>{content}</button>'
    return f'<td style="{_CELL};{background}">{content}</td>'


def _frame(confusion: Confusion, poles: tuple[str, str]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"Pole": name, **{tier: confusion[pole][tier] for tier in TIER_NAMES}}
            for pole, name in zip(POLES, poles, strict=True)
        ]
    )

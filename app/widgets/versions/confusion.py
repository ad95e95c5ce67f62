"""The held-out scores of a trait's samples, as a table of poles by tiers; a darker cell has more of its pole's samples.

The table is HTML in the page's own text colour, so it follows the theme at once. Each cell also shows its number.
"""

from collections.abc import Sequence
from html import escape

import pandas as pd
import streamlit as st

from traitbench.app.shell.theme import NEGATIVE_SIGN, PALETTE, POSITIVE_SIGN, TIER_NAMES, TIERS, seen_through
from traitbench.app.widgets.common.chart import download_table
from traitbench.contract.metrics import POLES, Confusion, Pole

_SIGNS: dict[Pole, str] = {"positive": POSITIVE_SIGN, "negative": NEGATIVE_SIGN}
_COLOURS: dict[Pole, str] = {"positive": PALETTE.positive, "negative": PALETTE.negative}
_FAINTEST, _DARKEST = 0.08, 0.55
_TABLE = "border-collapse:separate;border-spacing:3px;width:100%;max-width:44rem;table-layout:fixed"
_HEAD = "font-weight:600;font-size:0.8rem;text-align:center;padding:0.2rem 0;overflow-wrap:anywhere;border:0"
_SIDE = "font-weight:600;font-size:0.8rem;text-align:left;padding:0.3rem 0;border:0"
_CELL = "text-align:center;padding:0.45rem 0.1rem;border:0;border-radius:4px;font-variant-numeric:tabular-nums"


def draw_confusion(
    confusions: Sequence[tuple[str, Confusion]], poles: tuple[str, str], *, key: str, file_name: str
) -> None:
    """Draw one table per version, under its label; `poles` are the positive and the negative label."""
    for label, confusion in confusions:
        if len(confusions) > 1:
            st.markdown(f"**{label}**")
        st.html(_table(confusion, dict(zip(POLES, poles, strict=True))))
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(
            "Samples by pole and by the tier of their held-out score. In a good trait, positive samples are on the "
            "right and negative samples on the left.",
            width="stretch",
        )
        download_table(_frame(confusions, poles), key=key, file_name=file_name)


def counts_table(heads: Sequence[str], rows: Sequence[tuple[str, Sequence[int], str]], *, label: str) -> str:
    """Return counts as an HTML table; each row has its head, a count per column, and a colour, `#rrggbb`.

    A darker cell has a larger share of its row.
    """
    first = "".join(f'<th scope="col" style="{_HEAD}">{escape(head)}</th>' for head in heads)
    body = "".join(_row(*row) for row in rows)
    corner = f'<td style="{_HEAD}"></td>'
    return f'<table style="{_TABLE}" aria-label="{escape(label)}"><tr>{corner}{first}</tr>{body}</table>'


def _table(confusion: Confusion, labels: dict[Pole, str]) -> str:
    heads = [f"{TIERS[tier].glyph} {tier}" for tier in TIER_NAMES]
    rows = [
        (f"{_SIGNS[pole]} {labels[pole]}", [confusion[pole][tier] for tier in TIER_NAMES], _COLOURS[pole])
        for pole in POLES
    ]
    return counts_table(heads, rows, label="Held-out scores by tier")


def _row(head: str, counts: Sequence[int], colour: str) -> str:
    cells = "".join(_cell(count, sum(counts), colour) for count in counts)
    return f'<tr><th scope="row" style="{_SIDE};overflow-wrap:anywhere">{escape(head)}</th>{cells}</tr>'


def _cell(samples: int, whole: int, colour: str) -> str:
    share = samples / whole if whole else 0.0
    background = f"background:{seen_through(colour, _FAINTEST + (_DARKEST - _FAINTEST) * share)}"
    part = f'<div style="font-size:0.75rem;opacity:0.8">{share:.0%}</div>' if whole else ""
    return f'<td style="{_CELL};{background}"><b>{samples:,}</b>{part}</td>'


def _frame(confusions: Sequence[tuple[str, Confusion]], poles: tuple[str, str]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"Version": label, "Pole": name, **{tier: confusion[pole][tier] for tier in TIER_NAMES}}
            for label, confusion in confusions
            for pole, name in zip(POLES, poles, strict=True)
        ]
    )

"""Rows that the service cannot read: which ones, why, and what to do. Everything else keeps working."""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.unreadable import Unreadable
from traitbench.display.text import count, plain, shortened

_SHOWN = 10
_RESTORE = "Restore this {one} from a backup, or ask the operator to remove it."


def draw_unreadable(rows: Sequence[Unreadable], one: str, *, key: str, way_out: str = _RESTORE) -> None:
    """Draw the unreadable rows, if any; `one` is the noun for a row, such as "model" or "version"."""
    for place, row in enumerate(rows[:_SHOWN]):
        cannot_be_read(row.item, row.reason, one, key=f"{key}.{place}", way_out=way_out)
    if len(rows) > _SHOWN:
        st.caption(f"{count(len(rows) - _SHOWN, f'more {one}')} cannot be read.")


def cannot_be_read(item: str, reason: str, one: str, *, key: str, way_out: str = _RESTORE) -> None:
    """Draw one unreadable row."""
    with st.container(border=True, key=key):
        which, why = plain(shortened(item, 200)), plain(shortened(reason, 300))
        st.markdown(f":material/warning: {one.capitalize()} **{which}** cannot be read: {why}.")
        st.caption(f"{way_out.format(one=one)} Nothing else is affected.")

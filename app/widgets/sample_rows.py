"""The filter of the samples table for a handful of rows, by their ids: there only when it is in use."""

import re
from collections.abc import Sequence

import streamlit as st

from traitbench.app import session

_KEY = "rows"


def show_rows(ids: Sequence[int]) -> None:
    """Show the table with these samples, whatever was filtered before; a button's callback."""
    rows = ",".join(map(str, ids))
    session.put({"task": "table", _KEY: rows, "find": "", "trait": None, "pole": None, "origin": None})


def pick_rows() -> str:
    """Draw the filter, if it is in use; answers with the ids, commas in between."""
    if not session.on_screen(_KEY, ""):
        return ""
    return st.text_input(
        "Rows",
        key=_KEY,
        bind="query-params",
        width=200,
        help="The ids of the samples to show, with commas in between; empty for all.",
    )


def ids_of(rows: str) -> frozenset[int]:
    """The ids in what was typed; none means all."""
    return frozenset(int(each) for each in re.findall(r"\d{1,18}", rows))

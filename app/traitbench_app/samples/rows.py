"""A filter that limits the samples table to a few ids; it is shown only while it is in use."""

import re
from collections.abc import Sequence

import streamlit as st

from traitbench_app.shell import session

_KEY = "rows"


def show_rows(ids: Sequence[int]) -> None:
    """Show only these samples in the table and clear the other filters. A button callback."""
    rows = ",".join(map(str, ids))
    session.put({"task": "table", _KEY: rows, "find": "", "trait": None, "pole": None, "origin": None, "use": None})


def picks_rows() -> bool:
    """Whether the filter is in use."""
    return bool(session.on_screen(_KEY, ""))


def pick_rows() -> str:
    """Draw the filter if it is in use; return its ids, separated by commas."""
    if not picks_rows():
        return ""
    return st.text_input(
        "Rows",
        key=_KEY,
        bind="query-params",
        width=200,
        help="IDs of the samples to show, separated by commas. Leave empty to show all.",
    )


def ids_of(rows: str) -> frozenset[int]:
    """The ids in the typed text; an empty set means all samples."""
    return frozenset(int(each) for each in re.findall(r"\d{1,18}", rows))

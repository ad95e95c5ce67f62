"""A chart whose figures are also there as a table and as files that no spreadsheet runs as formulas."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from traitbench.tables.writing import csv_file
from traitbench_app.parts.controls import download

_CONFIG = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False}

# Plotly's grey has too little contrast for small text; use the colour of the page's text, in both themes.
_READABLE = """
<style>
.stPlotlyChart .infolayer text, .stPlotlyChart .cartesianlayer text { fill: currentColor !important; }
</style>
"""


def chart(
    figure: go.Figure,
    *,
    alt: str,
    table: pd.DataFrame,
    key: str,
    file_name: str,
    on_point: Callable[[int], None] | None = None,
) -> None:
    """Draw the figure, or its table on request; `file_name` names the download, without the extension.

    `on_point` is called with the place of a bar or mark when a person clicks it, before the page runs again.
    """
    with st.container(gap="xxsmall"):
        # Placed before the toggle and filled after it: the toggle below decides what is shown above.
        slot = st.container()
        with st.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
            as_table = st.toggle("As a table", key=f"{key}.as_table", persist_state="session")
            download_table(table, key=key, file_name=file_name)
    with slot:
        if as_table:
            st.dataframe(table, hide_index=True, width="stretch", key=f"{key}.table", alt=alt)
        else:
            st.html(_READABLE)
            selecting: dict[str, Any] = {}
            if on_point is not None:
                selecting = {"on_select": partial(_clicked, f"{key}.chart", on_point), "selection_mode": "points"}
            st.plotly_chart(figure, key=f"{key}.chart", config=_CONFIG, alt=alt, **selecting)


def _clicked(key: str, on_point: Callable[[int], None]) -> None:
    points = st.session_state[key].selection.points
    if points:
        on_point(int(points[0]["point_index"]))


def download_table(table: pd.DataFrame, *, key: str, file_name: str) -> None:
    """Draw a button that downloads the table as CSV."""
    download(
        "CSV",
        csv_file([str(name) for name in table.columns], _cells(table)),
        f"{file_name}.csv",
        key=f"{key}.csv",
        type="tertiary",
        help="Download these figures for a spreadsheet.",
    )


def _cells(table: pd.DataFrame) -> Iterator[tuple[object, ...]]:
    """The rows of the table, with None for missing values."""
    return table.astype(object).where(table.notna(), None).itertuples(index=False, name=None)


def figures_table(
    table: pd.DataFrame, *, key: str, file_name: str, alt: str, columns: Mapping[str, Any] | None = None
) -> None:
    """Draw the table and its download; `columns` configures columns by name."""
    st.dataframe(
        table,
        hide_index=True,
        width="stretch",
        key=f"{key}.grid",
        placeholder="–",
        column_config=dict(columns or {}),
        alt=alt,
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        download_table(table, key=key, file_name=file_name)


Files = Mapping[str, Callable[..., bytes]]
"""The function that writes each format."""


def draw_downloads(files: Files, *arguments: Any, key: str, stem: str, summary: str) -> None:
    """Draw what the rows are, and a button for each format; a file is written from `arguments` when one is pressed."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(summary, width="content")
        with st.container(horizontal=True, width="content"):
            for name, write in files.items():
                download(
                    name, partial(write, *arguments), f"{stem}.{name.lower()}", key=f"{key}.{name}", type="tertiary"
                )

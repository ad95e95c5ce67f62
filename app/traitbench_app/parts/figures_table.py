"""A read-only table of figures with a download that no spreadsheet runs as a formula."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from traitbench_app.parts.chart import download_table


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

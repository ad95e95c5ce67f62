"""The rows of a table as files to download."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

Files = Sequence[tuple[str, Callable[..., bytes], str]]
"""The name of each format, the function that writes it, and its media type."""


def draw_downloads(files: Files, *arguments: Any, key: str, stem: str, summary: str) -> None:
    """Draw what the rows are, and a button for each format; a file is written from `arguments` when one is pressed."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(summary, width="content")
        with st.container(horizontal=True, width="content"):
            for name, write, mime in files:
                st.download_button(
                    name,
                    partial(write, *arguments),
                    file_name=f"{stem}.{name.lower()}",
                    mime=mime,
                    icon=":material/download:",
                    key=f"{key}.{name}",
                    on_click="ignore",
                    type="tertiary",
                )

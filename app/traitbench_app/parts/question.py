"""A card of a page: titled by the question that its picture answers."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st


@contextmanager
def question(title: str, *, key: str, note: str = "") -> Iterator[None]:
    """Draw the card around what the caller draws; `note` is a few words in Markdown beside the title."""
    with st.container(border=True, key=f"card.{key}"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.subheader(title, anchor=False, width="content")
            if note:
                st.caption(note, width="content")
        yield

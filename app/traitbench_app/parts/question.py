"""What a card or a page is titled by: the question that its picture answers, or the answer."""

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


_STYLE = """
<style>
.st-key-answer :is(h1, h2) { font-size: 1.75rem; line-height: 2.25rem; padding: 0; text-wrap: balance; }
.st-key-answer p { font-size: 1rem; }
</style>
"""


def draw_title(title: str, *lines: str, is_first: bool = True) -> None:
    """Draw the answer and the lines below it, in Markdown; empty lines are left out.

    It is the first heading of the page, unless a header line of a model is above it.
    """
    with st.container(gap="small", key="answer"):
        st.html(_STYLE)
        (st.title if is_first else st.header)(title, anchor=False)
        for line in filter(None, lines):
            st.markdown(line)

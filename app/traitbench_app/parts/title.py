"""A title that is the answer of a page, with the lines below it."""

import streamlit as st

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

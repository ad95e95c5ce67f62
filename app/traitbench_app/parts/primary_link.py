"""The one link of a page that looks like its primary button."""

import streamlit as st

from traitbench_app.shell.navigation import PageName, page_link

_STYLE = """
<style>
.st-key-primary_link a { background: light-dark(#0F766E, #178278); border-radius: 8px; }
.st-key-primary_link a, .st-key-primary_link a * { color: #fff !important; font-weight: 600; }
.st-key-primary_link a { padding: 0.35rem 0.9rem; }
.st-key-primary_link a:hover { filter: brightness(1.1); }
</style>
"""


def primary_link(name: PageName, label: str, *, icon: str | None = None, **query: str) -> None:
    """Draw the link; a page draws it once."""
    with st.container(key="primary_link", width="content"):
        st.html(_STYLE)
        page_link(name, label, icon=icon, **query)

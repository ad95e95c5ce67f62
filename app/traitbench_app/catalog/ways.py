"""The three ways to a model of one's own: a file, a few texts for each side, or texts that are labelled one by one."""

from collections.abc import Callable

import streamlit as st

from traitbench_app.parts.new_model import TO_LABEL, start
from traitbench_app.shell.navigation import page_link

_STYLE = """
<style>
[class*="st-key-card-way"] { padding: 0.6rem 1rem; }
:is(.st-key-card-drop, .st-key-card-way-first_file) {
    background: transparent !important; border: 1px dashed var(--tb-line-strong);
}
.st-key-home-idea a { padding: 0; }
.st-key-home-idea a * { font-size: 0.8125rem; color: var(--tb-ink-2); }
.st-key-home-idea [data-testid="stIconMaterial"] { display: none; }
</style>
"""


def draw_ways(nowhere: str | None, *, draw_drop: Callable[[], None]) -> None:
    """Draw the ways; `nowhere` says why the person cannot create a model, `draw_drop` draws the field for a file."""
    st.html(_STYLE)
    drop, paste, label = st.columns([1.3, 1, 1], gap="small")
    with drop:
        if nowhere is None:
            draw_drop()
        else:
            words = "Labelled or not: both lead to a model."
            _way("first_file", ":material/upload:", "Drop a file", words, "Choose a file", nowhere)
    with paste:
        _way("new_button", ":material/playlist_add:", "Paste texts", "About ten for each side.", "Paste", nowhere)
    with label:
        _way("first_label", ":material/label:", "Label texts", "One key for each text.", "Label", nowhere, TO_LABEL)
    if not nowhere:
        with st.container(key="home.idea"):
            page_link("idea", "No texts yet? Name two opposites and score a text.")


def _way(name: str, icon: str, title: str, words: str, button: str, nowhere: str | None, *purpose: str) -> None:
    """Draw a card whose button opens the dialog of a new model."""
    with st.container(
        border=True, horizontal=True, vertical_alignment="center", height="stretch", key=f"card.way.{name}"
    ):
        with st.container(gap=None, width="stretch"):
            st.markdown(f"{icon} **{title}**")
            st.caption(words)
        st.button(
            button, key=f"catalog.{name}", on_click=start, args=purpose, disabled=nowhere is not None, help=nowhere
        )

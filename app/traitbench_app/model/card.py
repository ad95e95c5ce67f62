"""The model card as the API returns it: what to know before you use the model."""

import streamlit as st

from traitbench.contract.models import Model
from traitbench_app.model.foreign_markdown import shown
from traitbench_app.shell.service import client

_WIDE_TABLES = (
    ".st-key-model-card table { display: block; overflow-x: auto; border: none; }"
    ".st-key-model-card td:last-child { min-width: 14rem; }"
)
"""On a narrow screen, a wide table scrolls inside the page instead of widening it."""


def model_card(model: Model) -> None:
    """Draw the card and its download."""
    card = client().models.card(model.handle)
    with st.container(border=True, key="model.card"):
        st.markdown(shown(card))
        st.html(f"<style>{_WIDE_TABLES}</style>")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Download card (Markdown)",
            card,
            file_name=f"{model.handle}-card.md",
            mime="text/markdown",
            icon=":material/download:",
            key="model.card_file",
            on_click="ignore",
        )
        if "![" in card:
            st.caption("Images in the readme are shown as links, so that no external content is loaded.")

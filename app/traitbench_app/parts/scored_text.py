"""A field for a text that is scored by the active version while someone types."""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.traits import Trait
from traitbench_app.parts.card import draw_card
from traitbench_app.parts.live import read_while_typing
from traitbench_app.parts.scorecard import poles_of
from traitbench_app.parts.version_figures import names_of
from traitbench_app.shell.service import attempt, client


def draw_scored_text(handle: str, traits: Sequence[Trait], *, key: str) -> None:
    """Draw the field, whose text is at `key` of the session, and a bar for each trait."""
    text = st.text_area(
        "Text",
        key=key,
        placeholder="Type a text.",
        height=96,
        persist_state="session",
        label_visibility="collapsed",
    )
    read_while_typing(key)
    if text.strip():
        with attempt() as scoring:
            card = client().scores.score(handle, text)
        if scoring.done:
            draw_card(card, names_of(traits), poles_of(traits), main=None, key=f"{key}.card")

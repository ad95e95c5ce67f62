"""Which scores of several texts are uncertain, and why."""

from collections.abc import Mapping, Sequence

import streamlit as st

from traitbench.app.shell.text import plain
from traitbench.contract.confidence import why_not_high
from traitbench.contract.scores import Card


def draw_unsure(cards: Sequence[tuple[str, Card]], names: Mapping[str, str]) -> None:
    """Draw one line for each labelled card and reason; nothing if no score has low confidence."""
    lines = []
    for label, card in cards:
        for (level, reason), keys in why_not_high(card).items():
            if level == "low":
                traits = ", ".join(plain(names.get(key, key)) for key in keys)
                lines.append(f"- **{label}**, {traits}: uncertain. {reason}")
    if lines:
        st.markdown("\n".join(lines))

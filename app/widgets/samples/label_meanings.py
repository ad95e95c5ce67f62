"""What the labels in a column mean: guessed where possible, and confirmed by a person."""

from collections.abc import Mapping

import streamlit as st

from traitbench.app.shell.text import count, plain
from traitbench.app.shell.theme import NEGATIVE_SIGN, NEUTRAL_SIGN, POSITIVE_SIGN

MEANINGS = {
    1.0: f"{POSITIVE_SIGN} positive pole",
    0.5: f"{NEUTRAL_SIGN} in between",
    0.0: f"{NEGATIVE_SIGN} negative pole",
}
"""Each quality that a label can mean, in words."""


def pick_meanings(labels: Mapping[str, int], guesses: Mapping[str, float | None], *, key: str) -> dict[str, float]:
    """Draw a choice for each label with its number of rows; return the qualities that are chosen, by label."""
    order = list(MEANINGS)
    meanings: dict[str, float] = {}
    with st.grid(4, min_column_width=200):
        for word, times in labels.items():
            meaning = st.selectbox(
                f"{plain(word)} ({count(times, 'row')})",
                order,
                index=next((order.index(each) for each in order if each == guesses[word]), None),
                format_func=lambda each: MEANINGS[each],
                placeholder="Choose",
                key=f"{key}.{word}",
            )
            if meaning is not None:
                meanings[word] = float(meaning)
    return meanings

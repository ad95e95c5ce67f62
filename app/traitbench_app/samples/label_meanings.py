"""What the labels in a column mean: guessed where possible, and confirmed by a person."""

from collections.abc import Mapping

import streamlit as st

from traitbench.display.colours import NEGATIVE_SIGN, NEUTRAL_SIGN, POSITIVE_SIGN
from traitbench.display.text import count, plain

MEANINGS = {
    1.0: f"{POSITIVE_SIGN} positive pole",
    0.5: f"{NEUTRAL_SIGN} in between",
    0.0: f"{NEGATIVE_SIGN} negative pole",
}
"""Each quality that a label can mean, in words."""

LEAVE_OUT = -1.0
"""The choice of a label whose rows are left out."""


def meaning_name(meaning: float) -> str:
    """Return a quality that a label can mean, or that its rows are left out, in words."""
    return "Leave out" if meaning == LEAVE_OUT else MEANINGS[meaning]


def pick_meanings(
    labels: Mapping[str, int], guesses: Mapping[str, float | None], *, key: str, can_leave_out: bool = False
) -> dict[str, float]:
    """Draw a choice for each label with its number of rows; return the qualities that are chosen, by label.

    With `can_leave_out`, `LEAVE_OUT` can be chosen too.
    """
    order = [*MEANINGS, *([LEAVE_OUT] if can_leave_out else [])]
    meanings: dict[str, float] = {}
    with st.grid(4, min_column_width=200):
        for word, times in labels.items():
            meaning = st.selectbox(
                f"{plain(word)} ({count(times, 'row')})",
                order,
                index=next((order.index(each) for each in order if each == guesses[word]), None),
                format_func=meaning_name,
                placeholder="Choose",
                key=f"{key}.{word}",
            )
            if meaning is not None:
                meanings[word] = float(meaning)
    return meanings

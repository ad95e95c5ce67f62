"""What the labels in a column mean: guessed where possible, and confirmed by a person."""

from collections.abc import Mapping, Sequence

import streamlit as st

from traitbench.contract.samples import Pole
from traitbench.contract.traits import Trait
from traitbench.display.colours import NEGATIVE_SIGN, NEUTRAL_SIGN, POSITIVE_SIGN
from traitbench.display.text import count, plain, shortened

LEAVE_OUT = -1.0
"""The choice of a label whose rows are left out."""

_MOST, _LONGEST = 3, 24


def pole_words(traits: Sequence[Trait]) -> dict[Pole, str]:
    """What samples of these traits are called by pole, such as `happy`; of several traits, `happy / clear`."""
    return {
        "negative": _joined([each.negative_label for each in traits]),
        "between": "in between",
        "positive": _joined([each.positive_label for each in traits]),
    }


def meanings(traits: Sequence[Trait], *, can_leave_out: bool = False) -> dict[float, str]:
    """Each quality that a label can mean, in the words of the traits; with `can_leave_out`, `LEAVE_OUT` too."""
    words = pole_words(traits)
    said = {
        1.0: f"{POSITIVE_SIGN} {words['positive']}",
        0.5: f"{NEUTRAL_SIGN} {words['between']}",
        0.0: f"{NEGATIVE_SIGN} {words['negative']}",
    }
    return said | ({LEAVE_OUT: "Leave out"} if can_leave_out else {})


def pick_meanings(
    labels: Mapping[str, int], guesses: Mapping[str, float | None], words: Mapping[float, str], *, key: str
) -> dict[str, float]:
    """Draw a choice among `words` for each label with its number of rows; return those that are made, by label."""
    order = list(words)
    chosen: dict[str, float] = {}
    with st.grid(4, min_column_width=200):
        for label, times in labels.items():
            meaning = st.selectbox(
                f"{plain(label)} ({count(times, 'row')})",
                order,
                index=next((order.index(each) for each in order if each == guesses[label]), None),
                format_func=words.__getitem__,
                placeholder="Choose",
                key=f"{key}.{label}",
            )
            if meaning is not None:
                chosen[label] = float(meaning)
    return chosen


def _joined(labels: Sequence[str]) -> str:
    distinct = [shortened(each, _LONGEST) for each in dict.fromkeys(labels)]
    return " / ".join([*distinct[:_MOST], *(["…"] if len(distinct) > _MOST else [])])

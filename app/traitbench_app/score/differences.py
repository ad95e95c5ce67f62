"""The differences of two texts in words: which text is higher, and which of the differences are sure."""

from collections.abc import Mapping

import streamlit as st

from traitbench.contract.scores import Comparison
from traitbench.display.differences import sentences
from traitbench.display.text import plain

_SURE = (
    "Sure: larger than the noise in the scores. For two texts at opposite poles, the order is right at least 9 times "
    "in 10."
)


def draw_differences(comparison: Comparison, names: Mapping[str, str]) -> None:
    """Draw in words which text is higher on which trait, and what that promises."""
    escaped = {key: f"**{plain(name)}**" for key, name in names.items()}
    st.markdown("\n".join(f"- {each}" for each in sentences(comparison, escaped, second="the second text")))
    st.caption(_SURE)

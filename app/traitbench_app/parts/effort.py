"""The choice of effort in words. The efforts `xhigh` and `max` are for programs only."""

from collections.abc import Callable, Mapping

import streamlit as st

from traitbench.contract.models import DEFAULT_EFFORT, TrainEffort

EFFORTS: Mapping[TrainEffort, str] = {"low": "Quick", "medium": "Normal", "high": "Thorough"}
"""The efforts that people choose among, each with its word."""


def pick_effort(caption: Callable[[TrainEffort], str], *, key: str) -> TrainEffort:
    """Draw the choice of effort with a caption for each, and return the chosen one."""
    return st.radio(
        "Effort",
        list(EFFORTS),
        index=list(EFFORTS).index(DEFAULT_EFFORT),
        format_func=EFFORTS.__getitem__,
        captions=[caption(effort) for effort in EFFORTS],
        horizontal=True,
        key=key,
        persist_state="session",
    )

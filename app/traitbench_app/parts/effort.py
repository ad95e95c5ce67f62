"""The choice of effort in words. The efforts `xhigh` and `max` are for programs only."""

from collections.abc import Mapping

import streamlit as st

from traitbench.contract.models import DEFAULT_EFFORT, TrainEffort

EFFORTS: Mapping[TrainEffort, str] = {"low": "Quick", "medium": "Normal", "high": "Thorough"}
"""The efforts that people choose among, each with its word."""


def pick_effort(captions: Mapping[TrainEffort, str] | None = None, *, key: str, in_link: bool = False) -> TrainEffort:
    """Draw the choice of effort with a caption for each, and return the chosen one, which may be part of the link."""
    return st.radio(
        "Effort",
        list(EFFORTS),
        index=list(EFFORTS).index(DEFAULT_EFFORT),
        format_func=EFFORTS.__getitem__,
        captions=[captions[effort] for effort in EFFORTS] if captions else None,
        horizontal=True,
        key=key,
        persist_state=None if in_link else "session",
        bind="query-params" if in_link else None,
    )

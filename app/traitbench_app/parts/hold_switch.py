"""The switch for what happens to a retrained version that is worse: it serves all the same, or waits for a decision."""

import streamlit as st

from traitbench.contract.models import Model
from traitbench_app.shell.service import attempt, client


def hold_switch(model: Model, *, key: str) -> None:
    """Draw the switch; a change is saved at once."""
    st.toggle(
        "Hold worse versions",
        value=model.hold_if_worse,
        key=f"{key}:{model.handle}:{model.hold_if_worse}",
        on_change=_switch,
        args=(model.handle, not model.hold_if_worse),
        help="A version that has learned corrections and is worse waits for your decision instead of scoring. It is "
        "measured on the test samples; if they are too few, on samples that each fit has not seen.",
    )


def _switch(handle: str, hold: bool) -> None:
    with attempt():
        client().models.update(handle, hold_if_worse=hold)

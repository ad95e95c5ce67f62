"""The progress of the run that keeps a model busy, polled once a second."""

import streamlit as st

from traitbench.app.shell.service import client, guarded
from traitbench.app.widgets.train.training import draw_progress
from traitbench.contract.models import Model


def watch(model: Model) -> None:
    """Draw the progress; rerun the whole page when the model is no longer busy."""

    @st.fragment(run_every=1.0)
    def look() -> None:
        with guarded():
            now = client().models.get(model.handle)
        if now.state != "busy":
            st.rerun()
        draw_progress(now)

    look()

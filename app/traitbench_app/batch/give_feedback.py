"""Send labels of a batch to the model as feedback: only when a person asks for it."""

from collections.abc import Mapping

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.samples import LONGEST_TEXT
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain
from traitbench_app.parts.feedback import why_none
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import attempt, client

_SENT = "batch.feedback.sent"


def offer_feedback(model: Model, trait: Trait, labels: Mapping[str, float], *, run: str) -> None:
    """Draw the button that sends the labels of an audit; after that, what was sent."""
    sent: Mapping[str, int] = session.get(_SENT, {})
    if run in sent:
        st.success(f"{count(sent[run], 'label')} sent. The model learns them by itself.")
        page_link("samples", "View the feedback")
        return
    if reason := why_none(model, ""):
        st.caption(f":material/lock: The labels cannot be added to the model. {reason}")
        return
    usable = {text: label for text, label in labels.items() if text.strip() and len(text) <= LONGEST_TEXT}
    with st.popover("Teach the model these labels", icon=":material/school:", type="tertiary", key="batch.feedback"):
        st.markdown(
            f"Send {count(len(usable), 'label')} of {plain(trait.name)} to the model, which learns them by itself. "
            "A later version cannot be audited with these texts any more."
        )
        # Never by itself: a version that has learned these labels cannot be audited with them any more.
        if st.button("Send as feedback", type="primary", key="batch.feedback.send"):
            done = 0
            with attempt() as sending, st.spinner("Sending"):
                for text, label in usable.items():
                    client().scores.score(model.handle, text, traits=[trait.key], feedback={trait.key: label})
                    done += 1
            if done:
                session.store(_SENT, {**sent, run: done})
            if sending.done:
                st.rerun()

"""A confirmation before an action that cannot be undone.

`ask` is a button callback. While the question is open, `confirm` draws it in a dialog and acts only on yes. If the
service refuses, the dialog stays open and shows the reason.
"""

from collections.abc import Callable

import streamlit as st

from traitbench_app.shell import session
from traitbench_app.shell.service import attempt


def ask(question: str, subject: str) -> None:
    """Open a question about a subject. The key of a question starts with the name of its page."""
    session.store(question, subject)


def asked(question: str) -> str | None:
    """The subject of the question while it is open, else None."""
    subject = session.get(question)
    return subject if isinstance(subject, str) else None


def confirm(
    question: str, *, title: str, body: str, yes: str, icon: str, act: Callable[[], None], no: str = "Keep it"
) -> None:
    """Draw the open question; on yes, call `act` and rerun the page."""

    def dismiss() -> None:
        session.store(question, None)

    def ask_it() -> None:
        st.markdown(body)
        refusal = st.container()
        with st.container(horizontal=True, horizontal_alignment="right"):
            if st.button(no, key=f"{question}.no"):
                dismiss()
                st.rerun()
            agreed = st.button(yes, icon=icon, type="primary", key=f"{question}.yes")
        if agreed:
            with refusal, attempt() as acting:
                act()
            if acting.done:
                dismiss()
                st.rerun()

    st.dialog(title, on_dismiss=dismiss)(ask_it)()

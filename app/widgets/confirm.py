"""A question before something that cannot be taken back.

`ask` is a button's callback; while the question stands, `confirm` draws it in a dialog, and the page acts only on yes.
A refusal by the service is written into the dialog, which stays open.
"""

from collections.abc import Callable

import streamlit as st

from traitbench.app import session
from traitbench.app.service import attempt


def ask(question: str, subject: str) -> None:
    """Put the question about a subject; keys of questions begin with their page's name."""
    session.keep(question, subject)


def asked(question: str) -> str | None:
    """What the open question is about."""
    subject = session.kept(question)
    return subject if isinstance(subject, str) else None


def confirm(
    question: str, *, title: str, body: str, yes: str, icon: str, act: Callable[[], None], no: str = "Keep it"
) -> None:
    """Draw the open question; `act` runs on yes, and then the page runs again."""

    def dismiss() -> None:
        session.keep(question, None)

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

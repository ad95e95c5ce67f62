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
    forget(question)
    session.store(question, subject)


def asked(question: str) -> str | None:
    """The subject of the question while it is open, else None."""
    subject = session.get(question)
    return subject if isinstance(subject, str) else None


def forget(question: str) -> None:
    """Close the question."""
    for each in (question, f"{question}.pressed", f"{question}.shown"):
        session.store(each, None)


def confirm(
    question: str, *, title: str, body: str, yes: str, icon: str, act: Callable[[], None], no: str = "Keep it"
) -> None:
    """Draw the open question; on yes, call `act` and rerun the page. If the body has changed meanwhile, ask again."""

    def ask_it() -> None:
        st.markdown(body)
        refusal = st.container()
        with st.container(horizontal=True, horizontal_alignment="right"):
            if st.button(no, key=f"{question}.no"):
                forget(question)
                st.rerun()
            pressed = st.button(yes, icon=icon, type="primary", key=f"{question}.yes")
        with refusal:
            agreed = agreed_to(question, body, pressed)
            if not agreed:
                return
            with attempt() as acting:
                act()
        if acting.done:
            forget(question)
            st.rerun()

    st.dialog(title, on_dismiss=lambda: forget(question))(ask_it)()


def agreed_to(question: str, what: str, pressed: bool) -> bool:
    """Whether a button of a dialog was pressed for `what`.

    A press in a dialog does not run the page, which may know more now; so run it, then compare.
    """
    if pressed:
        session.store(f"{question}.pressed", True)
        st.rerun()
    waiting = bool(session.get(f"{question}.pressed"))
    session.store(f"{question}.pressed", None)
    return as_shown(question, what, waiting)


def as_shown(key: str, what: str, pressed: bool) -> bool:
    """Whether a button was pressed for `what`; call it at every run, with what the page says that the button will do.

    What the page says may have changed, in another tab or by another person. Then a press is not meant for what it
    says now, so it draws a warning instead.
    """
    shown = session.get(f"{key}.shown", what)
    session.store(f"{key}.shown", what)
    if pressed and shown != what:
        st.warning("This has changed meanwhile. Read it again, then decide.", icon=":material/sync_problem:")
    return pressed and shown == what

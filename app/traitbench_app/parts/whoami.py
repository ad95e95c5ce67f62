"""The signed-in person, with role and sign-out button, at the foot of the sidebar; only if sign-in is configured."""

import streamlit as st

from traitbench.display.text import plain, unlinked
from traitbench.settings import read_settings
from traitbench_app.shell import people, session
from traitbench_app.shell.people import Person

_WHO = "shell.person"
_MAY = {
    "operator": "Manages API keys and runs",
    "authoring": "Authoring: can change models",
    "scoring": "Scoring: reads models and scores texts",
}


def signed_in(person: Person) -> None:
    """Clear the session if another person used this tab, because a tab that reconnects keeps its state."""
    if session.get(_WHO, person.id) != person.id:
        st.session_state.clear()
    session.store(_WHO, person.id)


def whoami() -> None:
    """Draw the name, role, namespaces and sign-out button."""
    if read_settings().sign_in == "none":
        return
    person = people.current()
    with st.container(border=True, gap="small", key="shell.whoami"):
        owned = f"  \n:small[:gray[{plain(', '.join(person.namespaces))}]]" if person.namespaces else ""
        st.markdown(f":material/person: **{unlinked(person.name)}**  \n:small[{_MAY[person.role]}]{owned}")
        st.button("Sign out", icon=":material/logout:", key="shell.sign_out", on_click=people.sign_out, width="stretch")

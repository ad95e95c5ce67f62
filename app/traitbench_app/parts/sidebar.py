"""The sidebar: Home and Find, the pages of the chosen model under its name, the service, and the person."""

import streamlit as st

from traitbench.contract.models import Model
from traitbench.display.text import plain, unlinked
from traitbench.settings import read_settings
from traitbench_app.parts.finder import finder
from traitbench_app.shell import people, session
from traitbench_app.shell.navigation import Entry, page_links
from traitbench_app.shell.people import Person

_WHO = "shell.person"
_MAY = {
    "operator": "Manages API keys and runs",
    "authoring": "Authoring: can change models",
    "scoring": "Scoring: reads models and scores texts",
}


def draw_sidebar(model: Model | None, here: Entry) -> None:
    """Draw it on the page `here`; `model` is the one that this page or an earlier one is about."""
    with st.sidebar:
        with st.container(gap=None, key="shell.menu"):
            page_links("", here=here)
            finder(about_a_model=here.about_a_model)
            if model is not None:
                st.caption(plain(model.handle))
                page_links("Use", "Teach", here=here, model=model.handle)
            if people.current().operator:
                st.caption("Service")
                page_links("Service", here=here)
        whoami()


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
        if read_settings().sign_in != "proxy":  # the next request would sign the person in again
            st.button(
                "Sign out", icon=":material/logout:", key="shell.sign_out", on_click=people.sign_out, width="stretch"
            )

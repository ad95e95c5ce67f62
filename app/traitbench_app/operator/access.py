"""A page for the operator, on the machine of the service: others see why, and what to do instead."""

import streamlit as st

from traitbench.operations import console
from traitbench.settings import read_settings
from traitbench_app.parts.heading import heading
from traitbench_app.shell import people
from traitbench_app.shell.navigation import PageName


def operators_only(page: PageName, title: str, way_out: str, *, elsewhere: tuple[str, str, str]) -> None:
    """Draw the heading and end the page here unless the user is the operator and the service is on this machine.

    `title` says what only the operator can do, and `elsewhere` is for a service on another machine: a title, what to
    do there, and the command for it.
    """
    operator = people.current().operator
    if operator and console.available():
        return
    heading(page)
    with st.container(border=True, key=f"{page}.closed"):
        if operator:
            title, way_out, command = elsewhere
            st.header(title, icon=":material/cloud:", anchor=False)
            st.markdown(f"This workbench uses the service at `{read_settings().base_url}`. {way_out}")
            st.code(command, language="bash", wrap_lines=True)
        else:
            st.header(title, icon=":material/lock:", anchor=False)
            st.markdown(f"The operator signs in with the link that the terminal shows at startup. {way_out}")
    st.stop()

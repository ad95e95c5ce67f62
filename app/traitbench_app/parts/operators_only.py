"""A page for the operator only: others see why, and what to do instead."""

import streamlit as st

from traitbench_app.shell import people


def operators_only(title: str, way_out: str, *, key: str) -> None:
    """End the page here unless the user is the operator. `title` says what only the operator can do."""
    if people.current().operator:
        return
    with st.container(border=True, key=key):
        st.subheader(title, icon=":material/lock:", anchor=False)
        st.markdown(f"The operator signs in with the link that the terminal shows at startup. {way_out}")
    st.stop()

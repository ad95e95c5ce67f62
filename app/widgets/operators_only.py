"""A page that is for the operator alone: the others read why, and what to do instead."""

import streamlit as st

from traitbench.app import people


def operators_only(title: str, way_out: str, *, key: str) -> None:
    """End the page here, unless the person is the operator. `title` says what only she may do."""
    if people.current().operator:
        return
    with st.container(border=True, key=key):
        st.subheader(title, icon=":material/lock:", anchor=False)
        st.markdown(f"The operator signs in with the link that the terminal shows at the start. {way_out}")
    st.stop()

"""The top of every page: title, what the page is for, the model it is about, the link of the view."""

import streamlit as st

from traitbench.app.navigation import PageName, entry
from traitbench.app.text import plain
from traitbench.app.theme import STATES
from traitbench.app.widgets.copying import copy_link
from traitbench.contract.models import Model, State


def heading(name: PageName, model: Model | None = None, **query: str | int | None) -> None:
    """Draw it; `query` is what the page keeps in its address besides the model."""
    row = entry(name)
    with st.container(gap=None, key="heading"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.title(row.title, anchor=False, width="content")
            copy_link(name, model=model.handle if model else None, **query)
        st.caption(row.help)
    if model:
        model_line(model)


def model_line(model: Model) -> None:
    """Handle, state and version of a model, on one line where there is room."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="model_line"):
        st.markdown(f"**{plain(model.handle)}**", width="content")
        state_badge(model.state)
        retention_badge(model)
        if model.version_no is not None:
            st.badge(f"v{model.version_no}", icon=":material/commit:", color="gray", help="The version that scores.")
        for tag in model.version_tags:
            st.badge(plain(tag), icon=":material/sell:", color="gray", help="A tag on the version that scores.")


def state_badge(state: State) -> None:
    """The state of a model as a badge that explains itself."""
    sign = STATES[state]
    st.badge(sign.label, icon=sign.icon, color=sign.colour, help=sign.hint)


def retention_badge(model: Model) -> None:
    """A sign on models under zero data retention."""
    if model.zero_data_retention:
        hint = "Zero data retention: no text is kept, neither of samples that were learnt from nor of calls."
        st.badge("Zero retention", icon=":material/shield:", color="violet", help=hint)

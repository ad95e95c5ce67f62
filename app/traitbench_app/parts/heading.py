"""The top of every page: title, purpose, model, and the link of the view."""

import streamlit as st

from traitbench.contract.models import Model, State
from traitbench.display.colours import STATES
from traitbench.display.text import plain
from traitbench_app.parts.copying import copy_link
from traitbench_app.parts.improve import improve, improve_button
from traitbench_app.parts.model_actions import restore_button
from traitbench_app.shell.navigation import PageName, entry


def heading(name: PageName, model: Model | None = None, **query: str | int | None) -> None:
    """Draw the heading; `query` holds the query parameters of the page besides the model."""
    row = entry(name)
    with st.container(gap=None, key="heading"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.title(row.title, anchor=False, width="content")
            copy_link(name, model=model.handle if model else None, **query)
        st.caption(row.help)
    if model:
        model_line(model)


def model_line(model: Model) -> None:
    """Draw handle, state, version and tags of a model, on one line if there is room."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="model_line"):
        st.markdown(f"**{plain(model.handle)}**", width="content")
        state_badge(model.state)
        retention_badge(model)
        if model.version_no is not None:
            st.badge(f"v{model.version_no}", icon=":material/commit:", color="gray", help="The active version.")
        if model.held_version_no is not None:
            hint = "A retrained version is worse than the active one. Decide on Samples whether it scores."
            st.badge(f"v{model.held_version_no} on hold", icon=":material/pause:", color="orange", help=hint)
        for tag in model.version_tags:
            st.badge(plain(tag), icon=":material/sell:", color="gray", help="A tag of the active version.")
        descent_badge(model)
        improve_button(model)
        restore_button(model, key="shell.restore", primary=True)
    improve(model)


def state_badge(state: State) -> None:
    """The state of a model as a badge that explains itself."""
    sign = STATES[state]
    st.badge(sign.label, icon=sign.icon, color=sign.colour, help=sign.hint)


def descent_badge(model: Model) -> None:
    """A badge for models that were made to improve another one."""
    if model.forked_from is not None:
        handle, version_no = plain(model.forked_from.handle), model.forked_from.version_no
        of = handle if version_no is None else f"{handle} v{version_no}"
        hint = "Made to improve that model. The Train page compares the two and makes this one its next version."
        st.badge(f"Improves {of}", icon=":material/upgrade:", color="blue", help=hint)


def retention_badge(model: Model) -> None:
    """A badge for models under zero data retention."""
    if model.zero_data_retention:
        hint = "Zero data retention: samples are removed after training, and scored texts are not stored."
        st.badge("Zero retention", icon=":material/shield:", color="violet", help=hint)

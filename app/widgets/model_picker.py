"""The shell's model picker: the one place where a model is chosen, in the address as `?model=<handle>`.

`pick` draws it, once a run, before the page; a page asks `chosen_model` and may rely on a model that exists.
"""

from collections.abc import Sequence

import streamlit as st

from traitbench.app import session
from traitbench.app.navigation import PageName, page_link
from traitbench.app.service import client, models
from traitbench.app.text import plain
from traitbench.app.theme import STATES
from traitbench.app.widgets.heading import heading, state_badge
from traitbench.contract.models import Model
from traitbench.errors import ModelNotFound, NamespaceForbidden

_THIS_RUN, _KNOWN, _PAGE = "shell.model", "shell.models", "shell.page"
_OFFERED = 8


def pick(page: PageName) -> None:
    """Draw the picker and the state of what is chosen, for a page that is about a model."""
    session.take_next_model()
    session.keep(_PAGE, page)
    known = {model.handle: model for model in models()}
    wanted = session.chosen_handle() or st.query_params.get(session.MODEL)
    if wanted and wanted not in known:
        known |= _found(wanted)
    if session.chosen_handle() not in known:
        st.session_state.pop(session.MODEL, None)
    handle = st.selectbox(
        "Model",
        list(known),
        index=None,
        key=session.MODEL,
        bind="query-params",
        placeholder="Choose a model" if known else "No models yet",
        help="What this page is about. The choice stays when you go to another page, and is part of the link.",
        disabled=not known,
    )
    model = known.get(handle) if handle else None
    session.keep(_THIS_RUN, model)
    session.keep(_KNOWN, tuple(known.values()))
    if model:
        _state(model)


def chosen_model() -> Model:
    """The model that the page is about; without one, the page ends with the way to choose it."""
    model = session.kept(_THIS_RUN)
    if isinstance(model, Model):
        return model
    heading(session.kept(_PAGE))
    with st.container(border=True, key="no_model"):
        st.subheader("Choose a model first", icon=":material/arrow_selector_tool:", anchor=False)
        _offer(session.kept(_KNOWN, ()))
        page_link("catalog", "All models, and a new one")
    st.stop()


def _offer(known: Sequence[Model]) -> None:
    """The models one is most likely to mean, a click each."""
    if not known:
        st.markdown("This page is about one model, and there is none yet. Create one in the catalog.")
        return
    st.markdown("This page is about one model.")
    with st.container(horizontal=True):
        for model in known[:_OFFERED]:
            sign = STATES[model.state]
            st.button(
                plain(model.handle),
                icon=sign.icon,
                help=f"{sign.label}. {plain(model.description)}",
                key=f"shell.choose.{model.handle}",
                on_click=session.next_model,
                args=(model.handle,),
            )


def _found(handle: str) -> dict[str, Model]:
    """A model that is in no listing, an archived one perhaps."""
    try:
        return {handle: client().models.get(handle)}
    except (ModelNotFound, NamespaceForbidden):
        session.flash(f"There is no model {plain(handle)} that this workbench can read.", "problem")
        return {}


def _state(model: Model) -> None:
    with st.container(horizontal=True, gap="small"):
        state_badge(model.state)
        if model.version_no is not None:
            st.badge(f"v{model.version_no}", icon=":material/commit:", color="gray", help="The version that scores.")

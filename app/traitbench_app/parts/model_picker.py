"""The model picker of the shell: the one place where a model is chosen, in the URL as `?model=<handle>`.

`pick` draws it once per run, before the page. A page calls `chosen_model`, which always returns an existing model.
"""

from collections.abc import Mapping, Sequence

import streamlit as st

from traitbench.contract.models import Model
from traitbench.display.colours import STATES
from traitbench.display.text import plain
from traitbench.errors import ModelNotFound, NamespaceForbidden
from traitbench_app.parts.heading import heading
from traitbench_app.parts.primary_link import primary_link
from traitbench_app.shell import session
from traitbench_app.shell.navigation import PageName, page_link
from traitbench_app.shell.service import client, offered_models

_THIS_RUN, _PAGE = "shell.model", "shell.page"
_OFFERED = 8


def pick(page: PageName) -> None:
    """Draw the picker, for a page that is about a model."""
    session.take_next_model()
    session.store(_PAGE, page)
    known = {model.handle: model for model in offered_models()}
    wanted = session.chosen_handle() or st.query_params.get(session.MODEL)
    if wanted:
        known = _with_current(known, wanted)
    if session.chosen_handle() not in known:
        st.session_state.pop(session.MODEL, None)
    # Without a tooltip: under keyboard focus it would cover the last links of the menu on a narrow screen.
    handle = st.selectbox(
        "Model",
        list(known),
        index=None,
        key=session.MODEL,
        bind="query-params",
        placeholder="Choose a model" if known else "No models yet",
        disabled=not known,
    )
    model = known.get(handle) if handle else None
    session.store(_THIS_RUN, model)
    session.store(session.KNOWN_MODELS, tuple(known.values()))


def chosen_model() -> Model:
    """The chosen model. Without one, offer models to choose from and end the page."""
    model = session.get(_THIS_RUN)
    if isinstance(model, Model):
        return model
    heading(session.get(_PAGE))
    with st.container(border=True, key="no_model"):
        known = session.get(session.KNOWN_MODELS, ())
        title = "Choose a model first" if known else "No models yet"
        st.subheader(title, icon=":material/arrow_selector_tool:", anchor=False)
        if known:
            _offer(known)
            page_link("catalog", "See all models")
        else:
            st.markdown("Create your first model on Home.")
            primary_link("catalog", "Open Home")
    st.stop()


def _offer(known: Sequence[Model]) -> None:
    """Draw a button for each of the first models."""
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


def _with_current(known: Mapping[str, Model], handle: str) -> dict[str, Model]:
    """The models with one of them as it is now; it may be new, or archived and therefore not in the listing."""
    try:
        return {**known, handle: client().models.get(handle)}
    except (ModelNotFound, NamespaceForbidden):
        session.flash(f"Model {plain(handle)} does not exist, or this workbench cannot read it.", "problem")
        return {each: model for each, model in known.items() if each != handle}

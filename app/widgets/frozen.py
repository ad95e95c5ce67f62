"""Why a model's traits and samples cannot be edited now, and the way out."""

import streamlit as st

from traitbench.app.navigation import page_link
from traitbench.app.permission import why_read_only
from traitbench.app.widgets.new_model import new_model, start
from traitbench.app.widgets.watch import watch
from traitbench.contract.models import Model


def editable(model: Model, what: str) -> bool:
    """Whether `what` (traits, samples) of the model can be edited; if not, draw the reason and the way out."""
    forbidden = why_read_only(model)
    if not forbidden and model.state in ("draft", "failed"):
        return True
    new_model()
    if model.state == "busy":
        watch(model)
    with st.container(border=True, key=f"{what}.frozen"):
        st.markdown(f":material/lock: {f'**Read only.** {forbidden}' if forbidden else _reason(model, what)}")
        with st.container(horizontal=True, vertical_alignment="center"):
            if forbidden:
                page_link("catalog", "Create a model of your own")
            elif model.state in ("ready", "archived"):
                st.button(
                    "Copy to a new draft",
                    icon=":material/file_copy:",
                    key=f"{what}.copy",
                    on_click=start,
                    args=(model.handle,),
                    help="A new model with these traits and samples, to be edited and trained on its own.",
                )
    return False


def _reason(model: Model, what: str) -> str:
    if model.state == "busy":
        derived = model.last_operation is not None and model.last_operation.kind in ("discover", "synthesize")
        then = "can be edited again when this is done" if derived else "are frozen once there is a version"
        return f"**Read only for the moment.** The {what} {then}."
    if model.state == "archived":
        return "**Read only.** This model was archived."
    return (
        f"**Read only.** The model is trained: its {what} are frozen into v{model.version_no}, so that its scores can "
        "always be explained. To teach it something else, go on with a copy."
    )

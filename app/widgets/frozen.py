"""Why a model's traits and samples cannot be edited now, and the way out."""

import streamlit as st

from app.navigation import page_link
from app.service import namespaces
from app.text import plain
from app.widgets.new_model import new_model, start
from core.contract.models import Model


def editable(model: Model, what: str) -> bool:
    """Whether `what` (traits, samples) of the model can be edited; if not, draw the reason and the way out."""
    owned = model.handle.split(".")[0] in namespaces()
    if owned and model.state in ("draft", "failed"):
        return True
    new_model()
    with st.container(border=True, key=f"{what}.frozen"):
        st.markdown(_reason(model, what, owned=owned))
        with st.container(horizontal=True, vertical_alignment="center"):
            if owned and model.state in ("ready", "archived"):
                st.button(
                    "Copy to a new draft",
                    icon=":material/file_copy:",
                    key=f"{what}.copy",
                    on_click=start,
                    args=(model.handle,),
                    help="A new model with these traits and samples, to be edited and trained on its own.",
                )
            if model.state == "busy":
                page_link("train", "See how far it is")
            elif not owned:
                page_link("catalog", "Create a model of your own")
    return False


def _reason(model: Model, what: str, *, owned: bool) -> str:
    if not owned:
        namespace = plain(model.handle.split(".")[0])
        return f":material/lock: **Read only.** This workbench's API key does not own the namespace *{namespace}*."
    if model.state == "busy":
        return f":material/lock: **Read only for the moment.** An operation is running; {what} can be edited after it."
    if model.state == "archived":
        return ":material/lock: **Read only.** This model was archived."
    return (
        f":material/lock: **Read only.** The model is trained: its {what} are frozen into v{model.version_no}, so that "
        "its scores can always be explained. To teach it something else, go on with a copy."
    )

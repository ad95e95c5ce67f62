"""Why a model's traits and samples cannot be edited now, and what to do instead."""

import streamlit as st

from traitbench.contract.models import Model
from traitbench.display.text import plain
from traitbench_app.parts.improve import improve_button
from traitbench_app.parts.new_model import new_model, start
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.permission import why_nowhere, why_read_only
from traitbench_app.shell.service import namespaces


def editable(model: Model, what: str) -> bool:
    """Whether `what` ("traits" or "samples") can be edited; if not, draw the reason and what to do instead."""
    forbidden = why_read_only(model)
    if not forbidden and model.state in ("draft", "failed"):
        return True
    new_model()
    with st.container(border=True, key=f"{what}.frozen"):
        st.markdown(f":material/lock: {f'**Read only.** {forbidden}' if forbidden else _reason(model, what)}")
        with st.container(horizontal=True, vertical_alignment="center"):
            if forbidden and not why_nowhere(namespaces()):
                page_link("catalog", "Create your own model")
            elif not forbidden and model.state in ("ready", "archived"):
                improve_button(model, key=f"{what}.improve")
                st.button(
                    "Copy to a new draft",
                    icon=":material/file_copy:",
                    type="tertiary",
                    key=f"{what}.copy",
                    on_click=start,
                    args=(model.handle,),
                    help="Create another model with these traits and samples, which you can edit and train.",
                )
    return False


def _reason(model: Model, what: str) -> str:
    if model.state == "busy" and model.version_no is None:
        derived = model.last_operation is not None and model.last_operation.kind in ("discover", "synthesize")
        then = "can be edited again when the run is done" if derived else "are frozen once the model is trained"
        return f"**Read only for now.** The {what} {then}."
    if model.state == "archived":
        return "**Read only.** This model was archived."
    frozen = f"**Read only.** The {what} are frozen in v{model.version_no}."
    if model.state == "ready" and model.forked_from is not None:
        origin = plain(model.forked_from.handle)
        return f"{frozen} Put it in use in {origin} if it is better; for other {what}, improve this draft."
    return frozen if model.state == "busy" else f"{frozen} To change them, make a draft of this model."

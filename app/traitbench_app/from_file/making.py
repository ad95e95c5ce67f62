"""Create the model of a file and start its training, in steps that can be repeated after a failure.

The plan is kept in the session once the model exists, so a second click or *Go on* completes that model.
"""

import streamlit as st

from traitbench.contract.models import Model
from traitbench.display.text import count, plain
from traitbench.errors import ModelNotFound, NamespaceForbidden, TraitbenchError
from traitbench.tables.file_model import FileModel, create, fill
from traitbench_app.parts.controls import draw_title
from traitbench_app.shell import session
from traitbench_app.shell.navigation import model_link
from traitbench_app.shell.service import attempt, client, explain

_MADE = "made"
_PLAN, _FAILED = "from_file.plan", "from_file.failed"


def made() -> Model | None:
    """Return the model that was created; None if there is none, or it is gone."""
    handle = st.query_params.get(_MADE) or getattr(session.get(_PLAN), "handle", None)
    if not handle:
        return None
    try:
        return client().models.get(handle)
    except (ModelNotFound, NamespaceForbidden):
        st.warning(f"**{plain(handle)}** does not exist, or you cannot read it.", icon=":material/info:")
        return None


def plan_of(model: Model) -> FileModel | None:
    """Return the plan that the model was made from; None after a reload."""
    plan: FileModel | None = session.get(_PLAN)
    return plan if plan is not None and plan.handle == model.handle else None


def forget_plan() -> None:
    """Forget the model that was made; it stays in the catalog."""
    session.store(_PLAN, None)
    session.store(_FAILED, None)


def make(plan: FileModel) -> None:
    """Create the model, fill it and start its training; if the model cannot be created, say why."""
    with attempt() as creating:
        create(client(), plan)
        session.store(_PLAN, plan)  # at once: a click that interrupts the script from here on completes the model
    if creating.done:
        _complete(plan)


def go_on(draft: Model) -> None:
    """Complete a draft whose creation was interrupted; after a failure, show what is there and offer to go on."""
    plan, why = plan_of(draft), session.get(_FAILED)
    if plan is not None and why is None:
        _complete(plan)
    traits = client().traits.list(draft.handle)
    there = sum(each.sample_count + each.held_out_samples for each in traits)
    go = "Nothing is lost: *Go on* adds what is missing, and starts the training."
    if plan is None:
        go = "Its file is not in this session any more: open the draft to add samples, or use the file again."
    draw_title(
        f"{plain(draft.handle)} is not trained yet",
        f"It is a draft with {count(len(traits), 'trait')} and {count(there, 'sample')}. {go}",
    )
    if why:
        st.error(why, icon=":material/error:")
    if plan is not None:
        st.button(
            "Go on",
            type="primary",
            key="from_file.go_on",
            on_click=session.store,
            args=(_FAILED, None),
        )
    model_link("model", "Open the draft", model=draft.handle)


def _complete(plan: FileModel) -> None:
    """Bring the draft to what the plan says, and draw the page again. What is there already is not added again."""
    try:
        fill(client(), plan)
        client().models.train(plan.handle)
    except TraitbenchError as error:
        session.store(_FAILED, explain(error))
    st.query_params[_MADE] = plan.handle
    st.rerun()

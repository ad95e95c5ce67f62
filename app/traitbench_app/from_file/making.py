"""Create the model of a file and start its training, in steps that can be repeated after a failure."""

import streamlit as st

from traitbench.contract.models import Model
from traitbench.display.text import count, plain
from traitbench.errors import ModelNotFound, NamespaceForbidden, TraitbenchError
from traitbench_app.from_file.found import Plan
from traitbench_app.shell import session
from traitbench_app.shell.navigation import model_link
from traitbench_app.shell.service import attempt, client, explain

MADE = "made"
"""The query parameter with the model that was created."""

_FAILED, _TOLD = "from_file.failed", "from_file.told"


def made() -> Model | None:
    """Return the model that was created; None if there is none, or it is gone."""
    handle = st.query_params.get(MADE)
    if not handle:
        return None
    try:
        return client().models.get(handle)
    except (ModelNotFound, NamespaceForbidden):
        st.warning(f"**{plain(handle)}** does not exist, or you cannot read it.", icon=":material/info:")
        return None


def told(model: Model) -> tuple[str, str]:
    """Return a text to score first, and what became of the rows; both are empty after a reload."""
    held: tuple[str, str, str] | None = session.get(_TOLD)
    return (held[1], held[2]) if held and held[0] == model.handle else ("", "")


def make(plan: Plan, draft: Model | None) -> None:
    """Create the model unless it is there, add what it lacks, and start the training; a failure is kept and shown.

    Nothing is drawn between the creation and the note of it, so a second click finds the model.
    """
    session.store(_FAILED, None)
    if draft is None:
        with attempt() as creating:
            client().models.create(plan.handle, description="Made from a file.")
            st.query_params[MADE] = plan.handle
        if not creating.done:
            return
    session.store(_TOLD, (plan.handle, plan.example, plan.said))
    try:
        _complete(plan)
    except TraitbenchError as error:
        session.store(_FAILED, explain(error))
    st.rerun()


def draw_failure(draft: Model) -> None:
    """Draw what a creation that stopped has left, and why it stopped."""
    traits = client().traits.list(draft.handle)
    there = sum(each.sample_count + each.held_out_samples for each in traits)
    why = session.get(_FAILED) or "The creation of this model did not end."
    st.error(
        f"**Not trained yet.** {why}\n\n{plain(draft.handle)} is a draft with {count(len(traits), 'trait')} and "
        f"{count(there, 'sample')}. Nothing is lost: *Go on* adds what is missing and starts the training.",
        icon=":material/error:",
    )
    model_link("model", "Open the draft", model=draft.handle)


def _complete(plan: Plan) -> None:
    """Bring the draft to what the plan says. What is there already is not added again."""
    keys = [each.key for each in client().traits.add(plan.handle, plan.traits)]
    for stale in client().traits.list(plan.handle):
        if stale.key not in keys and not stale.sample_count + stale.held_out_samples:
            client().traits.delete(plan.handle, stale.key)  # renamed since the attempt that failed
    there = {(each.trait, each.text) for each in client().samples.list(plan.handle)}
    samples = [each.model_copy(update={"trait": keys[int(each.trait)]}) for each in plan.samples]
    if missing := [each for each in samples if (each.trait, each.text) not in there]:
        client().samples.add(plan.handle, missing)
    client().models.train(plan.handle)

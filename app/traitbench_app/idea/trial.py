"""A trial: from a name and two poles to a scored text, trained on made-up text only.

Each step is a run of the service, so a trial survives a reload: its model says where it stands.
"""

from collections.abc import Sequence
from itertools import count as numbers

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.contract.models import Model
from traitbench.contract.traits import TraitInput
from traitbench.display.text import plain
from traitbench.errors import HandleTaken
from traitbench.model_names import slug
from traitbench_app.parts.runs import watch
from traitbench_app.parts.scored_text import draw_scored_text
from traitbench_app.shell import session
from traitbench_app.shell.navigation import model_link, open_page
from traitbench_app.shell.service import active_version, attempt, client, field_error

TEXT = "idea.text"
"""The key of the text to score."""

_ADDRESS, _TRIED = "idea", 20


def handle() -> str | None:
    """The model of the trial in the link, if any."""
    return st.query_params.get(_ADDRESS)


def start_over() -> None:
    """Forget the trial; its model stays on Home. A button callback."""
    st.query_params.pop(_ADDRESS, None)
    session.put({TEXT: ""})


def draw_form(owned: Sequence[str]) -> None:
    """Draw the name and the poles; the button creates a model and starts the synthesis."""
    slots: dict[str, DeltaGenerator] = {}
    name = _field("What do you want to measure?", "name", "Politeness", slots)
    left, right = st.columns(2)
    with left:
        negative = _field("A text is either", "negative_label", "rude", slots)
    with right:
        positive = _field("or", "positive_label", "polite", slots)
    st.text_area("A text to score", key=TEXT, placeholder="Any text you like.", height=96, persist_state="session")
    slots["handle"] = st.empty()
    if not st.button("Try it", type="primary", icon=":material/bolt:", key="idea.try"):
        return
    if problem := _problem(name, positive, negative):
        field_error(slots[problem[0]], problem[1])
        return
    with attempt(slots) as trying:
        model = _created(owned[0], slug(name) or "idea")
        trait = TraitInput(name=name, positive_label=positive, negative_label=negative)
        client().traits.add(model.handle, [trait])
        # Offline: what would be sent to a language model has to be shown first, and this page has no such step.
        client().samples.synthesize(model.handle, effort="low", language_model=False)
    if trying.done:
        st.query_params[_ADDRESS] = model.handle
        st.rerun()


def draw_trial(model: Model) -> None:
    """Draw where the trial stands, and start its next step."""
    last = model.last_operation
    if model.state == "busy":
        st.markdown(f"**Two steps: write simple texts for {_poles(model)}, then train on them.**")
        watch(model, client().traits.list(model.handle))
    elif model.version_no is not None:
        _draw_result(model)
    elif last is not None and last.status == "succeeded" and last.kind == "synthesize":
        with attempt() as training:
            client().models.train(model.handle, effort="low")
        if training.done:
            st.rerun()
    else:
        why = plain(last.error.message) if last and last.error else "Nothing was trained yet."
        st.error(f"**This idea did not work.** {why} Use other words for the poles.", icon=":material/error:")
    st.button("Try another idea", icon=":material/restart_alt:", type="tertiary", key="idea.again", on_click=start_over)


def _draw_result(model: Model) -> None:
    if _knows_only_made_up_text(model):
        st.warning(
            "**Trained on made-up text only.** It has never seen a real text, so how often it is right is unknown.",
            icon=":material/science:",
        )
    if version := active_version(model):
        draw_scored_text(model, version, client().traits.list(model.handle), key=TEXT)
    if not _knows_only_made_up_text(model):
        model_link("model", "This idea has learned from real texts: open its model", model=model.handle)
        return
    # A score from made-up text looks like any other, so the only primary button leads to real texts. Ten of them start
    # a retrain.
    st.markdown("**Next: label ten real texts.** They count more than all made-up ones, and show how good it is.")
    if st.button("Label ten real texts", type="primary", icon=":material/label:", key="idea.label"):
        open_page("label", model=model.handle)


def _knows_only_made_up_text(model: Model) -> bool:
    """Whether the active version was trained with no other samples than synthesized ones."""
    metrics = client().versions.get(model.handle, f"v{model.version_no}").metrics
    return any(each.not_measured == "only_synthesized" for each in metrics.traits.values())


def _field(label: str, field: str, example: str, slots: dict[str, DeltaGenerator]) -> str:
    typed = st.text_input(label, key=f"idea.{field}", max_chars=80, placeholder=example, persist_state="session")
    slots[field] = st.empty()
    return typed.strip()


def _problem(name: str, positive: str, negative: str) -> tuple[str, str] | None:
    """The field that is missing or not different, and what to do."""
    for field, typed in (("name", name), ("negative_label", negative), ("positive_label", positive)):
        if not typed:
            return field, "Give it a name." if field == "name" else "Name this side."
    if positive.casefold() == negative.casefold():
        return "positive_label", "Both sides have the same name. Use two different ones."
    return None


def _created(namespace: str, name: str) -> Model:
    """A new model with this name or, if it is taken, with a number behind it."""
    for number in numbers(1):
        handle = f"{namespace}.{name[:60]}" + (f"-{number}" if number > 1 else "")
        try:
            # Trials stay on Home, so the description has to say how they began.
            return client().models.create(handle, description="Began as an idea, with made-up text.")
        except HandleTaken:
            if number == _TRIED:
                raise
    raise AssertionError


def _poles(model: Model) -> str:
    traits = client().traits.list(model.handle)
    return " and ".join(f"*{plain(label)}*" for each in traits for label in (each.positive_label, each.negative_label))

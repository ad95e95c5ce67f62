"""Zero data retention: what it means, exactly what would be removed, and the switch that asks for the model's name."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

import streamlit as st

from traitbench.app import batches, preview, session
from traitbench.app.sample_list import all_samples
from traitbench.app.service import attempt, client, field_error, forget_versions
from traitbench.app.text import count, plain
from traitbench.app.waiting import waiting
from traitbench.app.widgets.confirm import ask, asked, confirm
from traitbench.contract.models import Model
from traitbench.contract.samples import Provenance
from traitbench.contract.traits import Trait

PURGE, END = "model.purge", "model.retention_again"
_COUNTED_THROUGH = 20_000
_FROM: dict[Provenance, str] = {
    "authored": "of yours",
    "synthesized": "synthesized",
    "score_feedback": "from feedback",
}

AFTERWARDS = """
- It scores as before: versions hold numbers, no text.
- Feedback is refused, and there is no automatic retrain.
- A new parameter search is impossible without samples.
- Samples that are given later are removed as soon as a training has learnt from them.
- Nothing of a text that is scored is written anywhere.
"""


def zero_retention(model: Model, traits: Sequence[Trait]) -> None:
    """Draw the switch and what stands behind it."""
    if model.zero_data_retention:
        st.markdown(":material/shield: **It is on.** No text is kept for this model:")
        st.markdown(AFTERWARDS)
        st.button("Turn it off", icon=":material/shield:", key="model.zero_off", on_click=ask, args=(END, model.handle))
    else:
        st.markdown("With it on, no text is kept for this model. What that means from then on:")
        st.markdown(AFTERWARDS)
        st.button("Turn it on", icon=":material/shield:", key="model.zero_on", on_click=ask, args=(PURGE, model.handle))
        held = sum(trait.sample_count for trait in traits)
        removes = f"It removes {count(held, 'sample')} at once" if held else "There is no sample to remove now"
        st.caption(f"{removes}; before it does, you are shown what goes, and asked for the model's name.")
    if asked(PURGE) == model.handle and not model.zero_data_retention:
        _ask_for_the_name(model, traits)
    if asked(END) == model.handle and model.zero_data_retention:
        confirm(
            END,
            title="Turn zero data retention off?",
            body="From now on samples and feedback are kept. What was removed does not come back.",
            yes="Turn it off",
            icon=":material/shield:",
            act=partial(_switch, model.handle, on=False),
            no="Leave it on",
        )


def losses(model: Model, traits: Sequence[Trait]) -> list[str]:
    """What would be removed at once, in markdown, a line each; empty when there is nothing."""
    held = sum(trait.sample_count for trait in traits)
    lines = []
    if held:
        origins = _by_origin(model, traits, held)
        lines.append(f"**{count(held, 'sample')}**{origins}, and the numbers made of their texts")
    if unlearnt := _waiting(model, traits):
        lines.append(f"among them **{count(unlearnt, 'sample')} of feedback** that no version has learnt from yet")
    if any(trait.anchor_sample_ids for trait in traits):
        lines.append(
            "of discovered traits the typical texts, and names that were made of words in the texts: where nobody has "
            "given another name, the key takes its place, in every version"
        )
    if model.state == "busy":
        lines.append("**the run that is going on**: it is stopped and leaves nothing")
    return lines


def _ask_for_the_name(model: Model, traits: Sequence[Trait]) -> None:
    def dismiss() -> None:
        session.keep(PURGE, None)

    def ask_it() -> None:
        lines = losses(model, traits)
        if lines:
            st.markdown("This is removed now, for good. Nobody can bring it back:")
            st.markdown("\n".join(f"- {line}" for line in lines))
        else:
            st.markdown("There is no sample now, so nothing is removed.")
        versions = ", and every version with its figures; they score as before" if model.version_no is not None else ""
        st.markdown(f"The traits stay{versions}.")
        st.caption("A file of the whole model, samples included, can be downloaded above before.")
        typed = st.text_input(f"Type {model.handle} to agree", key="model.purge_name", placeholder=model.handle)
        slot, refusal = st.empty(), st.container()
        with st.container(horizontal=True, horizontal_alignment="right"):
            if st.button("Keep everything", key=f"{PURGE}.no"):
                dismiss()
                st.rerun()
            agreed = st.button(
                "Remove and turn on" if lines else "Turn on",
                icon=":material/shield:",
                type="primary",
                key=f"{PURGE}.yes",
            )
        if agreed and typed.strip() != model.handle:
            field_error(slot, "This is not the model's name." if typed.strip() else "The model's name is needed.")
        elif agreed:
            with refusal, attempt() as acting:
                _switch(model.handle, on=True)
            if acting.done:
                dismiss()
                st.rerun()

    st.dialog("Turn zero data retention on?", icon=":material/shield:", on_dismiss=dismiss)(ask_it)()


def _switch(handle: str, *, on: bool) -> None:
    client().models.update(handle, zero_data_retention=on)
    if on:
        forget_versions()
        preview.forget()
        batches.discard_of(handle)
    said = "Zero data retention is on; what was kept of texts is removed" if on else "Zero data retention is off"
    session.flash(f"{said}: {plain(handle)}.")


def _by_origin(model: Model, traits: Sequence[Trait], held: int) -> str:
    """` (12 of yours, 8 synthesized)`; nothing where there are too many to look through."""
    if held > _COUNTED_THROUGH:
        return ""
    found = Counter(sample.provenance for sample in all_samples(model.handle, traits))
    parts = [f"{found[origin]:,} {words}" for origin, words in _FROM.items() if found[origin]]
    return f" ({', '.join(parts)})"


def _waiting(model: Model, traits: Sequence[Trait]) -> int:
    newest = client().versions.list(model.handle, limit=1).first() if model.version_no is not None else None
    return waiting(model, traits, newest).samples

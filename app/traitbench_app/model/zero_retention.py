"""Zero data retention: what it means, what it would remove, and the switch, which asks for the model's name."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_PAGE
from traitbench.contract.samples import Provenance
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain
from traitbench.settings import read_settings
from traitbench_app.parts.controls import agreed_to, ask, asked, confirm, forget
from traitbench_app.shell import session
from traitbench_app.shell.navigation import link
from traitbench_app.shell.service import attempt, client, field_error
from traitbench_app.workspace import kept_texts
from traitbench_app.workspace.samples import all_samples

PURGE, END = "model.purge", "model.retention_again"
_COUNTED_THROUGH = 20_000
_FROM: dict[Provenance, str] = {
    "authored": "of yours",
    "synthesized": "synthesized",
    "score_feedback": "from feedback",
}

AFTERWARDS = """
- Scores stay the same: versions contain no text.
- Feedback is refused, and automatic retraining stops.
- The model cannot be trained again, because its samples are gone.
- Samples that you add later are removed after training.
- Scored texts are not stored.
"""


def zero_retention(model: Model, traits: Sequence[Trait]) -> None:
    """Draw the switch and what it means."""
    forks = list(client().models.list(forked_from=model.handle, limit=LARGEST_PAGE))
    if model.zero_data_retention:
        st.markdown(":material/shield: **It is on.** This means:")
        st.markdown(AFTERWARDS)
        _name_forks(forks)
        st.toggle(
            "The language model may be asked",
            value=model.language_model_allowed,
            key=f"model.language_model:{model.handle}:{model.language_model_allowed}",
            on_change=_allow,
            args=(model.handle, not model.language_model_allowed),
            help="If this service has a language model, synthesis then sends it names of traits, and samples to vary. "
            "Discovery sends typical texts of new traits. Both say what is sent before you start.",
        )
        st.button("Turn it off", icon=":material/shield:", key="model.zero_off", on_click=ask, args=(END, model.handle))
    else:
        st.markdown("When it is on:")
        st.markdown(AFTERWARDS)
        _name_forks(forks)
        st.button("Turn it on", icon=":material/shield:", key="model.zero_on", on_click=ask, args=(PURGE, model.handle))
        total = sum(trait.stored_samples for trait in traits)
        removes = f"This removes {count(total, 'sample')} at once" if total else "There are no samples to remove now"
        st.caption(f"{removes}. You confirm it with the model's name.")
    if asked(PURGE) == model.handle and not model.zero_data_retention:
        _ask_for_the_name(model, traits, forks)
    if asked(END) == model.handle and model.zero_data_retention:
        confirm(
            END,
            title="Turn zero data retention off?",
            body="Samples and feedback will be stored again. Removed samples are not restored.",
            yes="Turn it off",
            icon=":material/shield:",
            act=partial(_switch, [model.handle], on=False),
            no="Leave it on",
        )


def _name_forks(forks: Sequence[Model]) -> None:
    """Draw a line for each fork: whether the switch covers it, with a link to its own switch."""
    if forks:
        st.markdown("Forks have copies of the samples:")
        st.markdown("\n".join(f"- {_linked(each)}: {_retention_of(each)}" for each in forks))


def _linked(fork: Model) -> str:
    return f"[{plain(fork.handle)}]({link('model', model=fork.handle, part='What is kept')})"


def _retention_of(fork: Model) -> str:
    if fork.zero_data_retention:
        return f"{fork.state}, zero data retention is on"
    return "archived, switched on with this model" if fork.state == "archived" else f"{fork.state}, has its own switch"


def _allow(handle: str, allowed: bool) -> None:
    with attempt():
        client().models.update(handle, language_model_allowed=allowed)


def losses(model: Model, traits: Sequence[Trait], forks: Sequence[Model] = ()) -> list[str]:
    """What would be removed at once, as lines of markdown; empty if nothing would be."""
    total = sum(trait.stored_samples for trait in traits)
    lines = []
    if total:
        origins = _by_origin(model, traits, total)
        lines.append(f"**{count(total, 'sample')}**{origins}, and the vectors of their texts")
    if pending := model.retrain.pending:
        lines.append(f"including **{count(pending, 'sample')} of feedback** that no version was trained with yet")
    if any(trait.anchor_sample_ids for trait in traits):
        lines.append(
            "the typical texts of discovered traits, and names that discovery took from the texts: if you have not "
            "renamed such a trait, its key replaces the name in every version"
        )
    if archived := [each for each in forks if _is_covered(each)]:
        names = ", ".join(_linked(each) for each in archived)
        lines.append(f"the samples of **{count(len(archived), 'archived fork')}**: {names}")
    if model.state == "busy":
        lines.append("**the current run**, which is stopped without a result")
    return lines


def _is_covered(fork: Model) -> bool:
    return fork.state == "archived" and not fork.zero_data_retention


def _ask_for_the_name(model: Model, traits: Sequence[Trait], forks: Sequence[Model]) -> None:
    def ask_it() -> None:
        lines = losses(model, traits, forks)
        if lines:
            st.markdown("This permanently removes:")
            st.markdown("\n".join(f"- {line}" for line in lines))
        else:
            st.markdown("There are no samples now, so nothing is removed.")
        versions = " and all versions" if model.version_no is not None else ""
        st.markdown(f"Traits{versions} are kept.")
        if living := [_linked(each) for each in forks if each.state != "archived" and not each.zero_data_retention]:
            st.warning(f"These forks keep their samples. Turn it on there too: {', '.join(living)}")
        st.caption("To keep a copy of the samples, export the model first.")
        typed = st.text_input(f"Type {model.handle} to confirm", key="model.purge_name", placeholder=model.handle)
        slot, refusal = st.empty(), st.container()
        with st.container(horizontal=True, horizontal_alignment="right"):
            if st.button("Keep everything", key=f"{PURGE}.no"):
                forget(PURGE)
                st.rerun()
            pressed = st.button(
                "Remove and turn on" if lines else "Turn on",
                icon=":material/shield:",
                type="primary",
                key=f"{PURGE}.yes",
            )
        if pressed and typed.strip() != model.handle:
            field_error(slot, "This is not the model's name." if typed.strip() else "Type the model's name.")
            return
        with refusal:
            # Samples may have been added since the person read what is removed.
            agreed = agreed_to(PURGE, " ".join(lines), pressed)
        if agreed:
            with refusal, attempt() as acting:
                _switch([model.handle, *(each.handle for each in forks if _is_covered(each))], on=True)
            if acting.done:
                forget(PURGE)
                st.rerun()

    dialog = st.dialog("Turn zero data retention on?", icon=":material/shield:", on_dismiss=lambda: forget(PURGE))
    dialog(ask_it)()


def _switch(handles: Sequence[str], *, on: bool) -> None:
    """Switch the first model, and remove what the workbench keeps of all of them."""
    handle = handles[0]
    client().models.update(handle, zero_data_retention=on)
    if on:
        kept_texts.end(handles, read_settings())
    removed = " Stored texts were removed." if on else ""
    session.flash(f"Zero data retention is {'on' if on else 'off'} for {plain(handle)}.{removed}")


def _by_origin(model: Model, traits: Sequence[Trait], total: int) -> str:
    """` (12 of yours, 8 synthesized)`; empty if there are too many samples to count."""
    if total > _COUNTED_THROUGH:
        return ""
    counts = Counter(sample.provenance for sample in all_samples(model.handle, traits))
    parts = [f"{counts[origin]:,} {words}" for origin, words in _FROM.items() if counts[origin]]
    return f" ({', '.join(parts)})"

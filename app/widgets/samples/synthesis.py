"""Synthesized samples: the form that starts a synthesis, its outcome, and the button that deletes them."""

from collections.abc import Sequence
from typing import get_args

import streamlit as st

from traitbench.app.samples.sample_list import facts
from traitbench.app.shell import session
from traitbench.app.shell.navigation import page_link
from traitbench.app.shell.service import client
from traitbench.app.shell.text import ago, count
from traitbench.app.widgets.common.derive import begin, draw_failure, notes, pick_effort
from traitbench.app.widgets.samples.importing import VIEW
from traitbench.app.widgets.samples.table import delete_later, keep_after_all, waiting
from traitbench.client.samples import SynthType
from traitbench.contract.models import Effort, LastOperation, Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.generators import TEXTS_PER_POLE

_TYPES: dict[SynthType, tuple[str, str]] = {
    "from_traits": (
        "From the traits",
        "Writes short texts with words related to the names of the poles and the description. Needs no samples.",
    ),
    "diversify": (
        "From the samples",
        "Varies your samples and keeps their style. Works best with texts of several sentences.",
    ),
}


_REASONS = {
    "invalid": "not in the form asked for",
    "copy": "copies",
    "near_duplicate": "nearly the same as another text",
    "wrong_side": "on the wrong side",
    "strayed": "too far from the text they vary",
    "repetitive": "begin like many others",
    "form": "marks that only one pole has",
    "length": "too long or too short for their pole",
}


def synthesize(model: Model, traits: Sequence[Trait], samples: Sequence[Sample]) -> None:
    """Draw the form and start the synthesis."""
    given = [trait for trait in traits if trait.kind == "extrinsic"]
    if not given:
        st.info("All traits were discovered. Synthesis needs a trait that you define.", icon=":material/info:")
        page_link("traits", "Add a trait")
        return
    _draw_advice()
    seeds = [sample for sample in samples if sample.provenance != "synthesized" and sample.quality != 0.5]
    synth_type = st.radio(
        "Generate texts",
        list(_TYPES),
        format_func=lambda each: _TYPES[each][0],
        captions=[caption for _, caption in _TYPES.values()],
        key="synthesize.type",
        persist_state="session",
    )
    effort = pick_effort({name: _asked_for(name, given) for name in get_args(Effort)}, key="synthesize.effort")
    no_seed = synth_type == "diversify" and not seeds
    refusal = st.container()
    if st.button(
        "Synthesize samples",
        type="primary",
        icon=":material/auto_awesome:",
        disabled=no_seed,
        key="synthesize.send",
        help="Add a sample at a pole first." if no_seed else None,
    ):
        with refusal:
            started = begin(
                lambda: client().samples.synthesize(model.handle, synth_type=synth_type, effort=effort),
                already="This synthesis already ran on the same traits and samples. Choose another effort, or change a "
                "trait or a sample first.",
            )
        if started:
            session.store(VIEW, "table")
            st.rerun()


def draw_outcome(model: Model, samples: Sequence[Sample]) -> None:
    """Draw the outcome of the last synthesis, as long as no later operation replaced it."""
    last = model.last_operation
    if last is None or last.kind != "synthesize" or draw_failure(model, what="The synthesis"):
        return
    if last.status == "succeeded":
        made = sum(sample.provenance == "synthesized" for sample in samples)
        st.info(
            f"**Synthesis ran {ago(last.started_at)}.** The model has {count(made, 'synthesized sample')}. Read some "
            f"before you train. {_rejected(last)} {notes(model)}",
            icon=":material/auto_awesome:",
        )


def _rejected(last: LastOperation) -> str:
    """How many texts failed the exam, and why; empty if none did."""
    outcome = last.progress.synthesis if last.progress else None
    if outcome is None or not outcome.rejected:
        return ""
    reasons = [f"{_REASONS.get(reason, reason)} {number:,}" for reason, number in outcome.rejected.items()]
    return f"{count(sum(outcome.rejected.values()), 'text')} failed the exam: {', '.join(reasons)}."


def delete_synthesized(model: Model, samples: list[Sample]) -> None:
    """Draw a button that marks all synthesized samples for deletion, and one that unmarks them before a save."""
    made = facts(samples).synthesized
    marked = made & waiting(model.handle).deletions
    if made > marked:
        st.button(
            f"Delete all synthesized ({len(made):,})",
            icon=":material/delete_sweep:",
            type="tertiary",
            key="samples.delete_synthesized",
            on_click=delete_later,
            args=(model, samples, made),
        )
    if marked:
        number = count(len(marked), "synthesized sample")
        warning = f":material/delete_sweep: Saving permanently deletes {number}."
        st.markdown(f":small[:orange[{warning}]]", width="content")
        st.button(
            "Undo",
            icon=":material/undo:",
            type="tertiary",
            key="samples.keep_synthesized",
            on_click=keep_after_all,
            args=(model, made),
        )


def _draw_advice() -> None:
    with st.container(border=True, key="synthesize.worth"):
        st.markdown(
            "**A few texts of your own are worth more than synthesized ones.** These simple texts are generated here, "
            "without a language model. They help most with few samples and plain poles such as *angry* and *calm*, and "
            "hardly at all with irony or style."
        )
        st.caption("Synthesized samples count little in training and are never used for evaluation.")


def _asked_for(effort: Effort, given: Sequence[Trait]) -> str:
    each = TEXTS_PER_POLE[effort]
    whole = 2 * each * len(given)
    return f"Up to {each} texts per pole, {whole:,} in total."

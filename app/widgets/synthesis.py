"""Samples that nobody wrote: the form that has them made, how it ended, and the way to be rid of them."""

from collections.abc import Sequence
from typing import get_args

import streamlit as st

from traitbench.app import session
from traitbench.app.navigation import page_link
from traitbench.app.service import client
from traitbench.app.text import ago, count
from traitbench.app.widgets.derive import begin, draw_failure, notes, pick_effort
from traitbench.app.widgets.sample_import import VIEW
from traitbench.app.widgets.sample_table import delete_later, keep_after_all, waiting
from traitbench.client.samples import SynthType
from traitbench.contract.models import Effort, Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.generators import TEXTS_PER_POLE

_TYPES: dict[SynthType, tuple[str, str]] = {
    "from_traits": (
        "From the traits",
        "New short texts around words that lie near each pole, chosen by the names of the poles and the description. "
        "It needs no sample.",
    ),
    "diversify": (
        "From the samples",
        "Samples of yours with small changes that keep their voice. It needs samples at a pole.",
    ),
}


def synthesize(model: Model, traits: Sequence[Trait], samples: Sequence[Sample]) -> None:
    """Draw the form, and start what it asks for."""
    given = [trait for trait in traits if trait.kind == "extrinsic"]
    if not given:
        st.info("Every trait here was discovered; texts are made for traits that you define.", icon=":material/info:")
        page_link("traits", "Add a trait")
        return
    _say_what_it_is_worth()
    seeds = [sample for sample in samples if sample.provenance != "synthesized" and sample.quality != 0.5]
    synth_type = st.radio(
        "What to make them of",
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
        help="There is no sample at a pole to change." if no_seed else None,
    ):
        with refusal:
            begun = begin(
                lambda: client().samples.synthesize(model.handle, synth_type=synth_type, effort=effort),
                already="The same has been made of exactly these traits and samples before. Take another effort, or "
                "change a trait or a sample first.",
            )
        if begun:
            session.keep(VIEW, "table")
            st.rerun()


def draw_outcome(model: Model, samples: Sequence[Sample]) -> None:
    """What the last synthesis gave, for as long as it is the last thing that was done."""
    last = model.last_operation
    if last is None or last.kind != "synthesize" or draw_failure(model, what="The synthesis"):
        return
    if last.status == "succeeded":
        made = sum(sample.provenance == "synthesized" for sample in samples)
        st.info(
            f"**Synthesis was run {ago(last.started_at)}.** {count(made, 'synthesized sample')} "
            f"{'is' if made == 1 else 'are'} here now; read some before you train on them. {notes(model)}",
            icon=":material/auto_awesome:",
        )


def delete_synthesized(handle: str, samples: Sequence[Sample]) -> None:
    """Mark all synthesized samples to be deleted, in one go, and take it back until it is saved."""
    made = {sample.id for sample in samples if sample.provenance == "synthesized"}
    marked = made & waiting(handle).deletions
    if made > marked:
        st.button(
            f"Delete all synthesized ({len(made):,})",
            icon=":material/delete_sweep:",
            type="tertiary",
            key="samples.delete_synthesized",
            on_click=delete_later,
            args=(handle, made),
        )
    if marked:
        number = count(len(marked), "synthesized sample")
        said = f":material/delete_sweep: {number} will be deleted when you save, for good."
        st.markdown(f":small[:orange[{said}]]", width="content")
        st.button(
            "Undo",
            icon=":material/undo:",
            type="tertiary",
            key="samples.keep_synthesized",
            on_click=keep_after_all,
            args=(handle, made),
        )


def _say_what_it_is_worth() -> None:
    with st.container(border=True, key="synthesize.worth"):
        st.markdown(
            "**What such texts are worth.** They are made here, without a language model, and read like it. They carry "
            "what the words for the poles carry, so they help most when you have hardly any sample and the poles are "
            "plain words (*angry* and *calm*), and hardly at all for irony, style or the ease of reading. A few texts "
            "of your own are worth more."
        )
        st.caption(
            "They are marked as synthesized, weigh little in a training beside real samples, and no figure is ever "
            "measured on them."
        )


def _asked_for(effort: Effort, given: Sequence[Trait]) -> str:
    each = TEXTS_PER_POLE[effort]
    whole = 2 * each * len(given)
    return f"Up to {each} texts for each pole, {whole:,} in all."

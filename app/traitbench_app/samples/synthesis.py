"""Synthesized samples: the form that starts a synthesis, its outcome, and the button that deletes them."""

from collections.abc import Sequence

import streamlit as st

from traitbench.client.wire import SynthType
from traitbench.contract.models import Effort, Model
from traitbench.contract.samples import TEXTS_PER_POLE, Sample
from traitbench.contract.traits import Trait
from traitbench.display.text import ago, count, plain
from traitbench_app.parts.runs import EFFORTS, begin, draw_failure, notes, pick_effort
from traitbench_app.samples.editing import apply
from traitbench_app.samples.views import go_to
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import attempt, client

WEAKNESS = (
    "A few texts of your own are worth more: a model that is trained on made-up text only knows made-up text. Such"
    " samples count little in training and are never used for evaluation."
)
"""What made texts are not good for."""

_ENOUGH = 4  # real samples per pole; see tests/benchmarks/synthesis.py

_TYPES: dict[SynthType, tuple[str, str]] = {
    "from_traits": (
        "From the traits",
        "Writes texts for both poles from their names and the description. Needs no samples.",
    ),
    "diversify": (
        "From the samples",
        "Varies your samples and keeps their style. Fills a pole; simple variations did not improve accuracy.",
    ),
}


def synthesize(model: Model, traits: Sequence[Trait], samples: Sequence[Sample]) -> None:
    """Draw the form and start the synthesis."""
    given = [trait for trait in traits if trait.kind == "extrinsic"]
    if not given:
        st.info("All traits were discovered. Synthesis needs a trait that you define.", icon=":material/info:")
        page_link("traits", "Add a trait")
        return
    seeds = [sample for sample in samples if sample.provenance != "synthesized" and sample.quality != 0.5]
    synth_type = st.radio(
        "Generate texts",
        list(_TYPES),
        format_func=lambda each: _TYPES[each][0],
        captions=[caption for _, caption in _TYPES.values()],
        key="synthesize.type",
        persist_state="session",
    )
    effort = pick_effort({each: _asked_for(given, each) for each in EFFORTS}, key="synthesize.effort")
    no_seed = synth_type == "diversify" and not seeds
    language_model = None if no_seed else _draw_plan(model, synth_type, effort, enough=_has_enough(given))
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
                lambda: client().samples.synthesize(
                    model.handle, synth_type=synth_type, effort=effort, language_model=language_model
                ),
                already="This synthesis already ran on the same traits and samples. Choose another effort, or change a "
                "trait or a sample first.",
            )
        if started:
            go_to("samples")
            st.rerun()


def draw_outcome(model: Model, made: int) -> None:
    """Draw the outcome of the last synthesis, as long as no later operation replaced it; `made` counts its samples."""
    last = model.last_operation
    if last is None or last.kind != "synthesize" or draw_failure(model, what="The synthesis"):
        return
    if last.status == "succeeded":
        outcome = last.progress.synthesis if last.progress else None
        warned = outcome is not None and (outcome.failure or outcome.warning)
        (st.warning if warned else st.info)(
            f"**Synthesis ran {ago(last.started_at)}.** The model has {count(made, 'synthesized sample')}. Read some "
            f"before you train. {notes(model)}",
            icon=":material/warning:" if warned else ":material/auto_awesome:",
        )


def delete_synthesized(model: Model, synthesized: Sequence[Sample]) -> None:
    """Draw the button that deletes all synthesized samples; the undo of the page brings them back."""
    if not synthesized:
        return
    label = f"Delete all synthesized ({len(synthesized):,})"
    if st.button(label, icon=":material/delete_sweep:", type="tertiary", key="samples.delete_synthesized"):
        with attempt() as deleting:
            seen = {each.id: each for each in synthesized}
            apply(model, lambda _, deleted: f"{count(deleted, 'synthesized sample')} deleted.", seen, deletes=[*seen])
        if deleting.done:
            st.rerun()


def _has_enough(traits: Sequence[Trait]) -> bool:
    """Whether every trait has so many samples that simple texts no longer help."""
    return all(min(trait.positive_samples, trait.negative_samples) >= _ENOUGH for trait in traits)


def _draw_plan(model: Model, synth_type: SynthType, effort: Effort, *, enough: bool) -> bool | None:
    """Draw what the synthesis costs and what it sends; return False if the language model is not to be asked."""
    plan = client().samples.plan(model.handle, synth_type=synth_type, effort=effort)
    wanted = True
    with st.container(border=True, key="synthesize.worth"):
        if plan.requests:
            wanted = st.toggle(
                f"Ask the language model {plain(plan.generator)}",
                value=True,
                key="synthesize.model",
                persist_state="page",
            )
        if plan.requests and wanted:
            st.markdown(
                f"**About {_time(plan.seconds)} and {plan.tokens:,} tokens, at most {plan.most_tokens:,}.**"
                f" {count(plan.requests, 'request')} to {plain(plan.host or '')}."
            )
            with st.expander("What is sent", icon=":material/outbox:"):
                st.caption(
                    "The first request, to the letter. The others differ in topics and texts."
                    if plan.requests > 1
                    else "The request, to the letter."
                )
                for part in plan.sent:
                    st.code(part, language=None, wrap_lines=True)
        else:
            few = 4.0 if plan.requests else plan.seconds
            english = "simple English texts" if synth_type == "from_traits" else "simple variations"
            st.markdown(f"**About {_time(few)}. Nothing is sent anywhere:** the service writes {english} itself.")
            if plan.offline_warning:
                st.warning(plain(plan.offline_warning), icon=":material/translate:")
        if plan.reason == "zero_retention":
            st.caption("Zero data retention is on, so the language model is not asked. You can allow it on Model.")
        st.caption(WEAKNESS)
        if enough and not (plan.requests and wanted):
            st.caption(
                "You have texts of your own at both poles. Measured on real data, simple texts then add nothing."
            )
    return None if wanted else False


def _time(seconds: float) -> str:
    return count(round(seconds), "second") if seconds < 90 else count(round(seconds / 60), "minute")


def _asked_for(given: Sequence[Trait], effort: Effort) -> str:
    each = TEXTS_PER_POLE[effort]
    whole = 2 * each * len(given)
    return f"Up to {each} texts per pole, {whole:,} in total."

"""What the labels have achieved so far: the balance, how often it is right, and what would help."""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.metrics import TraitMetrics
from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.contract.traits import Trait
from traitbench.display.quality import evidence_of
from traitbench.display.text import count, plain, shortened
from traitbench.local.assistant import MOST_FITTED, Assistant
from traitbench_app.parts.advice import advice_on, draw_advice
from traitbench_app.parts.cost import capitalised

_FEWEST, _LONGEST = 2, 20


def figures_of(assistant: Assistant, trait: Trait) -> TraitMetrics | None:
    """Return the figures of the draft as it is now for a trait; None if there are none yet."""
    refit = assistant.refit
    if refit is None or refit.rehearsal is None:
        return None
    metrics = refit.rehearsal.metrics["traits"].get(trait.key)
    return None if metrics is None else TraitMetrics.model_validate(metrics)


def balance(samples: Sequence[Sample], trait: Trait) -> tuple[int, int]:
    """Return how many samples of the trait are at the negative and at the positive pole, without test samples."""
    own = [each.quality for each in samples if each.trait == trait.key and not each.held_out]
    return sum(quality < 0.5 for quality in own), sum(quality > 0.5 for quality in own)


def draw_figures(
    model: Model, assistant: Assistant, trait: Trait, samples: Sequence[Sample], *, pace: float, is_one_of_many: bool
) -> None:
    """Draw the row of figures for a trait, and what would make it better."""
    negative, positive = balance(samples, trait)
    figures = figures_of(assistant, trait)
    evidence = None if figures is None else evidence_of(trait.key, figures)
    with st.container(border=True, key="label.figures"):
        if figures is not None and figures.shortcut is not None:
            st.warning(
                f"{plain(figures.shortcut.claim(trait.positive_label, trait.negative_label))}.",
                icon=":material/warning:",
            )
        with st.container(horizontal=True, gap="large", key="label.metrics"):
            st.metric(
                "Samples",
                f"{negative:,} {shortened(trait.negative_label, _LONGEST)} · "
                f"{positive:,} {shortened(trait.positive_label, _LONGEST)}",
                help=f"Saved samples of {plain(trait.name)}, without test samples.",
                width="content",
            )
            st.metric(
                "Right so far",
                f"{evidence.right:,} of {evidence.samples:,}" if evidence else "–",
                help="Each sample is checked by a model that had not seen it."
                + (f" {evidence.figure}." if evidence and evidence.figure else ""),
                width="content",
            )
            if pace:
                st.metric("Pace", f"{pace:.0f} a minute", help="Your decisions per minute, lately.", width="content")
        if evidence is not None:
            st.markdown(f"{capitalised(evidence.in_short)}. {plain(evidence.lead([trait]))}")
        if advice := advice_on(trait, figures, negatives=negative, positives=positive):
            draw_advice(model, trait, advice, is_one_of_many=is_one_of_many, labels_here=True)
        st.caption(_status(model, assistant, trait, negative, positive, len(samples)))


def _status(model: Model, assistant: Assistant, trait: Trait, negative: int, positive: int, samples: int) -> str:
    """Say what the figures are based on, or what is missing for them."""
    if assistant.problem:
        return f":material/info: No preview here. {plain(assistant.problem)}"
    if samples > MOST_FITTED:
        return f"There are over {MOST_FITTED:,} samples, too many to learn here. Train to measure them."
    missing = [
        f"{count(_FEWEST - have, 'more text')} at {plain(label)}"
        for have, label in ((negative, trait.negative_label), (positive, trait.positive_label))
        if have < _FEWEST
    ]
    if missing:
        return f"The first figures need {' and '.join(missing)}."
    if assistant.refitting:
        return ":material/progress_activity: Learning your labels."
    if model.version_no is None:
        return "What it would say now. Train to keep it."
    return f"What it would say now. v{model.version_no} scores until your labels are learned."

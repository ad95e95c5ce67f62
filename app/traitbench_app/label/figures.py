"""What the labels have achieved so far, and what is next: more of a pole that is short, or a training."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from traitbench.analysis.active_learning import Order
from traitbench.analysis.checks import ENOUGH
from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.display.quality import Evidence, evidence_of
from traitbench.display.text import capitalised, plain, shortened
from traitbench.local.label_session import MOST_FITTED, LabelSession
from traitbench.local.version import PreviewUnavailable
from traitbench_app.label.work import PoolWork
from traitbench_app.parts.advice import FEW, advice_on, draw_advice
from traitbench_app.parts.next_step import NextStep, Sides, StepFacts, as_word, next_step, sides_of

_LONGEST = 20


def evidence_so_far(labels: LabelSession, trait: Trait) -> Evidence | None:
    """Return how often the draft as it is now is right; None if that is not measured yet."""
    figures = labels.figures(trait.key)
    return None if figures is None else evidence_of(trait.key, figures)


def step_for(facts: StepFacts, labels: LabelSession, traits: Sequence[Trait], order: Order) -> NextStep:
    """Return what is next while these traits are labelled.

    The button of a pole that is short changes the order of the texts. A draft that is good enough is trained.
    """
    own = [sides_of(trait) for trait in traits]
    # A model that is busy, archived or failed takes no labels.
    if facts.state not in ("draft", "ready") or not own:
        return next_step(facts)
    sides = min(own, key=lambda each: each.fewer[0])
    fewer, every = sides.fewer[0], sides.negatives + sides.positives
    of = f"{plain(sides.trait)}: " if len(own) > 1 else ""
    if sides.is_lopsided and every >= ENOUGH:
        return _other_order(sides, f"{of}few {as_word(sides.fewer[1])} texts ({fewer} of {every:,}).", order)
    if facts.version:
        return next_step(facts)
    if fewer < ENOUGH:
        have = " + ".join(f"{samples} {as_word(label)}" for samples, label, _ in sides.poles)
        return NextStep(f"{of}{have}. About {ENOUGH} of each are enough to start.")
    weakest = min((evidence_so_far(labels, each) for each in traits), key=_share, default=None)
    said = next_step(facts)
    if weakest is None or said.page != "train":
        return said
    if weakest.is_guessed:
        return replace(said, sentence=f"{weakest.title} so far.", primary=False)
    if fewer < FEW or weakest.doubt or weakest.is_shared:
        few = "" if weakest.is_shared else ", from few samples"
        return replace(said, sentence=f"Enough to train: {weakest.in_short}{few}.")
    return replace(said, sentence=f"Good enough to train: {weakest.in_short}.")


def _share(evidence: Evidence | None) -> float:
    return -1.0 if evidence is None else evidence.share


def _other_order(sides: Sides, sentence: str, order: Order) -> NextStep:
    """The order in which the texts of the smaller side come first, unless they do."""
    wanted: Order = "bottom" if sides.fewer_pole == "negative" else "top"
    if order == wanted:
        return NextStep(capitalised(f"{sentence} They come first now."))
    first = "Lowest scores first" if wanted == "bottom" else "Highest scores first"
    return NextStep(capitalised(sentence), first, "label", {"queue": wanted}, primary=True)


def draw_figures(model: Model, labels: LabelSession, trait: Trait, work: PoolWork, *, is_one_of_many: bool) -> None:
    """Draw how good the labels of a trait are, and what would make it better."""
    negative, positive = work.balance(trait)
    figures, evidence = labels.figures(trait.key), evidence_so_far(labels, trait)
    with st.container(border=True, gap="small", key="label.figures"):
        if figures is not None and figures.shortcut is not None:
            claim = plain(figures.shortcut.claim(trait.positive_label, trait.negative_label))
            st.warning(f"{claim}.", icon=":material/warning:")
        if evidence is not None:
            of = f"{plain(trait.name)}: " if is_one_of_many else ""
            st.markdown(
                f"**{of}{plain(evidence.title)}.** {plain(evidence.lead([trait]))}",
                help="Each sample is checked by a model that had not seen it."
                + (f" {evidence.figure}." if evidence.figure else ""),
            )
        if advice := advice_on(trait, figures, negatives=negative, positives=positive):
            if advice.way in ("check", "review"):
                draw_advice(model, trait, advice, is_one_of_many=is_one_of_many)
            else:
                st.markdown(advice.sentence)
        counts = (
            f"{negative:,} {plain(shortened(trait.negative_label, _LONGEST))}",
            f"{positive:,} {plain(shortened(trait.positive_label, _LONGEST))}",
            _status(model, labels, trait, len(work.training)),
        )
        st.caption(" · ".join(counts))


def _status(model: Model, labels: LabelSession, trait: Trait, samples: int) -> str:
    """Say what the figures are based on, or what is missing for them."""
    if labels.problem:
        problem = (
            labels.problem
            if isinstance(labels.problem, PreviewUnavailable)
            else "An error in the workbench stopped it."
        )
        return f":material/info: No preview here. {plain(str(problem))} Labels are saved as usual."
    if samples > MOST_FITTED:
        return f"There are over {MOST_FITTED:,} samples, too many to learn here. Train to measure them."
    if missing := labels.missing(trait):
        return missing
    if labels.is_fitting:
        return ":material/progress_activity: Learning your labels."
    if model.version_no is None:
        return "Measured with all saved labels. Train to use them."
    return f"Measured with all saved labels. v{model.version_no} scores until they are learned."

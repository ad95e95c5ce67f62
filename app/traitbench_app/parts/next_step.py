"""What a model without a version needs next, in one sentence, with a link to where it is done."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import streamlit as st

from traitbench.contract.models import Model, OperationKind
from traitbench.contract.traits import Trait
from traitbench.display.text import count, plain
from traitbench_app.parts.primary_link import primary_link
from traitbench_app.parts.version_figures import names_of
from traitbench_app.shell.navigation import PageName
from traitbench_app.shell.permission import why_read_only

NO_TRAITS = "This model has no traits yet."
_RUNNING: Mapping[OperationKind, str] = {
    "train": "The first version is being trained.",
    "discover": "Traits are being discovered.",
    "synthesize": "Samples are being synthesized.",
}


class NextStep(NamedTuple):
    """A sentence in Markdown, and the page to go to next, if any, with the label of the link."""

    sentence: str
    page: PageName | None = None
    label: str = ""


def missing(traits: Sequence[Trait]) -> list[str]:
    """What prevents training, one sentence per trait, in Markdown."""
    if traits and not any(trait.sample_count for trait in traits) and all(each.kind == "intrinsic" for each in traits):
        return [
            "The model has no samples. A discovered trait takes its scale from them: make a suggestion your own on"
            " Traits, or label some texts."
        ]
    return [sentence for trait in traits if trait.kind == "extrinsic" and (sentence := _missing(trait))]


def next_step(model: Model, traits: Sequence[Trait]) -> NextStep:
    """Return what a model without a version needs next."""
    if model.state == "busy":
        kind = model.last_operation.kind if model.last_operation else "train"
        return NextStep(_RUNNING.get(kind, "A run is in progress."), "train", "See the progress")
    if model.state == "failed":
        return NextStep("The first training failed.", "train", "See why")
    if why_read_only(model):
        return NextStep("This model is not trained yet." if traits else NO_TRAITS)
    if not traits:
        return NextStep(f"{NO_TRAITS} Start with what it should measure.", "traits", "Add traits")
    if reasons := missing(traits):
        return NextStep(reasons[0] if len(reasons) == 1 else _several(traits), "samples", "Add samples")
    samples = sum(each.sample_count for each in traits)
    return NextStep(f"This draft has {count(samples, 'sample')}. Train it to score texts.", "train", "Train this model")


def draw_next_step(model: Model, traits: Sequence[Trait]) -> None:
    """Draw the sentence, and the link as the page's primary action."""
    step = next_step(model, traits)
    st.markdown(step.sentence)
    if step.page is not None:
        primary_link(step.page, step.label)


def _several(traits: Sequence[Trait]) -> str:
    names = names_of([each for each in traits if missing([each])])
    return f"{count(len(names), 'trait')} still need samples at both poles: {', '.join(map(plain, names.values()))}."


def _missing(trait: Trait) -> str:
    poles = ((trait.positive_samples, trait.positive_label), (trait.negative_samples, trait.negative_label))
    empty = [f"*{plain(pole)}*" for samples, pole in poles if not samples]
    return f"{plain(trait.name)} needs at least one sample that is {' and one that is '.join(empty)}." if empty else ""

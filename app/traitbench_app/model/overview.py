"""What to know of a model in one sentence, and what to do next."""

from collections.abc import Sequence
from datetime import UTC
from typing import NamedTuple

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.quality import by_trait, evidence_on
from traitbench.display.standing import Standing, standing
from traitbench.display.text import count, plain
from traitbench_app.parts.model_actions import left
from traitbench_app.parts.next_step import next_step
from traitbench_app.parts.primary_link import primary_link
from traitbench_app.parts.version_figures import label
from traitbench_app.shell.navigation import PageName
from traitbench_app.shell.service import active_version, client


class _Next(NamedTuple):
    """A sentence about the model, its figures in small type, and the page to go to next, if any."""

    sentence: str
    figures: str = ""
    page: PageName | None = None
    label: str = ""


def overview(model: Model) -> None:
    """Draw the sentence and the page's primary action; `heading` has the action of an archived model."""
    shown = _next(model)
    small = f" :small[:gray[{plain(shown.figures)}]]" if shown.figures else ""
    st.markdown(f"{shown.sentence}{small}")
    if shown.page is not None:
        primary_link(shown.page, shown.label)


def _next(model: Model) -> _Next:
    if model.state == "archived":
        when = "" if model.archived_at is None else f" on {model.archived_at.astimezone(UTC):%-d %b %Y}"
        return _Next(f"This model was archived{when} and does not score. {left(model)}")
    traits = client().traits.list(model.handle)
    version = active_version(model)
    if version is not None:
        return _trained(model, version, traits)
    step = next_step(model, traits)
    return _Next(step.sentence, page=step.page, label=step.label)


def _trained(model: Model, version: Version, traits: Sequence[Trait]) -> _Next:
    name, shown = label(version), standing(version, model.main_trait)
    if shown is None:
        return _Next(
            f"{name} scores texts, but how often it is right was not measured.", page="score", label="Score a text"
        )
    trait = next((each for each in traits if each.key == shown.trait), None)
    return _Next(_how_good(version, shown, traits), _figures(shown, trait), "score", "Score a text")


def _how_good(version: Version, shown: Standing, traits: Sequence[Trait]) -> str:
    evidence = evidence_on(by_trait(version.metrics))
    if evidence is not None:
        named = (*evidence.warnings(traits), f"{evidence.says(label(version), traits)}.")
        return " ".join([*map(plain, named), evidence.doubt]).rstrip()
    samples = count(shown.samples, "test sample" if shown.on_tests else "sample")
    return f"{label(version)} scores texts. It was measured on {samples}, but not how often it is right."


def _figures(shown: Standing, trait: Trait | None) -> str:
    """`Warmth, weakest of 3 traits: AUROC 0.92, 0.87 to 0.96, 248 samples`."""
    samples = count(shown.samples, "test sample" if shown.on_tests else "sample")
    figure = ", ".join(part for part in (f"AUROC {shown.point}", shown.span, samples) if part)
    if shown.among == 1:
        return figure
    which = "main trait" if shown.is_main else f"weakest of {shown.among} traits"
    return f"{trait.name if trait else shown.trait}, {which}: {figure}"

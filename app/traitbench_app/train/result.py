"""The result of a training: how often the version is right, a picture of each trait, and its worst mistakes."""

from collections.abc import Iterator, Sequence

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display import held_out
from traitbench.display.quality import by_trait, evidence_on
from traitbench.display.text import count, plain
from traitbench_app.parts.controls import draw_title, question
from traitbench_app.parts.strips import WIDE, draw_more, draw_strips, first_few, how_to_read, weakest_first
from traitbench_app.parts.version_figures import label
from traitbench_app.shell.navigation import page_link
from traitbench_app.train.mistakes import draw_first_mistakes

_STRIPS = "train.traits"


def draw_result(model: Model, traits: Sequence[Trait], version: Version) -> None:
    """Draw how often the version is right, what would make it better, and the mistakes to look at first."""
    evidence = evidence_on(by_trait(version.metrics))
    title = evidence.says(label(version), traits) if evidence else f"How often {label(version)} is right is not known"
    below = evidence.below(traits) if evidence else " ".join(_why_not(version))
    draw_title(plain(title), plain(f"{below} {_must_pass(version)}"), is_first=False)
    with st.container(horizontal=True, vertical_alignment="center"):
        page_link("score", "Score a text")
        page_link("versions", "View versions")
    order = weakest_first(version, traits)
    with question("Does it tell the sides apart?", key="train.sides"):
        st.caption(how_to_read(version, model))
        draw_strips(model, version, first_few(order, key=_STRIPS), among=traits, width=WIDE)
        draw_more(order, key=_STRIPS)
    draw_first_mistakes(model, version, traits)


def _must_pass(version: Version) -> str:
    """How many of the texts that the version should never get wrong are wrong; empty if there are none."""
    tests = held_out.by_trait(version.metrics).values()
    every, wrong = sum(each.must_pass for each in tests), sum(each.must_pass_failed for each in tests)
    verb = "is" if wrong == 1 else "are"
    return f"{wrong} of {count(every, 'text')} that it should never get wrong {verb} wrong." if every else ""


def _why_not(version: Version) -> Iterator[str]:
    reasons = {each.why_not for each in version.metrics.traits.values() if each.why_not}
    yield f"{'; '.join(sorted(reasons)) or 'The version has no figures'}.".capitalize()
    yield "Add at least two different texts on both sides of every trait, then train again."

"""What would make a trait better: one sentence and the way to do it, the same on every page."""

from dataclasses import dataclass
from functools import partial
from typing import Literal

import streamlit as st

from traitbench.contract.metrics import Pole, TraitMetrics
from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.display.charts.auroc import CHANCE
from traitbench.display.quality import evidence_of
from traitbench.display.text import count, plain, shortened
from traitbench_app.parts.runs import MISTAKES
from traitbench_app.parts.version_figures import names_of
from traitbench_app.shell.navigation import page_link

FEW = 20
"""With fewer samples on a side, it is not known how good a trait is, so more of them come first."""

_NO_GAIN = 0.01
_LONGEST = 24


@dataclass(frozen=True)
class Advice:
    """A sentence in Markdown, and what it asks for: more texts `at` a pole or at both, a look at some, or nothing."""

    sentence: str
    way: Literal["add", "check", "review", "score"]
    at: Pole | None = None


def advice_on(trait: Trait, figures: TraitMetrics | None, *, negatives: int, positives: int) -> Advice | None:
    """Return what would make a trait better with its samples at each pole; None if that is not known."""
    if figures is not None and figures.shortcut is not None:
        alone = plain(figures.shortcut.claim(trait.positive_label, trait.negative_label))
        return Advice(f"{alone}. Change the texts so that both sides have it; until then, this says little.", "check")
    # Before the figures, which say little as long as a side has so few.
    if trait.kind == "extrinsic" and min(negatives, positives) < FEW:
        return _more(trait, negatives, positives)
    if figures is None or figures.auroc is None:
        return None
    if figures.auroc_interval and figures.auroc_interval[0] <= CHANCE:
        return Advice("It does not tell its sides apart yet. Check the labels before you add more.", "check")
    wrong = wrong_in(figures)
    every = sum(side.samples for side in (figures.sides or {}).values())
    mistakes = f"{count(wrong, 'mistake')} in {count(every, 'sample')}"
    if _is_enough(trait, figures):
        rest = f": review its {mistakes}" if wrong else ""
        return Advice(f"More texts like these would not help{rest}.", "review" if wrong else "score")
    if wrong:
        at = figures.feed.pole if figures.feed else None
        first = f", *{_label(trait, at)}* ones first" if at else ""
        look = f"First look at its {mistakes}; then add texts like {'them' if wrong > 1 else 'it'}"
        return Advice(f"{look}{first}.", "review", at)
    return Advice("It makes no mistakes on its samples. Score new texts, and correct what is wrong.", "score")


def wrong_in(figures: TraitMetrics) -> int:
    """The number of held-out samples on the wrong side."""
    return sum(side.samples - side.right for side in (figures.sides or {}).values())


def draw_advice(
    model: Model,
    trait: Trait,
    advice: Advice,
    *,
    is_one_of_many: bool,
    is_brief: bool = False,
) -> None:
    """Draw the sentence, unless it `is_brief`, and the link to where it is done."""
    if not is_brief:
        st.markdown(advice.sentence)
    is_draft, link = model.state in ("draft", "failed"), partial(page_link, model=model.handle)
    if advice.way == "score":
        link("score", "Score a text")
    elif advice.way == "review" and not is_draft:
        which = {"trait": names_of([trait])[trait.key]} if is_one_of_many else {}
        link("train", "Review its mistakes", show=MISTAKES, **which)
    elif advice.way in ("check", "review"):
        link("samples", "Check the labels", task="Check")
    elif is_draft:
        at = {"pole": advice.at} if advice.at else {}
        link("samples", _add("Add", trait, advice.at), task="Add by hand", trait=trait.name, **at)
    else:
        link("label", _add("Label", trait, advice.at), **({"trait": trait.name} if is_one_of_many else {}))


def _more(trait: Trait, negatives: int, positives: int) -> Advice:
    fewer = min(negatives, positives)
    verb = "is" if fewer == 1 else "are"
    if negatives == positives:
        said = f"Add texts on both sides first: {fewer} of each {verb} too few to tell how good it is."
        return Advice(f"{said} About {FEW} of each would do.", "add")
    at: Pole = "negative" if negatives < positives else "positive"
    said = f"Add *{_label(trait, at)}* texts first: {fewer} {verb} too few to tell how good it is."
    return Advice(f"{said} About {FEW} would do.", "add", at)


def _is_enough(trait: Trait, figures: TraitMetrics) -> bool:
    """Whether even the upper end of the forecast is no gain, and the figures rest on enough samples."""
    evidence, forecast = evidence_of(trait.key, figures), figures.forecast
    if evidence is None or evidence.doubt or forecast is None or forecast.interval is None or figures.auroc is None:
        return False
    return forecast.interval[1] - figures.auroc < _NO_GAIN


def _add(verb: str, trait: Trait, at: Pole | None) -> str:
    return f"{verb} more texts" if at is None else f"{verb} {_label(trait, at)} texts"


def _label(trait: Trait, at: Pole) -> str:
    return plain(shortened(trait.positive_label if at == "positive" else trait.negative_label, _LONGEST))

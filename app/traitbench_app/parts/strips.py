"""How well each trait tells its sides apart: a strip of held-out samples between its poles, and how many are right."""

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from traitbench.analysis.checks import ENOUGH
from traitbench.contract.metrics import Pole, Sureness
from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.pictures import RADIUS, balance, empty_strip, strip, tenth_in_words, tenth_of
from traitbench.display.quality import by_trait, evidence_on
from traitbench.display.text import plain, shortened
from traitbench_app.parts.advice import advice_on, draw_advice, wrong_in
from traitbench_app.parts.scored_samples import draw_cell_texts, pole_in_words
from traitbench_app.parts.trait_figures import draw_cells
from traitbench_app.parts.version_figures import label
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import guarded

_MOST = 6
_LONGEST = 40
_WIDTH, _HEIGHT = 480, 120
WIDE = 700
"""Pixels of a strip in a card as wide as the page. Like the usual width, as much as a window of 1440 pixels leaves."""


def weakest_first(version: Version | None, traits: Sequence[Trait]) -> list[Trait]:
    """Sort the traits by how often they are right; those that were not measured come last, in their order."""
    ranks = {} if version is None else {key: position for position, key in enumerate(by_trait(version.metrics))}
    return sorted(traits, key=lambda trait: ranks.get(trait.key, len(ranks)))


def first_few(traits: Sequence[Trait], *, key: str) -> Sequence[Trait]:
    """Return the traits to show: a few, or all after a click on the button of `draw_more`."""
    return traits if session.get(f"{key}.all") or len(traits) <= _MOST else traits[:_MOST]


def draw_more(traits: Sequence[Trait], *, key: str) -> None:
    """Draw the button that shows the rest of the traits, if there are more than a few."""
    hidden = len(traits) - len(first_few(traits, key=key))
    if hidden:
        st.button(f"Show {hidden} more", key=f"{key}.more", on_click=session.store, args=(f"{key}.all", True))


def draw_strips(
    model: Model, version: Version | None, shown: Sequence[Trait], *, among: Sequence[Trait], width: int = _WIDTH
) -> None:
    """Draw a row for each of the traits `shown`; `among` are all traits of the model. Advice is about the first one."""
    for row, trait in enumerate(shown):
        _draw_row(model, version, trait, among, beside=shown, is_brief=row > 0, width=width)
    if version is not None and any(_is_uncounted(version, trait) for trait in shown):
        st.caption(f"{label(version)} is of an older release, which did not count the scores of its samples.")
        if may_review(model):
            page_link("train", "Train again to see this", refit="true")


@st.fragment
def _draw_row(
    model: Model,
    version: Version | None,
    trait: Trait,
    among: Sequence[Trait],
    *,
    beside: Sequence[Trait],
    is_brief: bool,
    width: int,
) -> None:
    with guarded():
        picture, words = st.columns([2.6, 1], vertical_alignment="center")
        with picture:
            opened = draw_strip(model, version, trait, beside=beside, width=width)
        with words:
            st.markdown(_in_words(version, trait))
            draw_advice_of(model, version, trait, among, is_brief=is_brief)
        if version is not None and opened:
            draw_opened(model, version, trait, *opened)


def strip_of(
    version: Version | None,
    trait: Trait,
    *,
    beside: Sequence[Trait] = (),
    width: int = _WIDTH,
    height: int = _HEIGHT,
    radius: float = RADIUS,
    opens: bool = False,
) -> str:
    """Return the strip of a trait as HTML; without samples whose scores were counted, its empty place.

    It has the scale of those `beside` it. With `opens`, its samples are buttons for `draw_cells`.
    """
    negative, positive = trait.negative_label, trait.positive_label
    counts = _score_counts(version, trait)
    if counts is not None:
        among = [each for each in (_score_counts(version, other) for other in beside) if each]
        look = partial(strip, width=width, height=height, radius=radius, opens=opens, among=among)
        return look(counts, negative=negative, positive=positive)
    words = f"{trait.name}, from {negative} to {positive}: no picture yet"
    return empty_strip(negative=negative, positive=positive, words=words, height=min(height, 72))


def _score_counts(version: Version | None, trait: Trait) -> Mapping[Pole, Sequence[int]] | None:
    figures = None if version is None else version.metrics.traits.get(trait.key)
    return None if figures is None else figures.score_counts


def balance_of(version: Version | None, trait: Trait, *, from_version: bool) -> str:
    """Return how many samples of the trait are at each pole, as HTML: those of the version, or those stored."""
    positive, negative = trait.positive_samples, trait.negative_samples
    if from_version and version is not None and (figures := version.metrics.traits.get(trait.key)) is not None:
        positive, negative = (figures.counts.get(pole, 0) for pole in ("positive", "negative"))
    return balance(negative, positive, negative=trait.negative_label, positive=trait.positive_label)


def how_to_read(version: Version | None, model: Model | None = None) -> str:
    """Say what the dots of the strips are; with the model also that they open, if they do."""
    if version is None:
        return "After training, dots here are samples, each checked by a model that has not seen it."
    evidence = evidence_on(by_trait(version.metrics))
    tests = f" But “{evidence.in_short}” is measured on test samples." if evidence and evidence.on_tests else ""
    press = " Press dots to read their texts." if model is not None and _may_read(model) else ""
    return f"Dots are samples, each checked by a model that had not seen it. A ring is on the wrong side.{press}{tests}"


def wrong_of(version: Version) -> int:
    """The number of held-out samples on the wrong side, over all traits whose scores were counted."""
    return sum(map(wrong_in, version.metrics.traits.values()))


def may_review(model: Model) -> bool:
    """Whether the person can read and decide the mistakes of the active version."""
    return model.state == "ready" and _may_read(model)


def _may_read(model: Model) -> bool:
    """Whether the person can read the samples of a version."""
    return not model.zero_data_retention and not why_read_only(model)


def draw_strip(
    model: Model, version: Version | None, trait: Trait, *, beside: Sequence[Trait] = (), width: int = _WIDTH
) -> tuple[bool, int] | None:
    """Draw the strip, with the scale of those `beside` it.

    Return whether the open samples are positive and the tenth that they score, if some are open.
    """
    opens = version is not None and _may_read(model)
    html = strip_of(version, trait, beside=beside, width=width, opens=opens)
    if not opens or "<button" not in html:
        st.html(html)
        return None
    pressed = draw_cells(html, key=f"strip.{trait.key}")
    if pressed is None:
        return None
    pole, _, tenth = pressed.partition(".")
    return (pole == "positive", int(tenth)) if tenth.isdecimal() else None


def draw_opened(model: Model, version: Version, trait: Trait, positive: bool, tenth: int) -> None:
    """Draw the texts of the dots that are open, as `draw_strip` returned them."""
    draw_cell_texts(
        model, version, trait, lambda each: (each.positive, tenth_of(each.points)) == (positive, tenth),
        title=f"**{pole_in_words(positive, trait)}, {tenth_in_words(tenth)}**", key=f"strip.texts.{trait.key}",
    )  # fmt: skip


def _sides(version: Version | None, trait: Trait) -> Mapping[Pole, Sureness] | None:
    figures = None if version is None else version.metrics.traits.get(trait.key)
    return None if figures is None else figures.sides


def _is_uncounted(version: Version, trait: Trait) -> bool:
    """Whether the trait was measured, but by a release that did not count its scores."""
    figures = version.metrics.traits.get(trait.key)
    return figures is not None and figures.auroc is not None and figures.score_counts is None


def _in_words(version: Version | None, trait: Trait) -> str:
    """The name of the trait, and for each pole how many samples are right, or how many there are."""
    positive, negative = _pole(trait.positive_label, "orange"), _pole(trait.negative_label, "blue")
    name, sides = f"**{plain(shortened(trait.name, _LONGEST))}**", _sides(version, trait)
    if sides is not None:
        right = [f"**{sides[pole].right:,} of {sides[pole].samples:,}**" for pole in ("positive", "negative")]
        return f"{name}  \n{right[0]} {positive} right  \n{right[1]} {negative} right"
    if version is None:
        there = ((trait.positive_samples, positive), (trait.negative_samples, negative))
        return "  \n".join([name, *(f"**{_of_enough(samples)}** {pole}" for samples, pole in there)])
    figures = version.metrics.traits.get(trait.key)
    if figures is None:
        return f"{name}  \nNot part of {label(version)}."
    why_not = plain(figures.why_not.partition(";")[0])
    return f"{name}  \nNot measured: {why_not}." if why_not else f"{name}  \nTrain again to see this."


def _pole(label: str, colour: str) -> str:
    return f":{colour}[{plain(shortened(label, _LONGEST))}]"


def _of_enough(samples: int) -> str:
    return f"{samples} of {ENOUGH}" if samples < ENOUGH else f"{samples:,}"


def draw_advice_of(
    model: Model, version: Version | None, trait: Trait, among: Sequence[Trait], *, is_brief: bool = False
) -> None:
    """Draw what would make a trained trait better, or only the link to it; nothing if the person may not do it."""
    figures = None if version is None else version.metrics.traits.get(trait.key)
    if figures is None or not may_review(model):
        return
    negatives, positives = (figures.counts.get(pole, 0) for pole in ("negative", "positive"))
    if advice := advice_on(trait, figures, negatives=negatives, positives=positives):
        draw_advice(model, trait, advice, is_one_of_many=len(among) > 1, is_brief=is_brief)

"""A trait as a card: what its two sides mean, and between them how well they are separated."""

from collections.abc import Sequence
from functools import partial
from html import escape

import streamlit as st

from traitbench.analysis.checks import ENOUGH
from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.definitions import read_definitions
from traitbench.display.colours import DISCOVERED_SIGN
from traitbench.display.pictures import balance, strip
from traitbench.display.text import count, plain, shortened
from traitbench_app.parts.next_step import Sides, as_word, sides_of
from traitbench_app.parts.strips import draw_opened
from traitbench_app.parts.trait_figures import draw_cells
from traitbench_app.shell.navigation import page, page_link
from traitbench_app.shell.permission import why_read_only
from traitbench_app.traits.editing import move, open_editor
from traitbench_app.traits.measured import MeasuredTrait

Neighbours = tuple[int | None, int | None]
"""The positions of the traits before and after a trait, among all traits of its model; None at an end."""

_LONGEST, _NAME, _SAID = 30, 60, 400
_WIDTH, _HEIGHT = 640, 62
_STYLE = """
<style>
.stApp [class*="st-key-card-trait"] { padding: 14px 20px 16px; gap: 8px; }
.stApp [class*="st-key-traits-head"] { gap: 4px 12px; }
.stApp [class*="st-key-traits-head"] h2 { padding: 0; }
.stApp [class*="st-key-traits-head"] [data-testid="stMarkdownContainer"] p { font-size: 13px; line-height: 20px; }
.stApp [class*="st-key-traits-wrong"] a { padding: 0; min-height: 0; background: none; }
.stApp [class*="st-key-traits-wrong"] a > :not(:has(p)) { display: none; }
.stApp [class*="st-key-traits-wrong"] a p {
  font-size: 13px; line-height: 20px; color: var(--tb-ink-2); text-decoration: underline;
  text-decoration-color: var(--tb-line-strong); text-underline-offset: 3px;
}
.stApp [class*="st-key-traits-head"] button { min-height: 28px; padding: 0 10px; }
.stApp [class*="st-key-traits-head"] button p { font-size: 13px; }
.tb-side b { display: block; font-size: 16px; line-height: 24px; font-weight: 600; overflow-wrap: anywhere; }
.tb-side p { margin: 0; font-size: 13px; line-height: 20px; color: var(--tb-ink-2); text-wrap: pretty;
  overflow-wrap: anywhere; }
.tb-side.left b { color: var(--tb-left-ink); }
.tb-side.right b { color: var(--tb-right-ink); }
@media (min-width: 721px) { .tb-side.right { text-align: right; } }
[class*="st-key-traits-pole"] :is(div, .stTooltipIcon, .stTooltipHoverTarget, a) { width: 100%%; }
.stApp [class*="st-key-traits-pole"] a { border-radius: 4px; padding: 0 8px; min-height: 24px; margin: 0; }
[class*="st-key-traits-pole"] a > :first-child { display: none; }
.stApp [class*="st-key-traits-pole"] a p {
  font-size: 12px; line-height: 24px; font-weight: 500; white-space: normal; overflow-wrap: anywhere;
}
[class*="st-key-traits-pole"] a:hover { text-decoration: underline; }
[class*="st-key-traits-pole-left"] a { background: var(--tb-left-soft) !important; }
[class*="st-key-traits-pole-left"] a p { color: var(--tb-left-ink) !important; }
[class*="st-key-traits-pole-right"] a { background: var(--tb-right-soft) !important; justify-content: flex-end; }
[class*="st-key-traits-pole-right"] a p { color: var(--tb-right-ink) !important; }
[class*="st-key-traits-balance"] { gap: 2px; }
%s
</style>
"""
# The two links of a trait are as wide as the shares of its poles.
_SHARE = ":has(> .st-key-traits-pole-%s-%d) { flex: %d 1 0 !important; min-width: fit-content; }"


def draw_style(traits: Sequence[Trait]) -> None:
    """Draw the style of all cards, once on a page."""
    shares = [
        _SHARE % (side, position, max(samples, 1))
        for position, trait in enumerate(traits)
        for side, samples in (("left", trait.negative_samples), ("right", trait.positive_samples))
    ]
    st.html(_STYLE % "\n".join(shares))


def draw_card(
    model: Model,
    source: tuple[Model, Version] | None,
    each: MeasuredTrait,
    beside: Sequence[MeasuredTrait],
    position: int,
    *,
    can_edit: bool,
    neighbours: Neighbours = (None, None),
) -> None:
    """Draw the card; `source` has the version of the figures, `position` is that among all traits of the model.

    Its strip has the scale of those `beside` it. `neighbours` are the positions of the traits before and after it.
    """
    trait = each.trait
    with st.container(border=True, key=f"card.trait.{position}"):
        _draw_head(model, each, position, neighbours, can_edit=can_edit)
        said = read_definitions(trait.description, trait.negative_label, trait.positive_label)
        if said.rest:
            st.caption(plain(shortened(said.rest, _SAID)))
        left, middle, right = st.columns([1, 2.6, 1], vertical_alignment="center", gap="medium")
        left.html(_side(trait.negative_label, said.negative, "left"))
        right.html(_side(trait.positive_label, said.positive, "right"))
        with middle, st.container(gap="small"):
            opened = _draw_strip(source, each, beside, opens=_may_read(model, source))
            _draw_balance(model, each, position)
            # Under zero retention, a trained trait has no samples and lacks none.
            if can_edit and trait.kind == "extrinsic" and (trait.stored_samples or each.counts is None):
                _draw_lack(sides_of(trait))
        if source is not None and opened:
            draw_opened(*source, trait, *opened)


def draw_wrong_step(every: Sequence[MeasuredTrait]) -> bool:
    """Draw the step of the header: to read the samples on the wrong side of the trait that is right least often.

    Return whether there are some.
    """
    # Under zero retention there is nothing to read.
    some = [each for each in every if each.wrong and each.trait.stored_samples]
    weakest = min(some, key=lambda each: each.right / each.samples, default=None)
    if weakest is None:
        return False
    trait = weakest.trait
    st.markdown(f"{plain(shortened(trait.name, _LONGEST))}: {weakest.wrong:,} on the wrong side.", width="content")
    if st.button("Read them", type="primary", shortcut="M", key="head.read_wrong"):
        st.switch_page(page("samples"), query_params={"trait": trait.name, "show": "wrong"})
    return True


def _draw_head(model: Model, each: MeasuredTrait, position: int, neighbours: Neighbours, *, can_edit: bool) -> None:
    trait = each.trait
    with st.container(horizontal=True, vertical_alignment="center", key=f"traits.head.{position}"):
        sign = f" {DISCOVERED_SIGN}" if trait.kind == "intrinsic" else ""
        st.header(f"{plain(shortened(trait.name, _NAME))}{sign}", anchor=False, width="content")
        if each.samples:
            st.markdown(f"**{each.right:,} of {each.samples:,}** right", width="content")
            if each.wrong and trait.stored_samples and not why_read_only(model):
                with st.container(key=f"traits.wrong.{position}", width="content"):
                    page_link("samples", f"{each.wrong:,} on the wrong side", trait=trait.name, show="wrong")
        if apart := _apart(trait):
            st.caption(apart, width="content")
        if trait.kind == "intrinsic":
            st.badge(
                "Discovered",
                icon=":material/explore:",
                color="violet",
                help="Derived from your texts by discovery. Its axis is fixed; training only calibrates its scores.",
            )
        if can_edit:
            st.space("stretch")
            _draw_moves(model, trait, position, neighbours)
            st.button("Edit", key=f"traits.edit.{trait.key}", on_click=open_editor, args=(trait.key,))


def _draw_moves(model: Model, trait: Trait, position: int, neighbours: Neighbours) -> None:
    """Draw what moves the trait up and down, if there are others."""
    if neighbours == (None, None):
        return
    for name, to in zip(("up", "down"), neighbours, strict=True):
        st.button(
            "",
            icon=f":material/arrow_{name}ward:",
            type="tertiary",
            key=f"traits.{name}.{trait.key}",
            help=f"Move {plain(shortened(trait.name, _LONGEST))} {name}. Bars, tables and reports follow from the next "
            "training.",
            disabled=to is None,
            on_click=move,
            args=(model, trait, to, position),
        )


def _draw_strip(
    source: tuple[Model, Version] | None, each: MeasuredTrait, beside: Sequence[MeasuredTrait], *, opens: bool
) -> tuple[bool, int] | None:
    """Draw the strip; return which dots are open, as `draw_opened` takes them."""
    trait = each.trait
    if each.counts is None:
        by_words = "By its two words alone, not tested." if trait.kind == "extrinsic" else "Not trained yet."
        if said := each.why or ("" if trait.stored_samples else by_words):
            st.caption(said)
        return None
    look = partial(strip, negative=trait.negative_label, positive=trait.positive_label, is_labelled=False)
    among = [other.counts for other in beside if other.counts is not None]
    html = look(each.counts, width=_WIDTH, height=_HEIGHT, opens=opens, among=among)
    if not opens or "<button" not in html:
        st.html(html)
        return None
    pole, _, tenth = (draw_cells(html, key=f"strip.{trait.key}") or "").partition(".")
    return (pole == "positive", int(tenth)) if tenth.isdecimal() else None


def _draw_balance(model: Model, each: MeasuredTrait, position: int) -> None:
    """Draw how many samples are at each pole, as links to them for who may read them.

    Without samples, those that the version learned from are drawn.
    """
    trait, pair = each.trait, (each.trait.negative_samples, each.trait.positive_samples)
    if not any(pair) and each.counts is not None:
        pair = (sum(each.counts["negative"]), sum(each.counts["positive"]))
    if not any(pair):
        return
    if why_read_only(model) or not trait.stored_samples:
        st.html(balance(*pair, negative=trait.negative_label, positive=trait.positive_label))
        return
    negative, positive = (shortened(label, _LONGEST) for label in (trait.negative_label, trait.positive_label))
    poles = (
        ("left", f"{trait.negative_samples:,} {plain(negative)}", trait.negative_label),
        ("right", f"{plain(positive)} {trait.positive_samples:,}", trait.positive_label),
    )
    with st.container(horizontal=True, gap=None, key=f"traits.balance.{position}"):
        for side, label, word in poles:
            with st.container(key=f"traits.pole.{side}.{position}"):
                page_link("samples", label, trait=trait.name, pole=word)


def _apart(trait: Trait) -> str:
    """Return what the bar of the balance leaves out."""
    between = trait.sample_count - trait.positive_samples - trait.negative_samples
    apart = [f"{between:,} in between"] if between else []
    return ", ".join([*apart, *([count(trait.held_out_samples, "test sample")] if trait.held_out_samples else [])])


def _draw_lack(sides: Sides) -> None:
    """Draw what the trait needs before training, with a link to where it is added; nothing if it has enough."""
    short = [(number, label, pole) for number, label, pole in sides.poles if number < ENOUGH]
    if not short and not sides.is_lopsided:
        return
    fewer, label = sides.fewer[0], as_word(sides.fewer[1])
    lack = f"Few {label} texts ({fewer} of {sides.negatives + sides.positives:,})."
    if short:
        texts = (f"{ENOUGH - number}{' more' if number else ''} {as_word(each)}" for number, each, _ in short)
        lack = f"Needs {' and '.join(texts)} texts."
    pole = "both" if len(short) > 1 else sides.fewer_pole
    add = "Add texts" if len(short) > 1 else f"Add {label} texts"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f":small[:material/error: {lack}]", width="content")
        page_link("samples", add, icon=":material/add:", task="Add by hand", trait=sides.trait, pole=pole)


def _may_read(model: Model, source: tuple[Model, Version] | None) -> bool:
    """Whether the dots open: their texts are those of the version's own model."""
    if source is None or source[0].zero_data_retention:
        return False
    return source[0].handle == model.handle and not why_read_only(model)


def _side(label: str, definition: str, side: str) -> str:
    said = f"<p dir='auto'>{escape(shortened(_sentence(definition), _SAID))}</p>" if definition else ""
    return f"<div class='tb-side {side}'><b dir='auto'>{escape(label)}</b>{said}</div>"


def _sentence(words: str) -> str:
    if not words:
        return ""
    end = "" if words[-1] in ".!?…。！？।" else "."
    return f"{words[0].upper()}{words[1:]}{end}"

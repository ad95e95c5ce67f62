"""A trait as a row: its name, its picture between two poles, how many samples each pole has, and what it lacks."""

from collections.abc import Sequence

import streamlit as st

from traitbench.analysis.checks import ENOUGH
from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.colours import DISCOVERED_SIGN, NEGATIVE_SIGN, POSITIVE_SIGN
from traitbench.display.text import count, plain, shortened
from traitbench_app.parts.next_step import Sides, as_word, sides_of
from traitbench_app.parts.strips import WIDE, balance_of, draw_advice_of, draw_strip, is_measured
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.permission import why_read_only

_LONGEST = 30
_STYLE = """
<style>
[class*="st-key-traits-pole"] :is(div, .stTooltipIcon, .stTooltipHoverTarget, a) { width: 100%%; }
[class*="st-key-traits-pole"] a { border-radius: 4px; padding: 2px 8px; min-height: 0; }
[class*="st-key-traits-pole"] a > :first-child { display: none; }
[class*="st-key-traits-pole"] a p { font-size: 13px; white-space: normal; overflow-wrap: anywhere; }
[class*="st-key-traits-pole"] a:hover { text-decoration: underline; }
[class*="st-key-traits-pole-left"] a { background: var(--tb-left-soft) !important; }
[class*="st-key-traits-pole-left"] a p { color: var(--tb-left-ink) !important; }
[class*="st-key-traits-pole-right"] a { background: var(--tb-right-soft) !important; justify-content: flex-end; }
[class*="st-key-traits-pole-right"] a p { color: var(--tb-right-ink) !important; }
%s
</style>
"""
# The two links of a trait are as wide as the shares of its poles.
_SHARE = ":has(> .st-key-traits-pole-%s-%d) { flex: %d 1 0 !important; min-width: fit-content; }"


def draw_style(traits: Sequence[Trait]) -> None:
    """Draw the style of all rows, once on a page."""
    shares = [
        _SHARE % (side, position, samples)
        for position, trait in enumerate(traits)
        for side, samples in (("left", trait.negative_samples), ("right", trait.positive_samples))
    ]
    st.html(_STYLE % "\n".join(shares))


def draw_name(trait: Trait) -> None:
    """Draw how the trait is called and described."""
    with st.container(gap="xsmall"):
        sign = f" {DISCOVERED_SIGN}" if trait.kind == "intrinsic" else ""
        st.markdown(f"**{plain(trait.name)}**{sign}", help=f"Key in files and in the API: {plain(trait.key)}")
        if trait.kind == "intrinsic":
            st.badge(
                "Discovered",
                icon=":material/explore:",
                color="violet",
                help="Derived from your texts by discovery. Its axis is fixed; training only calibrates its scores.",
            )
        if trait.description:
            st.caption(plain(trait.description))
        if trait.aggregation != "mean":
            st.caption(f"Aggregation: {trait.aggregation}")


def draw_poles(
    model: Model, version: Version | None, trait: Trait, traits: Sequence[Trait], *, can_edit: bool
) -> tuple[bool, int] | None:
    """Draw the picture of the trait, the samples at its poles as links to them, and what it lacks.

    Return which dots of the picture are open, as `draw_opened` takes them.
    """
    opened = draw_strip(model, version, trait, beside=traits, width=WIDE) if is_measured(version, trait) else None
    if trait.kind == "intrinsic" and not trait.stored_samples:
        st.markdown(f"{NEGATIVE_SIGN} {plain(trait.negative_label)} ↔ {plain(trait.positive_label)} {POSITIVE_SIGN}")
    elif trait.stored_samples and not why_read_only(model):
        _draw_links(trait, traits.index(trait))
    else:
        st.html(balance_of(version, trait, from_version=not trait.stored_samples))
    between = trait.sample_count - trait.positive_samples - trait.negative_samples
    apart = [f"{between:,} in between"] if between else []
    apart += [count(trait.held_out_samples, "test sample")] if trait.held_out_samples else []
    with st.container(horizontal=True, vertical_alignment="center"):
        if can_edit and trait.kind == "extrinsic":
            _draw_lack(sides_of(trait))
        else:
            draw_advice_of(model, version, trait, traits)
        if apart:
            st.caption(", ".join(apart), width="content")
    return opened


def _draw_links(trait: Trait, position: int) -> None:
    negative, positive = (shortened(each, _LONGEST) for each in (trait.negative_label, trait.positive_label))
    poles = (
        ("left", f"{trait.negative_samples:,} {plain(negative)}", trait.negative_label),
        ("right", f"{plain(positive)} {trait.positive_samples:,}", trait.positive_label),
    )
    with st.container(horizontal=True, gap=None, key=f"traits.balance.{position}"):
        for side, label, word in poles:
            with st.container(key=f"traits.pole.{side}.{position}"):
                page_link("samples", label, trait=trait.name, pole=word)


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
    st.markdown(f":small[:material/error: {lack}]", width="content")
    page_link("samples", add, icon=":material/add:", task="Add by hand", trait=sides.trait, pole=pole)

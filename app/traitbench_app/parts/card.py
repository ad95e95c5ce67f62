"""A score card on a page: a bar with both poles for each trait, and the figures for experts one click away."""

from collections.abc import Mapping
from types import MappingProxyType

import pandas as pd
import streamlit as st

from traitbench.contract.scores import Card, Comparison, Tier, TraitScore
from traitbench.display.barchart import DOTS
from traitbench.display.text import count, plain
from traitbench.display.words import PROMISE, REASONS, why
from traitbench_app.parts import scorecard
from traitbench_app.parts.bars import draw_bars
from traitbench_app.parts.chart import download_table
from traitbench_app.parts.scorecard import Poles, Samples, pair_table, signed

_OFTEN = 3  # bars; a reason that all of them share is said once, above them
_LEGEND = " · ".join(f"{dots} {level}" for level, dots in DOTS.items()) + " confidence."
_NEXT: Mapping[Tier, str] = {"Weak": "Developing", "Developing": "Solid", "Solid": "Strong"}


def draw_card(
    card: Card,
    names: Mapping[str, str],
    poles: Poles,
    *,
    main: str | None,
    key: str,
    can_pick: bool = False,
    samples: Samples = MappingProxyType({}),
) -> None:
    """Draw a bar for each trait, the main one first; `key` must be unique on the page.

    With `can_pick`, a click on a bar picks its trait (`bars.picked_bar`). The marks below a bar are the `samples`.
    """
    reasons = {each.confidence_reason for each in card.detail.values()}
    (reason,) = reasons if len(reasons) == 1 else (None,)
    once = reason == "unlike_samples" or (reason is not None and len(card.detail) >= _OFTEN)
    if once and reason:
        st.warning(REASONS[reason].sentence, icon=":material/warning:")
    drawn = scorecard.rows(card, names, poles, main=main, reasons=not once, samples=samples)
    draw_bars(drawn, key=key, can_pick=can_pick)


def draw_change(comparison: Comparison, names: Mapping[str, str], poles: Poles, *, main: str | None, key: str) -> None:
    """Draw the change from the first text to the second on each trait, the main one first."""
    draw_bars(scorecard.pair_rows(comparison, names, poles, main=main), key=key)


def draw_numbers(card: Card, names: Mapping[str, str], *, key: str, file_name: str) -> None:
    """Draw the figures of a card: its composite, its tiers and a table."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key=f"{key}.head"):
        value = f"≈ {card.composite}" if card.confidence == "low" else card.composite
        st.metric("Composite", value, width=110, help=f"Harmonic mean of {count(len(card.scores), 'trait')}.")
        with st.container(gap=None):
            st.markdown(f"{DOTS[card.confidence]}  **{card.confidence.capitalize()} confidence**")
            st.caption(_composite_in_words(card))
    st.markdown("\n".join(f"- **{plain(names.get(key, key))}** {in_words(each)}" for key, each in card.detail.items()))
    _draw_table(scorecard.table(card.detail, names), key=key, file_name=file_name, alt="Figures of the score card")
    st.caption(f"{_LEGEND} {PROMISE}")


def draw_change_numbers(comparison: Comparison, names: Mapping[str, str], *, key: str, file_name: str) -> None:
    """Draw the figures of a comparison: the composites and a table."""
    first, second = comparison.a, comparison.b
    changed = sum(each.delta != 0 for each in comparison.per_trait.values())
    with st.container(horizontal=True):
        st.metric("Composite", f"{first.composite} → {second.composite}", width=160)
        st.metric("Change", signed(comparison.improvement), width=160)
        st.metric("Traits changed", f"{changed} of {len(comparison.per_trait)}", width=160)
    _draw_table(pair_table(comparison, names), key=key, file_name=file_name, alt="Scores of both texts")


def in_words(trait: TraitScore) -> str:
    """`84 is Strong.`, `61 is Solid, 9 points below Strong.`, and why its confidence is not high."""
    if trait.label is None:
        return f"{trait.score} is uncertain. {why(trait)}".strip()
    nearly = f"Moderate confidence. {why(trait)}".strip() if trait.confidence == "moderate" else ""
    if trait.label == "Strong" or trait.headroom is None:
        return f"{trait.score} is {trait.label}. {nearly}".strip()
    points = count(trait.headroom, "point")
    return f"{trait.score} is {trait.label}, {points} below {_NEXT[trait.label]}. {nearly}".strip()


def _draw_table(table: pd.DataFrame, *, key: str, file_name: str, alt: str) -> None:
    st.dataframe(table, hide_index=True, width="stretch", placeholder="–", key=f"{key}.table", alt=alt)
    with st.container(horizontal=True, horizontal_alignment="right"):
        download_table(table, key=key, file_name=file_name)


def _composite_in_words(card: Card) -> str:
    weakest = "Confidence is that of the least certain trait."
    if card.headroom is None:
        return f"{weakest} No trait has a tier."
    if card.headroom == 0:
        return f"{weakest} Every trait with a tier is Strong."
    return f"{weakest} The largest distance to a next tier is {count(card.headroom, 'point')}."

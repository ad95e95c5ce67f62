"""A score card on a page: a bar with both poles for each trait, and the figures for experts one click away."""

from collections.abc import Mapping
from types import MappingProxyType

import pandas as pd
import streamlit as st

from traitbench.contract.scores import Card, Comparison, TraitScore
from traitbench.display.barchart import DOTS
from traitbench.display.sides import side_of
from traitbench.display.text import count, plain
from traitbench.display.words import PROMISE, REASONS, why
from traitbench_app.parts import scorecard
from traitbench_app.parts.bars import draw_bars
from traitbench_app.parts.chart import download_table
from traitbench_app.parts.scorecard import Poles, Samples, pair_table, signed

_OFTEN = 3  # bars; a reason that all of them share is said once, above them
_LEGEND = " · ".join(f"{dots} {level}" for level, dots in DOTS.items()) + " confidence."
_POLES = ("negative", "positive")


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


def draw_numbers(card: Card, names: Mapping[str, str], poles: Poles, *, key: str, file_name: str) -> None:
    """Draw the figures of a card: its composite, what each score says, and a table with the tiers."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key=f"{key}.head"):
        value = f"≈ {card.composite}" if card.confidence == "low" else card.composite
        st.metric("Composite", value, width=110, help=f"Harmonic mean of {count(len(card.scores), 'trait')}.")
        with st.container(gap=None):
            st.markdown(f"{DOTS[card.confidence]}  **{card.confidence.capitalize()} confidence**")
            st.caption("Confidence is that of the least certain trait.")
    for name, each in card.detail.items():
        st.markdown(f"- **{plain(names.get(name, name))}** {plain(in_words(each, *poles.get(name, _POLES)))}")
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


def in_words(trait: TraitScore, negative: str, positive: str) -> str:
    """`Clearly warm (84 of 100).`, and why its confidence is not high."""
    side = side_of(trait, positive_label=positive, negative_label=negative).words
    return f"{side[:1].upper()}{side[1:]} ({trait.score} of 100). {why(trait)}".rstrip()


def _draw_table(table: pd.DataFrame, *, key: str, file_name: str, alt: str) -> None:
    st.dataframe(table, hide_index=True, width="stretch", placeholder="–", key=f"{key}.table", alt=alt)
    with st.container(horizontal=True, horizontal_alignment="right"):
        download_table(table, key=key, file_name=file_name)

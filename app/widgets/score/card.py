"""A score card on a page: the composite, one bar per trait, and what each score means in words."""

from collections.abc import Mapping, Sequence

import streamlit as st

from traitbench.app.charts import dumbbell, scorecard
from traitbench.app.charts.dumbbell import Pair
from traitbench.app.shell.text import count, plain
from traitbench.app.shell.theme import PALETTE
from traitbench.app.widgets.common.chart import chart
from traitbench.barchart import DOTS
from traitbench.contract.confidence import PROMISE, REASONS, why
from traitbench.contract.scores import Card, Tier, TraitScore

_LEGEND = " · ".join(f"{dots} {level}" for level, dots in DOTS.items()) + " confidence."
_NEXT: Mapping[Tier, str] = {"Weak": "Developing", "Developing": "Solid", "Solid": "Strong"}


def draw_card(card: Card, names: Mapping[str, str], *, key: str, file_name: str) -> None:
    """Draw the composite and the chart; `key` must be unique on the page."""
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key=f"{key}.head"):
        value = f"≈ {card.composite}" if card.confidence == "low" else card.composite
        st.metric("Composite", value, width=110, help=f"Harmonic mean of {count(len(card.scores), 'trait')}.")
        with st.container(gap=None):
            st.markdown(f"{DOTS[card.confidence]}  **{card.confidence.capitalize()} confidence**")
            st.caption(_composite_in_words(card))
    chart(
        scorecard.figure(card.detail, names, PALETTE),
        alt=scorecard.alt(card.detail, names),
        table=scorecard.table(card.detail, names),
        key=key,
        file_name=file_name,
    )


def draw_words(card: Card, names: Mapping[str, str]) -> None:
    """Draw what each score means, and how to read the chart."""
    unlike = all(each.confidence_reason == "unlike_samples" for each in card.detail.values())
    if unlike:
        st.warning(REASONS["unlike_samples"].sentence, icon=":material/warning:")
    lines = [
        f"- **{plain(names.get(key, key))}** {in_words(each, reason=not unlike)}" for key, each in card.detail.items()
    ]
    st.markdown("\n".join(lines))
    st.caption(
        "Shaded steps: the trait's tiers, from Weak to Strong. Thin line: the middle half of the samples at the nearer "
        "pole. Hatched bar: low confidence, so no tier."
    )
    st.caption(f"{_LEGEND} {PROMISE}")


def in_words(trait: TraitScore, *, reason: bool = True) -> str:
    """`84 is Strong.`, `61 is Solid, 9 points below Strong.`, and why its confidence is not high."""
    if trait.label is None:
        return f"{trait.score} is uncertain. {why(trait) if reason else ''}".strip()
    nearly = f"Moderate confidence. {why(trait)}".strip() if trait.confidence == "moderate" else ""
    if trait.label == "Strong" or trait.headroom is None:
        return f"{trait.score} is {trait.label}. {nearly}".strip()
    points = count(trait.headroom, "point")
    return f"{trait.score} is {trait.label}, {points} below {_NEXT[trait.label]}. {nearly}".strip()


def pairs(a: Card, b: Card, names: Mapping[str, str]) -> list[Pair]:
    """Both scores of each trait that is on both cards."""
    return [
        Pair(
            names.get(key, key),
            a.scores[key],
            b.scores[key],
            sure="low" not in (a.detail[key].confidence, b.detail[key].confidence),
        )
        for key in a.scores
        if key in b.scores
    ]


def draw_pairs(rows: Sequence[Pair], labels: tuple[str, str], *, key: str, file_name: str, what: str = "Trait") -> None:
    """Draw two scores per row and the change, in an order that the user chooses."""
    by = st.segmented_control("Sort by", dumbbell.ORDERS, default="change", required=True, key=f"{key}.order")
    sorted_rows = dumbbell.ordered(rows, by or "change")
    chart(
        dumbbell.figure(sorted_rows, labels, PALETTE),
        alt=dumbbell.alt(sorted_rows, labels),
        table=dumbbell.table(sorted_rows, labels, rows=what),
        key=key,
        file_name=file_name,
    )


def _composite_in_words(card: Card) -> str:
    weakest = "Confidence is that of the least certain trait."
    if card.headroom is None:
        return f"{weakest} No trait has a tier."
    if card.headroom == 0:
        return f"{weakest} Every trait with a tier is Strong."
    return f"{weakest} The largest distance to a next tier is {count(card.headroom, 'point')}."

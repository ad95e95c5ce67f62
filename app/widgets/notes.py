"""What stands below figures: which traits nobody defined, and why a figure is missing."""

from collections.abc import Sequence

import streamlit as st

from app.charts.intervals import Series
from app.text import plain
from app.theme import FOUND_SIGN
from core.contract.traits import Trait


def found_note(traits: Sequence[Trait]) -> None:
    """Say what the sign of discovery means, where a trait bears it."""
    if any(trait.kind == "intrinsic" for trait in traits):
        st.caption(
            f"{FOUND_SIGN} found by discovery in the samples, not given by a person: what it measures was fixed then, "
            "and a training only sets where its scores and tiers lie."
        )


def missing_note(figures: Sequence[Series]) -> None:
    """Name the traits that have no figure and say why, in the service's words."""
    reasons = [
        f"- **{plain(measured.name)}**{_of(one, figures)}: {plain(measured.measured_on)}"
        for one in figures
        for measured in one.figures
        if measured.value is None
    ]
    if reasons:
        st.markdown("\n".join(["No figure, which is not a bad one but none:", *reasons]))


def _of(one: Series, figures: Sequence[Series]) -> str:
    return f" in {one.label}" if len(figures) > 1 else ""

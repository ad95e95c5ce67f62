"""How well versions tell poles apart, on a page: the figures, what they were measured on, and why one is missing."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from traitbench.app.charts import intervals
from traitbench.app.charts.intervals import Series
from traitbench.app.figures import measured_on, names_of
from traitbench.app.text import plain
from traitbench.app.theme import FOUND_SIGN, PALETTE
from traitbench.app.widgets.chart import chart
from traitbench.contract.traits import Trait

_WAYS_OUT = {
    "synthesised": "Synthesized samples teach a trait and never judge it. Two samples at each pole that are not, "
    "feedback on scores included, give a figure.",
    "nobody labelled": "Feedback on its scores labels texts: two at each pole give a figure.",
}


def draw_quality(
    figures: Sequence[Series], traits: Sequence[Trait], *, key: str, file_name: str, table: pd.DataFrame | None = None
) -> None:
    """One version, or two to be set against each other; `table` is what is shown and saved instead of the chart."""
    if any(measured.value is not None for one in figures for measured in one.figures):
        chart(
            intervals.figure(figures, PALETTE),
            alt=intervals.alt(figures),
            table=intervals.table(figures) if table is None else table,
            key=key,
            file_name=file_name,
        )
        overlap = " Intervals that overlap say: the difference may be chance." if len(figures) > 1 else ""
        st.caption(
            "AUROC: how often a sample of the positive pole scores above one of the negative pole. 0.5 is chance, 1 is "
            "perfect; the line is the 95 % interval. No sample was scored by parameters that had seen it."
            f"{overlap} {measured_on(figures[-1])}"
        )
    _draw_missing(figures[-1], traits)
    found_note(traits)


def found_note(traits: Sequence[Trait]) -> None:
    """Say what the sign of discovery means, where a trait bears it."""
    if any(trait.kind == "intrinsic" for trait in traits):
        st.caption(
            f"{FOUND_SIGN} found by discovery in the samples, not given by a person: what it measures was fixed then, "
            "and a training only sets where its scores and tiers lie."
        )


def _draw_missing(figures: Series, traits: Sequence[Trait]) -> None:
    """Name the traits of a version that have no figure, and say why."""
    by_reason: dict[str, list[str]] = {}
    for measured in figures.figures:
        if measured.value is None:
            reason = measured.measured_on.removeprefix("not measured: ").partition(";")[0]
            by_reason.setdefault(reason, []).append(_name(measured.name, traits))
    if not by_reason:
        return
    lines = [f"- {', '.join(names)}: {plain(reason)}. {_way_out(reason)}" for reason, names in by_reason.items()]
    st.markdown("\n".join([f"**Not measured in {figures.label}**, which is neither good nor bad:", *lines]))


def _name(name: str, traits: Sequence[Trait]) -> str:
    """A trait by its name, with what discovery measured of it, if that is where it is from."""
    names = names_of(traits)
    trait = next((trait for trait in traits if names[trait.key] == name), None)
    apart = trait.discrimination if trait else None
    return f"**{plain(name)}**" + (f" ({apart:.2f} by discovery's own measure)" if apart is not None else "")


def _way_out(reason: str) -> str:
    return next((words for sign, words in _WAYS_OUT.items() if sign in reason), "")

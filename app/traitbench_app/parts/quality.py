"""AUROC by trait on a page: the figures, what they were measured on, and why one is missing."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from traitbench.contract.metrics import NotMeasured
from traitbench.contract.rounding import in_decimals
from traitbench.contract.traits import Trait
from traitbench.display.charts import auroc
from traitbench.display.charts.auroc import Series
from traitbench.display.colours import DISCOVERED_SIGN, PALETTE
from traitbench.display.text import plain
from traitbench_app.parts.chart import chart
from traitbench_app.parts.version_figures import measured_on, names_of

_WAYS_OUT: Mapping[NotMeasured | None, str] = {
    "only_synthesized": "Synthesized samples are never used for evaluation. Add two other samples at each pole, for "
    "example by feedback on scores.",
    "unlabelled": "Give feedback on scores: two texts at each pole are enough.",
}


def draw_quality(
    figures: Sequence[Series], traits: Sequence[Trait], *, key: str, file_name: str, table: pd.DataFrame | None = None
) -> None:
    """Draw the figures of one version or of two; `table` replaces the chart's own table and its download."""
    if any(measured.value is not None for one in figures for measured in one.figures):
        chart(
            auroc.figure(figures, PALETTE),
            alt=auroc.alt(figures),
            table=auroc.table(figures) if table is None else table,
            key=key,
            file_name=file_name,
        )
        chance = " If one AUROC is inside the interval of the other, the difference may be chance."
        note = chance if len(figures) > 1 else ""
        st.caption(
            "AUROC: how often a positive sample scores above a negative one (0.5 is chance, 1 is perfect). Lines: 95 % "
            f"intervals. Each sample is scored by a fit that did not use it.{note} {measured_on(figures[-1])}"
        )
    _draw_missing(figures[-1], traits)
    discovered_note(traits)


def discovered_note(traits: Sequence[Trait]) -> None:
    """Explain the sign of discovered traits, if the model has any."""
    if any(trait.kind == "intrinsic" for trait in traits):
        st.caption(
            f"{DISCOVERED_SIGN} discovered trait: its axis is fixed, and training only calibrates its scores and tiers."
        )


def _draw_missing(figures: Series, traits: Sequence[Trait]) -> None:
    """Draw the traits of a version that have no figure, and why."""
    by_reason: dict[tuple[str, NotMeasured | None], list[str]] = {}
    for measured in figures.figures:
        if measured.value is None:
            reason = measured.measured_on.removeprefix("not measured: ").partition(";")[0]
            by_reason.setdefault((reason, measured.missing), []).append(_name(measured.name, traits))
    if not by_reason:
        return
    lines = [
        f"- {', '.join(names)}: {plain(reason)}. {_WAYS_OUT.get(missing, '')}"
        for (reason, missing), names in by_reason.items()
    ]
    st.markdown("\n".join([f"**Not measured in {figures.label}:**", *lines]))


def _name(name: str, traits: Sequence[Trait]) -> str:
    """The name of a trait, with discovery's own figure if it is a discovered one."""
    names = names_of(traits)
    trait = next((trait for trait in traits if names[trait.key] == name), None)
    apart = trait.discrimination if trait else None
    return f"**{plain(name)}**" + (f" (discrimination {in_decimals(apart)})" if apart is not None else "")

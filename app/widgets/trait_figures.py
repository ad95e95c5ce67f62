"""One trait of a version, or of two: how far its scores can be trusted, and what would make them better."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from traitbench.app.charts.intervals import Measured
from traitbench.app.text import plain, shortened
from traitbench.app.widgets.chart import download_table, only_our_csv
from traitbench.app.widgets.confusion import draw_confusion
from traitbench.app.widgets.learning_curve import curve_of, draw_curves, draw_outlook
from traitbench.app.widgets.search_report import draw_trait_search
from traitbench.contract.metrics import TraitMetrics
from traitbench.contract.models import Model
from traitbench.contract.traits import Trait

Told = tuple[str, TraitMetrics]
"""A version's label and what it says of the trait."""

_HELP = {
    "AUROC": "How often a sample of the positive pole scores above one of the negative pole. 0.5 is chance, 1 perfect.",
    "Brier": "Mean square of the distance between score and quality: 0 is perfect, 0.25 is 50 for every text.",
    "Calibration error": "How far a score of 80 is from being right in 80 of 100 cases, poles weighing the same: "
    "0 is perfect.",
    "Cross-entropy": "How surprised the scores are by the qualities: 0 is perfect, 0.69 is 50 for every text.",
}
_NAME = 40


def pick_trait(names: Mapping[str, str]) -> str:
    """The trait to look at, which may stand in the link; without a choice where there is one only."""
    if len(names) == 1:
        return next(iter(names))
    return str(
        st.selectbox(
            "Trait",
            list(names),
            format_func=lambda key: names.get(key, key),
            key="trait",
            bind="query-params",
            width=320,
        )
    )


def draw_trait(model: Model, trait: Trait | None, told: Sequence[Told], *, key: str, file_name: str) -> None:
    """Numbers, curve, tiers and search of one version, or the numbers, curves and tiers of two; the newest last."""
    newest = told[-1][1]
    for label, each in told:
        if each.why_not:
            st.markdown(f"**Not measured in {label}:** {plain(each.why_not)}. So there is no curve and no table of it.")
    if any(not each.why_not for _, each in told):
        if len(told) == 1:
            _draw_numbers(newest)
        else:
            _draw_differences(told, key=f"{key}.differences", file_name=f"{file_name}-differences")
        left, right = st.columns(2, gap="large")
        with left:
            _draw_curve(model, trait, told, key=f"{key}.curve", file_name=f"{file_name}-curve")
        with right:
            _draw_tiers(trait, told, key=f"{key}.tiers", file_name=f"{file_name}-tiers")
    if len(told) == 1 and (newest.search or newest.labels):
        st.markdown("**What the search tried**")
        draw_trait_search(newest)


def _draw_numbers(figures: TraitMetrics) -> None:
    interval = Measured("", figures.auroc, figures.auroc_interval, "").text.partition(" ")[2].strip("()")
    with st.grid(4, min_column_width=150):
        for name, value, beside in (
            ("AUROC", figures.auroc, interval),
            ("Brier", figures.brier, ""),
            ("Calibration error", figures.calibration_error, ""),
            ("Cross-entropy", figures.cross_entropy, ""),
        ):
            shown = "–" if value is None else f"{value:.2f}" if name == "AUROC" else f"{value:.3f}"
            st.metric(
                name,
                shown,
                delta=beside or None,
                delta_color="off",
                delta_arrow="off",
                help=_HELP[name],
                border=True,
                height="stretch",
            )
    st.caption(f"Measured on: {plain(figures.measured_on or 'not said')}.")


def _draw_differences(told: Sequence[Told], *, key: str, file_name: str) -> None:
    table = differences(told)
    only_our_csv(f"{key}.table")
    number = st.column_config.NumberColumn(format="%.3f")
    st.dataframe(
        table,
        hide_index=True,
        width="stretch",
        key=f"{key}.table",
        placeholder="–",
        column_config={
            **{label: number for label, _ in told},
            "Change": st.column_config.NumberColumn(format="%+.3f"),
        },
    )
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption("Of AUROC more is better; of Brier, calibration error and cross-entropy less.", width="stretch")
        download_table(table, key=key, file_name=file_name)


def differences(told: Sequence[Told]) -> pd.DataFrame:
    """One row a figure, a column a version, the change in the last one."""
    rows = (
        ("AUROC", [each.auroc for _, each in told]),
        ("AUROC, 95 % from", [each.auroc_interval[0] if each.auroc_interval else None for _, each in told]),
        ("AUROC, 95 % to", [each.auroc_interval[1] if each.auroc_interval else None for _, each in told]),
        ("Brier", [each.brier for _, each in told]),
        ("Calibration error", [each.calibration_error for _, each in told]),
        ("Cross-entropy", [each.cross_entropy for _, each in told]),
        ("Forecast AUROC", [each.forecast.auroc if each.forecast else None for _, each in told]),
        ("Weight of the labels", [each.labels.share if each.labels else None for _, each in told]),
    )
    labels = [label for label, _ in told]
    return pd.DataFrame(
        [
            {"Figure": name, **dict(zip(labels, values, strict=True)), "Change": _change(values)}
            for name, values in rows
            if any(value is not None for value in values)
        ],
        columns=["Figure", *labels, "Change"],
    )


def _change(values: Sequence[float | None]) -> float | None:
    first, last = values[0], values[-1]
    return None if first is None or last is None else last - first


def _draw_curve(model: Model, trait: Trait | None, told: Sequence[Told], *, key: str, file_name: str) -> None:
    st.markdown("**What more samples bring**")
    newest = told[-1][1]
    if any(each.curve for _, each in told):
        draw_curves([curve_of(label, each) for label, each in told], key=key, file_name=file_name)
    elif not newest.why_not:
        st.caption(_why_no_curve(newest))
    if trait:
        draw_outlook(model, trait, newest)


def _why_no_curve(figures: TraitMetrics) -> str:
    if figures.curve is None:
        return "Not drawn: this version was trained before there were learning curves. A fresh search draws one."
    return "Not drawn: there are too few samples to leave a part of them out and learn from the rest."


def _draw_tiers(trait: Trait | None, told: Sequence[Told], *, key: str, file_name: str) -> None:
    st.markdown("**Where the samples land**")
    known = [(label, each.confusion) for label, each in told if each.confusion]
    poles = (trait.positive_label, trait.negative_label) if trait else ("positive", "negative")
    if known:
        named = (shortened(poles[0], _NAME), shortened(poles[1], _NAME))
        draw_confusion(known, named, key=key, file_name=file_name)
    elif not told[-1][1].why_not:
        st.caption("Not counted in this version: it was trained before there was such a table.")

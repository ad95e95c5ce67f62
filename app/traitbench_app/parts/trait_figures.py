"""The figures of one trait in one version or two: how reliable its scores are, and what would improve them."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd
import streamlit as st

from traitbench.contract.metrics import HeldOutFigures, Pole, TraitMetrics
from traitbench.contract.models import Model
from traitbench.contract.rounding import in_decimals
from traitbench.contract.scores import Confidence, Tier
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.charts.auroc import Measured
from traitbench.display.text import plain, shortened
from traitbench_app.parts.cell_texts import draw_cell_texts
from traitbench_app.parts.chart import download_table
from traitbench_app.parts.confusion import draw_confusion
from traitbench_app.parts.training_report import curve_of, draw_curves, draw_outlook
from traitbench_app.parts.version_figures import on_screen

_Labelled = tuple[str, TraitMetrics]
"""A version's label, and its figures of the trait."""

_HELP = {
    "AUROC": "How often a positive sample scores above a negative one. 0.5 is chance, 1 is perfect.",
    "Brier": "Mean squared difference between score and quality. 0 is perfect; a constant score of 50 gets 0.25.",
    "Calibration error": "How far scores are from actual frequencies: of samples that score 80, 80 in 100 should be "
    "positive. Both poles count the same. 0 is perfect.",
    "Cross-entropy": "Penalty for scores that are confident and wrong, in nats. 0 is perfect; a constant score of 50 "
    "gets 0.69.",
}
_TEST_HELP = {
    "AUROC, test samples": _HELP["AUROC"],
    "Wrong side": "The share of test samples that score on the other pole's side of the middle.",
    "Brier, test samples": _HELP["Brier"],
    "Must-pass": "How many of the samples that must pass score on their own pole's side.",
}
_NAME = 40


def pick_trait(names: Mapping[str, str]) -> str:
    """The trait to show, which is part of the link; draws no choice if there is only one."""
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


def draw_trait(
    model: Model,
    trait: Trait | None,
    versions: Sequence[_Labelled],
    *,
    key: str,
    file_name: str,
    shown: Version | None = None,
) -> None:
    """Draw the figures of a trait in one version, or compare them in two versions, the newest last.

    With `shown`, the version of the figures, the cells of its table of tiers open their texts.
    """
    newest = versions[-1][1]
    for label, each in versions:
        if each.why_not:
            st.markdown(f"**Not measured in {label}:** {plain(each.why_not)}.")
    if any(not each.why_not for _, each in versions):
        left, right = st.columns(2, gap="large")
        with left:
            opened = _draw_tiers(
                trait, versions, key=f"{key}.tiers", file_name=f"{file_name}-tiers", opens=shown is not None
            )
        with right:
            _draw_curve(model, trait, versions, key=f"{key}.curve", file_name=f"{file_name}-curve")
        if opened and shown and trait:
            draw_cell_texts(model, shown, trait, *opened, key=f"{key}.texts")
        if len(versions) == 1:
            _draw_test_numbers(newest.test)
            _draw_numbers(newest)
        else:
            _draw_differences(versions, key=f"{key}.differences", file_name=f"{file_name}-differences")


def _draw_test_numbers(test: HeldOutFigures | None) -> None:
    """Draw the figures on test samples, which come first; nothing if there are none."""
    if test is None:
        return
    interval = Measured("", test.auroc, test.auroc_interval, "").text.partition(" ")[2].strip("()")
    passed = f"{test.must_pass - test.must_pass_failed:,} of {test.must_pass:,}" if test.must_pass else "–"
    with st.grid(4, min_column_width=150):
        for name, shown, note in (
            ("AUROC, test samples", "–" if test.auroc is None else in_decimals(test.auroc), interval),
            ("Wrong side", "–" if test.error is None else f"{test.error:.0%}", ""),
            ("Brier, test samples", "–" if test.brier is None else f"{test.brier:.3f}", ""),
            ("Must-pass", passed, ""),
        ):
            _draw_number(name, shown, note, _TEST_HELP[name])
    st.caption(f"Measured on: {plain(test.measured_on or 'unknown')}. Out of fold:")


def _draw_numbers(figures: TraitMetrics) -> None:
    interval = Measured("", figures.auroc, figures.auroc_interval, "").text.partition(" ")[2].strip("()")
    with st.grid(4, min_column_width=150):
        for name, value, note in (
            ("AUROC", figures.auroc, interval),
            ("Brier", figures.brier, ""),
            ("Calibration error", figures.calibration_error, ""),
            ("Cross-entropy", figures.cross_entropy, ""),
        ):
            shown = "–" if value is None else in_decimals(value) if name == "AUROC" else f"{value:.3f}"
            _draw_number(name, shown, note, _HELP[name])
    st.caption(f"Measured on: {plain(figures.measured_on or 'unknown')}.")


def _draw_number(name: str, shown: str, note: str, explained: str) -> None:
    st.metric(
        name,
        shown,
        delta=note or None,
        delta_color="off",
        delta_arrow="off",
        help=explained,
        border=True,
        height="stretch",
    )


def _draw_differences(versions: Sequence[_Labelled], *, key: str, file_name: str) -> None:
    table = differences(versions)
    number = st.column_config.NumberColumn(format="%.3f")
    st.dataframe(
        _on_screen(table, [label for label, _ in versions]),
        hide_index=True,
        width="stretch",
        key=f"{key}.table",
        placeholder="–",
        column_config={
            **{label: number for label, _ in versions},
            "Change": st.column_config.NumberColumn(format="%+.3f"),
        },
    )
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(
            "Higher is better for AUROC and for high confidence. Lower is better for errors and cross-entropy.",
            width="stretch",
        )
        download_table(table, key=key, file_name=file_name)


def _on_screen(table: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """The table with its AUROCs rounded as everywhere; the other figures keep their digits."""
    areas = table["Figure"].str.contains("AUROC")
    return pd.concat([on_screen(table[areas], labels, 3), table[~areas]]).loc[table.index]


def differences(versions: Sequence[_Labelled]) -> pd.DataFrame:
    """One row per figure, one column per version, and the change in the last column."""
    tests = [each.test for _, each in versions]
    sets = {each.test_set if each else None for each in tests}
    same = len(sets) == 1 and None not in sets
    rows = (
        *(_test_rows(tests) if same else ()),
        ("AUROC", [each.auroc for _, each in versions]),
        ("AUROC, 95 % from", [each.auroc_interval[0] if each.auroc_interval else None for _, each in versions]),
        ("AUROC, 95 % to", [each.auroc_interval[1] if each.auroc_interval else None for _, each in versions]),
        ("Brier", [each.brier for _, each in versions]),
        ("Calibration error", [each.calibration_error for _, each in versions]),
        ("Cross-entropy", [each.cross_entropy for _, each in versions]),
        *(_shares(level, [each for _, each in versions]) for level in ("high", "moderate")),
        ("Forecast AUROC", [each.forecast.auroc if each.forecast else None for _, each in versions]),
        ("Label weight", [each.labels.share if each.labels else None for _, each in versions]),
    )
    labels = [label for label, _ in versions]
    return pd.DataFrame(
        [
            {"Figure": name, **dict(zip(labels, values, strict=True)), "Change": _change(values)}
            for name, values in rows
            if any(value is not None for value in values)
        ],
        columns=["Figure", *labels, "Change"],
    )


def _test_rows(tests: Sequence[HeldOutFigures | None]) -> Iterator[tuple[str, list[float | None]]]:
    """The figures on test samples, for versions that were measured on the same ones."""
    yield "AUROC on test samples", [each.auroc if each else None for each in tests]
    yield "Test samples on the wrong side, share", [each.error if each else None for each in tests]
    yield "Brier on test samples", [each.brier if each else None for each in tests]


def _shares(level: Confidence, versions: Sequence[TraitMetrics]) -> tuple[str, list[float | None]]:
    """The share of held-out samples with this confidence in each version; None if it was not measured."""
    shares: list[float | None] = []
    for each in versions:
        known = each.confidence or {}
        whole = sum(one.samples for one in known.values())
        shares.append(known[level].samples / whole if whole and level in known else None)
    return f"{level.capitalize()} confidence, share of samples", shares


def _change(values: Sequence[float | None]) -> float | None:
    first, last = values[0], values[-1]
    return None if first is None or last is None else last - first


def _draw_curve(model: Model, trait: Trait | None, versions: Sequence[_Labelled], *, key: str, file_name: str) -> None:
    st.markdown("**Gain from more samples**")
    newest = versions[-1][1]
    if any(each.curve for _, each in versions):
        draw_curves([curve_of(label, each) for label, each in versions], key=key, file_name=file_name)
    elif not newest.why_not:
        st.caption(_why_no_curve(newest))
    if trait:
        draw_outlook(model, trait, newest)


def _why_no_curve(figures: TraitMetrics) -> str:
    if figures.curve is None:
        return "No learning curve was measured. Refit the model to get one."
    return "No learning curve: there are too few samples."


def _draw_tiers(
    trait: Trait | None, versions: Sequence[_Labelled], *, key: str, file_name: str, opens: bool
) -> tuple[Pole, Tier] | None:
    """Draw the tables and return the open cell, if any."""
    st.markdown("**Held-out samples by tier**")
    known = [(label, each.confusion) for label, each in versions if each.confusion]
    poles = (trait.positive_label, trait.negative_label) if trait else ("positive", "negative")
    if known:
        named = (shortened(poles[0], _NAME), shortened(poles[1], _NAME))
        opens = opens and trait is not None and trait.kind == "extrinsic"
        return draw_confusion(known, named, key=key, file_name=file_name, opens=opens)
    if not versions[-1][1].why_not:
        st.caption("No table was measured. Refit the model to get one.")
    return None

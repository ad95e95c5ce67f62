"""The figures of one trait in one version or two: how reliable its scores are, and what would improve them."""

from collections.abc import Mapping

import streamlit as st

from traitbench.contract.metrics import HeldOutFigures, Pole, TraitMetrics
from traitbench.contract.models import Model
from traitbench.contract.rounding import in_decimals
from traitbench.contract.scores import Tier
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.charts.auroc import Measured
from traitbench.display.text import plain, shortened
from traitbench_app.parts.cell_texts import draw_cell_texts
from traitbench_app.parts.confusion import draw_confusion
from traitbench_app.parts.scored_samples import pole_in_words
from traitbench_app.parts.training_report import curve_of, draw_curves, draw_outlook

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


def draw_trait(model: Model, trait: Trait | None, shown: Version, *, own: str, key: str, file_name: str) -> None:
    """Draw the figures of the trait with the key `own` in a version; the cells of its tiers open their texts."""
    figures = shown.metrics.traits[own]
    if figures.why_not:
        st.markdown(f"**Not measured in v{shown.version_no}:** {plain(figures.why_not)}.")
    else:
        left, right = st.columns(2, gap="large")
        with left:
            opened = _draw_tiers(trait, figures, key=f"{key}.tiers", file_name=f"{file_name}-tiers")
        with right:
            _draw_curve(model, trait, shown, figures, key=f"{key}.curve", file_name=f"{file_name}-curve")
        if opened and trait:
            pole, tier = opened
            positive = pole == "positive"
            draw_cell_texts(
                model, shown, trait, lambda each: (each.positive, each.tier) == (positive, tier),
                title=f"**{pole_in_words(positive, trait)} in tier {tier}**", key=f"{key}.texts",
            )  # fmt: skip
        _draw_test_numbers(figures.test)
        _draw_numbers(figures)


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


def _draw_curve(
    model: Model, trait: Trait | None, shown: Version, figures: TraitMetrics, *, key: str, file_name: str
) -> None:
    st.markdown("**Gain from more samples**")
    if figures.curve:
        draw_curves([curve_of(f"v{shown.version_no}", figures)], key=key, file_name=file_name)
    else:
        st.caption(_why_no_curve(figures))
    if trait:
        draw_outlook(model, trait, figures)


def _why_no_curve(figures: TraitMetrics) -> str:
    if figures.curve is None:
        return "No learning curve was measured. Train again to get one."
    return "No learning curve: there are too few samples."


def _draw_tiers(trait: Trait | None, figures: TraitMetrics, *, key: str, file_name: str) -> tuple[Pole, Tier] | None:
    """Draw the table and return the open cell, if any."""
    st.markdown("**Held-out samples by tier**")
    if not figures.confusion:
        st.caption("No table was measured. Train again to get one.")
        return None
    poles = (trait.positive_label, trait.negative_label) if trait else ("positive", "negative")
    opens = trait is not None and trait.kind == "extrinsic"
    named = (shortened(poles[0], _NAME), shortened(poles[1], _NAME))
    return draw_confusion(figures.confusion, named, key=key, file_name=file_name, opens=opens)

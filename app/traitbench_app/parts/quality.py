"""How good a version is: AUROC on test and held-out samples, how sure its scores are, and what faster modes cost."""

from collections.abc import Mapping, Sequence
from typing import get_args

import pandas as pd
import streamlit as st

from traitbench.contract.metrics import Figures, NotMeasured, TraitMetrics
from traitbench.contract.models import Model
from traitbench.contract.rounding import in_decimals
from traitbench.contract.scores import Confidence, ConfidenceReason
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display import held_out
from traitbench.display.barchart import DOTS
from traitbench.display.charts import auroc
from traitbench.display.charts.auroc import Series
from traitbench.display.colours import DISCOVERED_SIGN, PALETTE
from traitbench.display.quality import Evidence
from traitbench.display.text import count, plain
from traitbench.display.words import PROMISE, REASONS
from traitbench_app.parts.chart import chart, download_table
from traitbench_app.parts.version_figures import (
    Names,
    label,
    measured_on,
    names_of,
    on_screen,
    pair_on_tests,
    series_of_tests,
)
from traitbench_app.shell.navigation import PageName, page_link
from traitbench_app.shell.permission import why_read_only

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


_OUT_OF_FOLD = "**Out of fold**"


def draw_tests(version: Version, names: Names, *, before: Version | None = None, key: str, file_name: str) -> bool:
    """Draw the figures of a version on its test samples; return whether there are any.

    An earlier version is drawn beside it for the traits that were measured on the same samples.
    """
    tests = held_out.by_trait(version.metrics)
    if not tests:
        return False
    series, left_out = pair_on_tests(before, version, names) if before else ([series_of_tests(version, names)], "")
    st.markdown(_summary(version))
    if any(measured.value is not None for measured in series[-1].figures):
        _draw_chart(series, key=key, file_name=file_name)
    if left_out:
        st.caption(f":material/link_off: {left_out}")
    if leaks := _left_out(version, names):
        st.caption(f":material/warning: {leaks}")
    st.markdown(_OUT_OF_FOLD)
    return True


def _summary(version: Version) -> str:
    tests = held_out.by_trait(version.metrics).values()
    headline = held_out.headline(version.metrics)
    said = [f"**{headline[0].upper()}{headline[1:]}.**" if headline else "**The test samples could not be measured.**"]
    measured = [each for each in tests if each.error is not None]
    if wrong := round(sum((each.error or 0.0) * each.samples for each in measured)):
        said.append(f"{wrong:,} of {sum(each.samples for each in measured):,} score on the wrong side of the middle.")
    must = held_out.must_pass(version.metrics)
    failed = any(each.must_pass_failed for each in tests)
    if must:
        said.append(f"{':red[' if failed else ''}{must[0].upper()}{must[1:]}{']' if failed else ''}.")
    return " ".join(said)


def _draw_chart(series: Sequence[Series], *, key: str, file_name: str) -> None:
    chart(
        auroc.figure(series, PALETTE),
        alt=f"On test samples. {auroc.alt(series)}",
        table=auroc.table(series),
        key=f"{key}.tests",
        file_name=f"{file_name}-tests",
    )
    st.caption(
        "AUROC on test samples: how often a positive one scores above a negative one (0.5 is chance, 1 is perfect). "
        "Lines: 95 % intervals. No version learns from these samples."
    )


def _left_out(version: Version, names: Names) -> str:
    """Which test samples were not measured, because training nearly knew them."""
    parts = [
        f"{count(each.left_out, 'test sample')} of {plain(names.get(key, key))}"
        for key, each in held_out.by_trait(version.metrics).items()
        if each.left_out
    ]
    return (
        f"Left out, because synthesized or nearly the same as a training sample: {', '.join(parts)}." if parts else ""
    )


def draw_shortcuts(evidence: Evidence, traits: Sequence[Trait]) -> None:
    """Draw what alone tells the poles apart, with a link to the check that names it; nothing without a shortcut."""
    sentences = evidence.warnings(traits)
    if sentences:
        st.warning("\n\n".join(map(plain, sentences)), icon=":material/warning:")
        page_link("samples", "See what it is", icon=":material/stethoscope:", task="Check")


_LOW_WAYS_OUT: Mapping[ConfidenceReason, tuple[PageName, str]] = {
    "few_samples": ("score", "Give feedback on scores to add samples"),
    "not_separable": ("samples", "Read the samples of this model"),
}


def draw_confidence(model: Model, version: Version, names: Names, *, key: str, file_name: str) -> None:
    """Draw a row per trait, and what is wrong with traits of which no score is sure."""
    table = confidence_table(version, names)
    if table.empty:
        return
    st.dataframe(
        _on_screen(table),
        hide_index=True,
        width="stretch",
        key=f"{key}.table",
        placeholder="–",
        alt="Held-out samples by confidence",
    )
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(
            "Held-out samples by confidence, and the share of them on the correct side.",
            width="stretch",
        )
        download_table(table, key=key, file_name=file_name)
    st.caption(f"{PROMISE} Each sample is scored by a fit that did not use it.")
    _draw_low(model, version, names, key=key)


def _draw_low(model: Model, version: Version, names: Names, *, key: str) -> None:
    by_reason = low_everywhere(version)
    if not by_reason:
        return
    with st.container(border=True, key=f"{key}.low"):
        st.markdown(
            "\n".join(
                [
                    f":material/warning: **{label(version)} has traits with low confidence for every text:**",
                    "",
                    *(
                        f"- **{', '.join(plain(names.get(trait, trait)) for trait in traits)}:** {_what(reason)}"
                        for reason, traits in by_reason.items()
                    ),
                ]
            )
        )
        if why_read_only(model) or model.zero_data_retention:
            return
        with st.container(horizontal=True):
            for reason in by_reason:
                if reason in _LOW_WAYS_OUT:
                    page_link(*_LOW_WAYS_OUT[reason])


def _what(reason: ConfidenceReason) -> str:
    return REASONS[reason].trait or REASONS[reason].sentence


def _on_screen(table: pd.DataFrame) -> pd.DataFrame:
    """The table with the share of right ones beside each count."""
    shown: dict[str, Sequence[str | None]] = {"Trait": table["Trait"].tolist()}
    for level, dots in DOTS.items():
        counts, right = table[level.capitalize()], table[f"{level.capitalize()}, right"]
        shown[f"{dots} {level.capitalize()}"] = [
            _share(samples, rights) for samples, rights in zip(counts, right, strict=True)
        ]
    return pd.DataFrame(shown)


def _share(samples: float | None, right: float | None) -> str | None:
    """`83 (98 % right)`; rounded down, so that 100 % means all of them."""
    if samples is None or right is None or pd.isna(samples):
        return None
    return f"{int(samples):,} ({int(100 * right / samples)} % right)" if samples else "0"


LEVELS: Sequence[Confidence] = get_args(Confidence)


def low_everywhere(version: Version) -> dict[ConfidenceReason, list[str]]:
    """Return the keys of the traits that have low confidence for every text, by the reason."""
    traits: dict[ConfidenceReason, list[str]] = {}
    for key, each in version.metrics.traits.items():
        if each.confidence_reason:
            traits.setdefault(each.confidence_reason, []).append(key)
    return traits


def confidence_table(version: Version, names: Names) -> pd.DataFrame:
    """Return how many held-out samples have each confidence and how many of these are right, one row per trait."""
    return pd.DataFrame(
        [{"Trait": names.get(key, key), **_counts(each)} for key, each in version.metrics.traits.items()]
    )


def _counts(figures: TraitMetrics) -> dict[str, int | None]:
    known = figures.confidence or {}
    cells: dict[str, int | None] = {}
    for level in LEVELS:
        each = known.get(level)
        cells[level.capitalize()] = each.samples if each else None
        cells[f"{level.capitalize()}, right"] = each.right if each else None
    return cells


FULL = "full"
MODE_NAMES: Mapping[str, str] = {
    FULL: "Full",
    "layer4": "Layer 4 only",
    "layer6": "Layer 6 only",
    "static": "Static",
}
"""The names of the modes on screen; a mode without one is shown by its key."""

_SPEEDS: Mapping[str, Mapping[str, float]] = {
    "multilingual-e5-l6f-int8-1": {"layer6": 2.1, "static": 40.0},
    "full-l4fws-int8-1": {"layer4": 1.7, "static": 15.0},
}
"""By encoder: texts per second of a batch in each mode, relative to full mode (20-word texts over HTTP)."""


def draw_modes(
    versions: Sequence[tuple[str, Mapping[str, TraitMetrics]]],
    names: Mapping[str, str],
    speeds: Mapping[str, float],
    *,
    key: str,
    file_name: str,
) -> None:
    """Draw the modes of each version (label, figures by trait), full first; nothing if no version has modes."""
    if not any(each.modes for _, figures in versions for each in figures.values()):
        return
    for name, figures in versions:
        before = f"**{name}**: " if len(versions) > 1 else ""
        prices = [sentence for mode in modes_of(figures) if (sentence := price(figures, mode, speeds))]
        if prices:
            st.markdown("\n".join(f"- {before}{sentence}" for sentence in prices))
    rows = pd.concat([modes_table(name, figures, names) for name, figures in versions], ignore_index=True)
    grid = f"{key}.table"
    number = st.column_config.NumberColumn(format="%.3f")
    shown = on_screen(rows, ("AUROC", "95 % from", "95 % to"), 3)
    st.dataframe(
        shown if len(versions) > 1 else shown.drop(columns="Version"),
        hide_index=True,
        width="stretch",
        key=grid,
        placeholder="–",
        column_config={
            "AUROC": number,
            "Against full": st.column_config.NumberColumn(
                format="%+.3f", help="AUROC of the mode minus AUROC of full mode."
            ),
            "95 % from": number,
            "95 % to": number,
            "Brier": number,
            "Calibration error": number,
        },
    )
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(
            "A faster mode uses a smaller part of the encoder. All modes are measured on the same samples; speeds are "
            "for batches of 20-word texts.",
            width="stretch",
        )
        download_table(rows, key=key, file_name=file_name)


def speeds(version: Version) -> dict[str, float]:
    """The speed of each mode relative to full mode, for the encoder of the version; empty if not measured."""
    encoder = version.metrics.encoder
    return dict(_SPEEDS.get(encoder.id or "", {})) if encoder else {}


def modes_of(figures: Mapping[str, TraitMetrics]) -> list[str]:
    """The modes other than full, in order of first appearance."""
    return list(dict.fromkeys(mode for each in figures.values() for mode in each.modes if mode != FULL))


_WORTH = ((-0.005, "as good"), (-0.02, "a little worse"), (-1.0, "worse"))
"""The least difference of the AUROC, and what it means in words."""


def price(figures: Mapping[str, TraitMetrics], mode: str, speeds: Mapping[str, float]) -> str:
    """`**Layer 4 only**: a little worse, 1.5 times as fast`, in Markdown; empty if nothing is known."""
    costs = [cost for each in figures.values() if (cost := _cost(each, each.modes.get(mode))) is not None]
    parts = []
    if costs:
        of = f" on average over {count(len(costs), 'trait')}" if len(costs) > 1 else ""
        mean = sum(costs) / len(costs)
        parts.append(f"{next(words for least, words in _WORTH if mean >= least)}{of}")
    if mode in speeds:
        parts.append(f"{_times(speeds[mode])} times as fast")
    return f"**{plain(MODE_NAMES.get(mode, mode))}**: {', '.join(parts)}." if parts else ""


def modes_table(version: str, figures: Mapping[str, TraitMetrics], names: Mapping[str, str]) -> pd.DataFrame:
    """One row per trait and mode, full first."""
    return pd.DataFrame(
        [
            {
                "Version": version,
                "Trait": names.get(key, key),
                "Mode": MODE_NAMES.get(mode, mode),
                "AUROC": measured.auroc,
                "Against full": None if mode == FULL else _cost(each, measured),
                "95 % from": measured.auroc_interval[0] if measured.auroc_interval else None,
                "95 % to": measured.auroc_interval[1] if measured.auroc_interval else None,
                "Brier": measured.brier,
                "Calibration error": measured.calibration_error,
                "Measured on": measured.measured_on or "unknown",
            }
            for key, each in figures.items()
            for mode, measured in ((FULL, each), *((mode, one) for mode, one in each.modes.items() if mode != FULL))
        ]
    )


def _cost(full: Figures, mode: Figures | None) -> float | None:
    if mode is None or full.auroc is None or mode.auroc is None:
        return None
    return mode.auroc - full.auroc


def _times(speed: float) -> str:
    return f"{speed:.1f}" if speed < 9.95 else f"{speed:.0f}"

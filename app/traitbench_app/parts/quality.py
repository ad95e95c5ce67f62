"""AUROC by trait on a page, of held-out scores and of test samples, which come first, and what it was measured on."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from traitbench.contract.metrics import NotMeasured
from traitbench.contract.rounding import in_decimals
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display import held_out
from traitbench.display.charts import auroc
from traitbench.display.charts.auroc import Series
from traitbench.display.colours import DISCOVERED_SIGN, PALETTE
from traitbench.display.text import count, plain
from traitbench_app.parts.chart import chart
from traitbench_app.parts.version_figures import Names, measured_on, names_of, pair_on_tests, series_of_tests

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

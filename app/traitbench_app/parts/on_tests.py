"""Figures on test samples, which come first: AUROC by trait, wrong sides, and the samples that must pass."""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.versions import Version
from traitbench.display import held_out
from traitbench.display.charts import auroc
from traitbench.display.charts.auroc import Series
from traitbench.display.colours import PALETTE
from traitbench.display.text import count, plain
from traitbench_app.parts.chart import chart
from traitbench_app.parts.version_figures import Names, pair_on_tests, series_of_tests

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

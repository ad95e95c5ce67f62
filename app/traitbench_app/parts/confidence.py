"""The confidence of a version on held-out samples: levels, how many are right, and traits that are never sure."""

from collections.abc import Mapping, Sequence
from typing import get_args

import pandas as pd
import streamlit as st

from traitbench.contract.metrics import TraitMetrics
from traitbench.contract.models import Model
from traitbench.contract.scores import Confidence, ConfidenceReason
from traitbench.contract.versions import Version
from traitbench.display.barchart import DOTS
from traitbench.display.text import plain
from traitbench.display.words import PROMISE, REASONS
from traitbench_app.parts.chart import download_table
from traitbench_app.parts.version_figures import Names, label
from traitbench_app.shell.navigation import PageName, page_link
from traitbench_app.shell.permission import why_read_only

_WAYS_OUT: Mapping[ConfidenceReason, tuple[PageName, str]] = {
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
                if reason in _WAYS_OUT:
                    page_link(*_WAYS_OUT[reason])


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

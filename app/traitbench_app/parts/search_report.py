"""The search of a training by trait: what it tried, what it chose, what that gained, and the weight of the labels."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from traitbench.contract.metrics import LabelUse, Search, TraitMetrics
from traitbench.display.text import plain
from traitbench_app.parts.chart import download_table


def draw_search(figures: Mapping[str, TraitMetrics], names: Mapping[str, str], *, key: str, file_name: str) -> None:
    """Draw one row per trait and how to read it; nothing for a version without search data."""
    if not any(each.search or each.labels for each in figures.values()):
        return
    st.markdown("**What was tried**")
    rows = table(figures, names)
    grid = f"{key}.table"
    st.dataframe(
        rows,
        hide_index=True,
        width="stretch",
        key=grid,
        placeholder="–",
        column_config={
            "Tried": st.column_config.NumberColumn(help="Number of settings compared on held-out samples."),
            "Gained": st.column_config.NumberColumn(
                format="%+.4f",
                help="Improvement in held-out cross-entropy over the next lower effort, in nats per sample. 0 means "
                "that the lower effort's choice was kept.",
            ),
            "Label weight": st.column_config.NumberColumn(
                format="percent", help="Share of the axis that comes from the names of the trait and its poles."
            ),
            "Label gain": st.column_config.NumberColumn(
                format="%+.4f", help="Improvement in held-out cross-entropy from using these names, in nats per sample."
            ),
        },
    )
    said = {key: each.names_say for key, each in figures.items() if each.names_say}
    if said:
        several = len(figures) > 1
        st.markdown(
            "\n".join(f"- {plain(names.get(key, key))}: {each}" if several else each for key, each in said.items())
        )
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.caption(
            "A wider search replaces the choice of a narrower one only if that improves the scores of held-out "
            "samples.",
            width="stretch",
        )
        download_table(rows, key=key, file_name=file_name)


def draw_trait_search(figures: TraitMetrics) -> None:
    """Draw the search of one trait in words, with a table of its levels."""
    if figures.search:
        st.markdown(search_in_words(figures.search))
        if figures.search.levels:
            _draw_levels(figures.search)
    if figures.labels:
        st.markdown(" ".join(filter(None, (labels_in_words(figures.labels), figures.names_say))))


def search_in_words(search: Search) -> str:
    """`**54 settings tried.** ... This improved held-out cross-entropy by 0.0041.`, in markdown."""
    tried = f"**{search.tried:,} settings tried.** " if search.tried and search.tried > 1 else ""
    says = f"{plain(search.says[:1].upper() + search.says[1:])}." if search.says else ""
    chosen = plain(_chosen(search))
    chose = f" Chosen: {chosen}." if chosen else ""
    return f"{tried}{says}{chose}{_gained(search)}"


def labels_in_words(labels: LabelUse) -> str:
    """The weight of the labels and the reason for it, in markdown."""
    why = f" {plain(labels.why[:1].upper() + labels.why[1:].rstrip('.'))}." if labels.why else ""
    if not labels.used:
        return f"**Labels not used.**{why}"
    weigh = f"**Label weight: {labels.share:.0%}.**" if labels.share is not None else "**Labels used.**"
    return f"{weigh}{why}"


def table(figures: Mapping[str, TraitMetrics], names: Mapping[str, str]) -> pd.DataFrame:
    """One row per trait."""
    return pd.DataFrame(
        [
            {
                "Trait": names.get(key, key),
                "Tried": each.search.tried if each.search else None,
                "Effort chosen": _chosen_level(each.search),
                "Gained": each.search.gained if each.search else None,
                "Chosen": _chosen(each.search) if each.search else None,
                "Label weight": each.labels.share if each.labels else None,
                "Label gain": each.labels.gain if each.labels else None,
                "Why": each.labels.why if each.labels else None,
            }
            for key, each in figures.items()
        ]
    )


def _draw_levels(search: Search) -> None:
    rows = [
        {
            "Effort": level.level,
            "Tried": level.tried,
            "Held-out cross-entropy": level.cross_entropy,
            "Chosen": "✓" if level.chosen else "",
        }
        for level in search.levels
    ]
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        width=440,
        column_config={
            "Held-out cross-entropy": st.column_config.NumberColumn(format="%.4f", help="Smaller is better.")
        },
    )


def _gained(search: Search) -> str:
    names = [plain(level.level) for level in search.levels]
    level = _chosen_level(search)
    chosen = None if level is None else plain(level)
    wider = names[names.index(chosen) + 1 :] if chosen else []
    if wider:
        return f" The wider search ({' and '.join(wider)}) found nothing better, so the choice of {chosen} was kept."
    if search.gained is None or len(names) < 2:
        return ""
    return f" This improved held-out cross-entropy by {search.gained:.4f} over the next lower effort."


def _chosen_level(search: Search | None) -> str | None:
    return next((level.level for level in search.levels if level.chosen), None) if search else None


def _chosen(search: Search) -> str:
    return "; ".join(f"{name}: {_value(each)}" for name, each in search.chosen.items())


def _value(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)

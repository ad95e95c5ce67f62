"""The Compare view: the verdict on two versions, their scores text by text, and the figures of each on its own."""

from collections.abc import Mapping, Sequence

import streamlit as st

from traitbench.contract.comparisons import VersionsComparison
from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.display.charts.auroc import Series
from traitbench.display.text import count
from traitbench_app.parts.folded import folded
from traitbench_app.parts.modes import draw_modes, modes_of, speeds
from traitbench_app.parts.quality import draw_quality
from traitbench_app.parts.trait_figures import draw_trait, pick_trait
from traitbench_app.parts.verdict import compared, draw_changes, draw_figures, draw_verdict
from traitbench_app.parts.version_figures import series
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import attempt, reader
from traitbench_app.versions.pair import Side
from traitbench_app.versions.texts import pick_source, present_job, retention_note, start
from traitbench_app.versions.triage import draw_triage

Pair = tuple[Side, Side]


def draw_comparison(model: Model, pair: Pair, traits: Sequence[Trait], names: Mapping[str, str]) -> None:
    """Draw the verdict, then the texts; an error of the service instead if it cannot compare these versions."""
    before, after = pair
    with st.container(border=True, key="versions.verdict"):
        with st.spinner("Comparing on the test samples", show_time=True), attempt() as comparing:
            comparison = compared(reader(), before.pinned, after.pinned)
        if not comparing.done:
            return
        draw_verdict(comparison, before.name)
        _advise(comparison)
        draw_figures(comparison, names, (before.name, after.name), key="versions.verdict_figures")
        draw_changes(comparison, names)
    if comparison.traits:
        _draw_texts(model, pair, comparison, traits, names)


def draw_own_figures(model: Model, pair: Pair, traits: Sequence[Trait], names: Mapping[str, str]) -> None:
    """Draw the out-of-fold figures of both versions, which are no comparison, once they are asked for."""
    with folded("Figures of each version on its own samples", icon=":material/query_stats:", key="own") as is_open:
        if is_open:
            _draw_own_figures(model, pair, traits, names)


def _draw_own_figures(model: Model, pair: Pair, traits: Sequence[Trait], names: Mapping[str, str]) -> None:
    before, after = pair
    figures_a, figures_b = (each.version.metrics.traits for each in pair)
    st.markdown(
        "Each version is measured out of fold on the samples that it was trained with. These are not the same samples, "
        "so the figures do not show which version is better."
    )
    stem = f"{before.pinned}-{after.pinned}".replace("@", "-")
    both = [Series(each.name, series(each.version, names).figures) for each in pair]
    draw_quality(both, traits, key="versions.both_figures", file_name=f"{stem}-figures")
    if key := _trait([key for key in figures_b if key in figures_a], names):
        mine = next((trait for trait in traits if trait.key == key), None)
        labelled = [(before.name, figures_a[key]), (after.name, figures_b[key])]
        draw_trait(model, mine, labelled, key="versions.pair", file_name=f"{stem}-{key}")
    if modes_of(figures_a) or modes_of(figures_b):
        st.markdown("**Faster batch modes**")
        draw_modes(
            [(before.name, figures_a), (after.name, figures_b)],
            names,
            speeds(after.version),
            key="versions.pair_modes",
            file_name=f"{stem}-modes",
        )


def _advise(comparison: VersionsComparison) -> None:
    """Say what to do where the versions have no test samples in common."""
    if comparison.verdict != "unknown" or any(each.n for each in comparison.traits.values()):
        return
    st.markdown(
        "To find out, set test samples aside before you train, or add freshly labelled texts as test samples in the "
        "draft. No version learns from them."
    )
    page_link("samples", "Open Samples", icon=":material/notes:")


def _draw_texts(
    model: Model, pair: Pair, comparison: VersionsComparison, traits: Sequence[Trait], names: Mapping[str, str]
) -> None:
    st.subheader("Text by text", anchor=False)
    keys = list(comparison.traits)
    job = present_job(pair)
    key = pick_trait({key: names.get(key, key) for key in keys}) if job or len(keys) > 1 else keys[0]
    if job:
        draw_triage(job, pair, key, names, next((trait for trait in traits if trait.key == key), None))
        if job.state == "running":
            return
    with st.expander("Compare on other texts", icon=":material/playlist_add:") if job else st.container():
        source = pick_source(model, pair, traits, key)
        texts = source.texts if source else None
        if (
            st.button(
                f"Score {count(len(texts), 'text')} with both versions" if texts else "Score with both versions",
                type="primary",
                icon=":material/play_arrow:",
                disabled=source is None,
                key="versions.compare",
            )
            and source
        ):
            start(pair, source, keys)
        if job:
            st.caption("A new comparison discards the results above. Download them first.")
        retention_note(pair)


def _trait(keys: Sequence[str], names: Mapping[str, str]) -> str | None:
    """The trait that is chosen above, if both versions measured it."""
    chosen = st.session_state.get("trait")
    return chosen if chosen in keys else next(iter(keys), None)

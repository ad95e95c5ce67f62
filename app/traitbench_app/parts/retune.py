"""Training a trained model again: what it does, why it may be unavailable, and its start."""

from collections.abc import Sequence

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.display.text import count, plain
from traitbench_app.parts.runs import SearchChoice, pick_search, start
from traitbench_app.parts.version_figures import label
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import version
from traitbench_app.workspace.waiting import WaitingFeedback


def draw_retune(model: Model, traits: Sequence[Trait], versions: Sequence[Version], waits: WaitingFeedback) -> None:
    """Draw what training again does, and its start; `versions` newest first."""
    newest, kept = versions[0], _chosen_encoder(next((v for v in versions if v.version_no == model.version_no), None))
    with st.container(key="train.retune"):
        if reason := why_no_search(model):
            st.markdown(f":material/lock: {reason}")
            return
        plan, choice = st.columns([3, 2], gap="large")
        with choice:
            asked = pick_search()
            nothing_new = kept == _chosen_encoder(newest) and gains_nothing(model, newest, asked, waits)
            if st.button(
                "Train again",
                icon=":material/manage_search:",
                key="train.retune.start",
                disabled=nothing_new,
                help="Training again would change nothing now." if nothing_new else None,
            ):
                start(model, asked, reoptimize_params=True)
        with plan:
            st.markdown(_plan(model, traits, newest, waits, kept))
            if nothing_new:
                st.info(
                    f"Training again would change nothing now: {label(newest)} has learned the same samples with the "
                    "same settings. Add samples or choose another effort first.",
                    icon=":material/info:",
                )


def why_no_search(model: Model) -> str:
    """Why the model cannot be trained again, in Markdown; empty if it can."""
    if model.zero_data_retention:
        return (
            "Zero data retention is on: the samples were removed after training, so it cannot be trained again. "
            f"v{model.version_no} keeps scoring. (The API returns `samples_purged`.)"
        )
    return why_read_only(model)


def gains_nothing(model: Model, newest: Version, asked: SearchChoice, waits: WaitingFeedback) -> bool:
    """Whether the newest version was fitted with these settings to these samples."""
    depth = (version(model.handle, newest).snapshot or {}).get("max_depth")
    metrics = newest.metrics
    wanted = (asked.effort, asked.use_labels, model.scoring_method, model.max_depth)
    had = (metrics.effort, metrics.use_labels, metrics.scoring_method, depth)
    return not waits.samples and wanted == had and _was_searched(newest)


def _was_searched(version: Version) -> bool:
    """Whether a version comes from a search. A retraining from feedback reuses the settings of an earlier version."""
    searches = [trait.search for trait in version.metrics.traits.values()]
    return version.triggered_by in ("train", "retune") or any(
        search is not None and search.tried for search in searches
    )


def _chosen_encoder(version: Version | None) -> str | None:
    """The encoder that the model keeps with this version; None if it is that of the service."""
    encoder = None if version is None else version.metrics.encoder
    return None if encoder is None else encoder.chosen


def _plan(model: Model, traits: Sequence[Trait], newest: Version, waits: WaitingFeedback, kept: str | None) -> str:
    held = sum(trait.sample_count for trait in traits)
    feedback = f", {waits.samples:,} of them corrections that wait" if waits.samples else ""
    return (
        f"Learn from {count(held, 'sample')} again{feedback}. The result becomes "
        f"**v{newest.version_no + 1}** and is in use at once; you can switch back. Until then, or if the training "
        f"fails, v{model.version_no} keeps scoring.\n\n"
        f"The model's depth ({model.max_depth}) applies"
        f"{f', as does its encoder *{plain(kept)}*' if kept else ''}."
    )

"""A fresh search for a model that has a version: what it would do, why it cannot be done, and its start."""

from collections.abc import Sequence

import streamlit as st

from traitbench.app.figures import label, search_of
from traitbench.app.permission import why_read_only
from traitbench.app.service import attempt, client, version
from traitbench.app.text import count, plain
from traitbench.app.waiting import Waiting
from traitbench.app.widgets.training import SearchChoice, pick_search
from traitbench.contract.models import Model
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.scoring.search import EFFORTS


def draw_retune(model: Model, traits: Sequence[Trait], versions: Sequence[Version], waits: Waiting) -> None:
    """Draw it for a model that is ready; `versions` newest first."""
    newest = versions[0]
    with st.container(border=True, key="train.retune"):
        st.subheader("Search parameters afresh", icon=":material/manage_search:", anchor=False)
        if reason := why_no_search(model):
            st.markdown(f":material/lock: {reason}")
            return
        plan, choice = st.columns([3, 2], gap="large")
        with choice:
            asked = pick_search(traits, to_read=waits.samples)
            if st.button("Search afresh", icon=":material/manage_search:", key="train.retune.start"):
                with attempt() as starting:
                    client().models.train(
                        model.handle, effort=asked.effort, use_labels=asked.use_labels, reoptimize_params=True
                    )
                if starting.done:
                    st.rerun()
        with plan:
            st.markdown(_plan(model, traits, newest, waits))
            if gains_nothing(model, newest, asked, waits):
                st.info(
                    f"Nothing new to find just now: {label(newest)} was searched like this in the same samples, and "
                    "equal searches find equal parameters.",
                    icon=":material/info:",
                )


def why_no_search(model: Model) -> str:
    """Why no search can be started, in markdown; empty when it can."""
    if model.zero_data_retention:
        return (
            "The model is under zero data retention: its samples were removed after the training, so there is nothing "
            f"left to search in. v{model.version_no} scores as it is. (The API answers `samples_purged`.)"
        )
    return why_read_only(model)


def gains_nothing(model: Model, newest: Version, asked: SearchChoice, waits: Waiting) -> bool:
    """Whether the newest version came from this very search in these very samples."""
    depth = (version(model.handle, newest).snapshot or {}).get("max_depth")
    wanted = (EFFORTS[asked.effort].says, asked.use_labels, model.scoring_method, model.max_depth)
    had = (search_of(newest), newest.metrics.use_labels, newest.metrics.scoring_method, depth)
    return not waits.samples and wanted == had


def _plan(model: Model, traits: Sequence[Trait], newest: Version, waits: Waiting) -> str:
    held = sum(trait.sample_count for trait in traits)
    feedback = f", {count(waits.samples, 'sample')} of feedback that wait among them" if waits.samples else ""
    return (
        f"{count(held, 'sample')} are read again{feedback}, and for each trait it is searched anew what separates its "
        f"poles best. The result becomes **v{newest.version_no + 1}** and scores from then on; until then, and if it "
        f"fails, v{model.version_no} does. No version is lost: any of them can be made to score again.\n\n"
        f"Scoring method (*{plain(model.scoring_method)}*) and depth ({model.max_depth}) are taken from the model as "
        "it is set now."
    )

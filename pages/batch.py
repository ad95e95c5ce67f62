"""Batch: score many texts from a file or pasted lines, and see the results as histograms, a table and files."""

import streamlit as st

from traitbench.app.presentation.figures import names_of
from traitbench.app.shell import session
from traitbench.app.shell.navigation import page_link
from traitbench.app.shell.service import client
from traitbench.app.widgets.batch.input import pick_texts
from traitbench.app.widgets.batch.order import MODE, TRAITS, pick_mode, pick_traits, present_job, retention_note, start
from traitbench.app.widgets.batch.progress import draw_end, watch_batch
from traitbench.app.widgets.batch.results import draw_results, in_link
from traitbench.app.widgets.common.heading import heading
from traitbench.app.widgets.common.model_picker import chosen_model

ACTIVE = "active"

model = chosen_model()
versions = list(client().versions.list(model.handle))
numbers = [f"v{each.version_no}" for each in versions]
active = f"v{model.version_no}" if numbers else ""
chosen = session.on_screen("version", ACTIVE)
names = names_of(client().traits.list(model.handle))
heading(
    "batch",
    model,
    version=chosen if chosen in numbers else active,
    traits=",".join(session.get(TRAITS, [])) or st.query_params.get("traits"),
    mode=session.get(MODE) or st.query_params.get("mode"),
    **in_link(list(names)),
)

if model.state == "archived":
    st.info("This model was archived and no longer scores. You can still read its traits, samples and versions.")
    page_link("versions", "View versions")
    st.stop()

if not numbers:
    with st.container(border=True, key="batch.draft"):
        st.subheader("Not trained yet", icon=":material/model_training:", anchor=False)
        st.markdown("Train the model before you score a batch.")
        page_link("train", "Train this model")
        page_link("score", "Preview the score of one text")
    st.stop()

job = present_job(model.handle)

# ---- the batch of this tab -------------------------------------------------------------------------------------------

if job and job.state == "running":
    watch_batch(job)
    st.stop()

if job:
    draw_end(job)
    draw_results(job, names)

# ---- a new batch -----------------------------------------------------------------------------------------------------

with st.expander("Score other texts", icon=":material/playlist_add:") if job else st.container():
    what, how = st.columns([3, 2], gap="large")
    with how:
        picked = st.selectbox(
            "Version",
            [ACTIVE, *numbers],
            key="version",
            bind="query-params",
            help=f"`active` is {active} now. The whole batch uses one version, even if another becomes active.",
        )
        number = active if picked == ACTIVE else picked
        traits = pick_traits(names)
        mode = pick_mode(versions[numbers.index(number)])
    with what:
        texts = pick_texts(model.handle)
    with how:
        if (
            st.button(
                f"Score {texts.source.count:,} texts" if texts and texts.source.count > 1 else "Score",
                type="primary",
                icon=":material/play_arrow:",
                disabled=texts is None,
                key="batch.start",
            )
            and texts
        ):
            start(model, number, texts, traits, mode)
        if job:
            st.caption("A new batch discards the results above. Download them first.")
        retention_note(model)

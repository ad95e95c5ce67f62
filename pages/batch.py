"""Batch: score many texts from a file or pasted lines, and see the results as histograms, a table and files."""

import streamlit as st

from traitbench_app.batch.audit import POLE, draw_ask
from traitbench_app.batch.filters import in_link, pick_trait
from traitbench_app.batch.options import (
    MODE,
    TRAITS,
    draw_earlier,
    pick_mode,
    pick_traits,
    present_batch,
    retention_note,
    start,
)
from traitbench_app.batch.progress import draw_end, watch_batch
from traitbench_app.batch.results import draw_results
from traitbench_app.parts.heading import chosen_model, heading, say_if_gone
from traitbench_app.parts.next_step import can_rehearse
from traitbench_app.parts.upload import is_pasting, pick_texts
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import client

IN_USE = "in use"
VIEW, TEXTS, ASK = "view", "Texts", "What share?"

model = chosen_model()
versions = list(client().versions.list(model.handle))
numbers = [f"v{each.version_no}" for each in versions]
active = f"v{model.version_no}" if numbers else ""
chosen = session.on_screen("version", IN_USE)
traits = list(client().traits.list(model.handle))
names = {trait.key: trait.name for trait in traits}
heading(
    "batch",
    model,
    traits,
    version=chosen if chosen in numbers else active,
    traits=",".join(session.get(TRAITS, [])) or st.query_params.get("traits"),
    mode=session.get(MODE) or st.query_params.get("mode"),
    view=session.on_screen(VIEW, TEXTS),
    pole=session.on_screen(POLE, "") or None,
    **in_link(list(names)),
)

if model.state == "archived":
    st.info("This model was archived and no longer scores. You can still read its traits, samples and versions.")
    page_link("versions", "View versions")
    st.stop()

if not numbers:
    st.markdown("A file can be scored once the model is trained.")
    if can_rehearse(traits):
        page_link("score", "Preview the score of one text")
    st.stop()

say_if_gone(chosen, [IN_USE, *numbers])
batch = present_batch(model)

# ---- the batch of this tab -------------------------------------------------------------------------------------------

if batch and batch.state == "running":
    watch_batch(batch, pick_trait(batch, traits, model.main_trait))
    st.stop()

if batch:
    draw_end(batch)
    view = st.segmented_control(
        "View", [TEXTS, ASK], default=TEXTS, required=True, key=VIEW, bind="query-params", label_visibility="collapsed"
    )
    if view == ASK:
        draw_ask(model, batch, traits)
    else:
        draw_results(model, batch, traits)

# ---- a new batch -----------------------------------------------------------------------------------------------------

with st.expander("Score other texts", icon=":material/playlist_add:") if batch else st.container():
    if not batch:
        st.markdown("Score every text in a file. Then filter them, group them, or estimate the share at a pole.")
    texts = pick_texts(model.handle)
    with st.expander("Version, traits and speed", icon=":material/tune:"):
        picked = st.selectbox(
            "Version",
            [IN_USE, *numbers],
            key="version",
            bind="query-params",
            help=f"{active} is in use now. The whole batch uses one version, even if another is put in use.",
        )
        number = active if picked == IN_USE else picked
        asked_traits = pick_traits(names)
        mode = pick_mode(versions[numbers.index(number)])
    if st.button(
        f"Score {texts.source.count:,} texts" if texts and texts.source.count > 1 else "Score",
        type="primary",
        icon=":material/play_arrow:",
        disabled=texts is None and not is_pasting(),
        key="batch.start",
    ):
        if texts is None:
            st.warning("Paste a text first.", icon=":material/info:")
        else:
            start(model, number, texts, asked_traits, mode)
    retention_note(model)
    draw_earlier(model)

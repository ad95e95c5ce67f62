"""Versions: every training's result, one of them in detail, and two of them side by side."""

import json

import pandas as pd
import streamlit as st

from app import session
from app.charts import intervals
from app.figures import (
    TRIGGERS,
    auroc,
    figures_table,
    label,
    made_of,
    measured_on,
    names_of,
    parameters_table,
    search_of,
    series,
)
from app.navigation import page_link
from app.service import attempt, client, version
from app.text import ago, count, plain
from app.theme import PALETTE
from app.widgets.chart import chart, download_table
from app.widgets.heading import heading
from app.widgets.model_picker import chosen_model
from app.widgets.side_by_side import draw_both, in_link, pair_of, pick_texts, score_both
from app.widgets.tags import draw_tags

VIEWS = ("All", "Details", "Compare")

model = chosen_model()
versions = list(client().versions.list(model.handle, limit=250))
numbers = [label(each) for each in versions]
heading("versions", model, **in_link(numbers, active=f"v{model.version_no}"))

if not versions:
    with st.container(border=True, key="versions.none"):
        st.subheader("No version yet", icon=":material/history:", anchor=False)
        st.markdown("Each successful training gives a numbered version. The first one comes from the Train page.")
        page_link("train", "Train this model")
    st.stop()

traits = client().traits.list(model.handle)
names = names_of(traits)
by_label = dict(zip(numbers, versions, strict=True))
active = f"v{model.version_no}"
may_change = model.state != "archived"

view = st.segmented_control(
    "View", VIEWS, default="All", required=True, key="view", bind="query-params", label_visibility="collapsed"
)

# ---- all of them -----------------------------------------------------------------------------------------------------

if view == "All":
    table = pd.DataFrame(
        [
            {
                "Version": label(each),
                "Scores": "active" if label(each) == active else "",
                "Tags": ", ".join(each.tags),
                "Trained": each.created_at,
                "Because of": TRIGGERS.get(each.triggered_by, each.triggered_by),
                "Samples": each.sample_count,
                "AUROC": auroc(each),
                **{f"AUROC {measured.name}": measured.text for measured in series(each, names).figures},
            }
            for each in versions
        ]
    )
    st.dataframe(
        table,
        hide_index=True,
        width="stretch",
        key="versions.list",
        column_config={
            "Trained": st.column_config.DatetimeColumn(format="distance"),
            "AUROC": st.column_config.NumberColumn(format="%.2f", help="Mean over the traits, out of fold."),
        },
    )
    st.caption(
        "AUROC: 0.5 is chance, 1 is perfect; in brackets the 95 % interval. Each is measured on samples that its "
        "parameters had not seen; *Details* says on how many."
    )
    with st.container(horizontal=True, horizontal_alignment="right"):
        download_table(table, key="versions.list", file_name=f"{model.handle}-versions")

# ---- one in detail ---------------------------------------------------------------------------------------------------

if view == "Details":
    picked = st.selectbox(
        "Version",
        ["active", *numbers],
        key="version",
        bind="query-params",
        width=220,
        help=f"`active` is {active} now.",
    )
    shown = by_label[active if picked == "active" else picked]
    st.caption(
        f"{TRIGGERS.get(shown.triggered_by, shown.triggered_by)} {ago(shown.created_at)}: {plain(made_of(shown))}."
    )

    with st.container(horizontal=True, vertical_alignment="bottom", key="versions.actions"):
        if label(shown) == active:
            st.badge("Active: this version scores", icon=":material/check_circle:", color="green")
        elif may_change and st.button(
            f"Activate {label(shown)}",
            type="primary",
            icon=":material/swap_horiz:",
            key="versions.activate",
            help=f"Scores come from {label(shown)} then instead of {active}. Nothing is lost; you can switch back.",
        ):
            with attempt() as activating:
                client().versions.activate(model.handle, version=label(shown))
            if activating.done:
                session.flash(f"{label(shown)} scores now.")
                st.rerun()

    draw_tags(model.handle, shown, active=active, may_change=may_change)

    st.subheader("How well it tells the poles apart", anchor=False)
    figures = series(shown, names)
    chart(
        intervals.figure([figures], PALETTE),
        alt=intervals.alt([figures]),
        table=figures_table(shown, names),
        key="versions.figures",
        file_name=f"{model.handle}-{label(shown)}-figures",
    )
    st.caption(measured_on(figures))
    with st.expander("Parameters", icon=":material/tune:"):
        st.dataframe(parameters_table(shown, names), hide_index=True, width="stretch", key="versions.parameters")
        st.caption(f"What the search chose for each trait. Searched: {plain(search_of(shown))}.")
        st.markdown("`param_hash`, equal for equal parameters:")
        st.code(shown.param_hash, language=None)
    with st.expander("Snapshot", icon=":material/database:"):
        st.markdown("Everything needed to score without the service, and no sample text.")
        whole = version(model.handle, shown.version_no)
        if whole.snapshot is None:
            st.caption("This workbench's API key may not read snapshots; that takes the scope `authoring`.")
        else:
            st.download_button(
                "Snapshot as JSON",
                json.dumps(whole.snapshot, ensure_ascii=False),
                file_name=f"{model.handle}-{label(shown)}-snapshot.json",
                mime="application/json",
                icon=":material/download:",
                key="versions.snapshot",
                on_click="ignore",
            )

# ---- two side by side ------------------------------------------------------------------------------------------------

if view == "Compare" and len(versions) == 1:
    with st.container(border=True, key="versions.only_one"):
        st.subheader("Only one version so far", icon=":material/compare_arrows:", anchor=False)
        st.markdown(
            "There is nothing to compare it with. Another version comes from a new parameter search, from "
            "retraining on feedback, or from an import."
        )
        page_link("score", "Score two texts against each other instead")
    st.stop()

if view == "Compare":
    with st.container(horizontal=True):
        st.selectbox("Before", ["previous", *numbers], key="a", bind="query-params", width=180)
        st.selectbox("After", ["active", *numbers], key="b", bind="query-params", width=180)
    a, b = pair_of(numbers, active=active)
    before, after = by_label[a], by_label[b]
    if a == b:
        st.info("Both sides are the same version: pick two different ones to see a difference.")
    elif before.param_hash == after.param_hash:
        st.info("These two versions have equal parameters, so they score every text equally.")

    st.subheader("Figures", anchor=False)
    both = [series(before, names), series(after, names)]
    chart(
        intervals.figure(both, PALETTE),
        alt=intervals.alt(both),
        table=intervals.table(both),
        key="versions.both_figures",
        file_name=f"{model.handle}-{a}-{b}-figures",
    )
    st.caption("AUROC with its 95 % interval. Intervals that overlap say: the difference may be chance.")

    st.subheader("The same texts through both", anchor=False)
    texts = pick_texts(model.handle)
    if not texts:
        st.caption("Type or paste some texts, or take those that are offered.")
        st.stop()
    with st.spinner(f"Scoring {count(len(texts), 'text')} twice", show_time=True):
        rows = score_both(model.handle, (before, after), texts)
    draw_both(rows, (a, b) if a != b else (a, f"{b} again"), names, file_name=f"{model.handle}-{a}-{b}")

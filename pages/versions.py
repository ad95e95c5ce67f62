"""Versions: all versions of a model, one version in detail, two side by side, or encoders on its samples."""

import json

import pandas as pd
import streamlit as st

from traitbench.app.access.permission import why_read_only
from traitbench.app.presentation import retention
from traitbench.app.presentation.figures import (
    TRIGGERS,
    auroc,
    figures_table,
    label,
    made_how,
    mean_of,
    names_of,
    parameters_table,
    search_of,
    series,
    sets_of_tests,
)
from traitbench.app.shell import session
from traitbench.app.shell.navigation import page_link
from traitbench.app.shell.service import attempt, client, version
from traitbench.app.shell.text import plain
from traitbench.app.widgets.common.chart import download_table
from traitbench.app.widgets.common.confidence import draw_confidence, draw_trained_before
from traitbench.app.widgets.common.heading import heading
from traitbench.app.widgets.common.model_picker import chosen_model
from traitbench.app.widgets.common.modes import draw_modes, modes_of, speeds
from traitbench.app.widgets.common.on_tests import draw_tests
from traitbench.app.widgets.common.quality import discovered_note, draw_quality
from traitbench.app.widgets.common.search_report import draw_search
from traitbench.app.widgets.common.unreadable import draw_unreadable
from traitbench.app.widgets.versions.compare import draw_comparison, draw_own_figures
from traitbench.app.widgets.versions.encoders import draw_encoders
from traitbench.app.widgets.versions.keeping import draw_keeping
from traitbench.app.widgets.versions.pair import in_link, names_of_both, pick_pair, sides_of
from traitbench.app.widgets.versions.tags import draw_tags
from traitbench.app.widgets.versions.timeline import draw_timeline
from traitbench.app.widgets.versions.trait_figures import draw_trait, pick_trait
from traitbench.contract import held_out
from traitbench.contract.page import LARGEST_PAGE

VIEWS = ("All", "Details", "Compare", "Encoders")
CREATED_BY = (
    "First training: trained from a draft. Refit: fitted again from scratch. Feedback: retrained automatically from "
    "feedback. Import: imported from a file."
)

model = chosen_model()
listing = client().versions.list(model.handle, limit=LARGEST_PAGE)
versions = list(listing)
numbers = [label(each) for each in versions]
traits = client().traits.list(model.handle)
names = names_of(traits)
sides = sides_of(model, versions, relatives=session.on_screen("view", "All") == "Compare")
heading("versions", model, **in_link(sides, names, model))
draw_unreadable(listing.unreadable, "version", key="versions.unreadable")

if listing.unreadable and not versions:
    st.stop()
if not versions:
    with st.container(border=True, key="versions.none"):
        st.subheader("No versions yet", icon=":material/history:", anchor=False)
        st.markdown("Train the model to create v1.")
        page_link("train", "Train this model")
    st.stop()

by_label = dict(zip(numbers, versions, strict=True))
active = f"v{model.version_no}"
shown_first = active if active in by_label else numbers[0]
may_change = model.state != "archived" and not why_read_only(model)

view = st.segmented_control(
    "View", VIEWS, default="All", required=True, key="view", bind="query-params", label_visibility="collapsed"
)

# ---- all versions ----------------------------------------------------------------------------------------------------

if view == "All":
    fates = retention.fates(model, versions)
    tests = sets_of_tests(versions)
    tested = any(tests.values())
    statuses = {model.held_version_no: "on hold", model.version_no: "active"}
    table = pd.DataFrame(
        [
            {
                "Version": label(each),
                "Status": statuses.get(each.version_no, ""),
                "Tags": ", ".join(each.tags),
                "Created": each.created_at,
                "Created by": TRIGGERS[each.triggered_by],
                "Samples": each.sample_count,
                "After the next version": fates[each.version_id],
                **(
                    {"Test AUROC": held_out.mean_auroc(each.metrics), "Test samples": tests[label(each)]}
                    if tested
                    else {}
                ),
                "AUROC": auroc(each),
                "Brier": mean_of(each, "brier"),
                "Calibration error": mean_of(each, "calibration_error"),
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
        placeholder="–",
        column_config={
            "Created": st.column_config.DatetimeColumn(format="distance"),
            "Created by": st.column_config.TextColumn(help=CREATED_BY),
            "After the next version": st.column_config.TextColumn(
                help="Whether this version is kept when the next one is added."
            ),
            "Test AUROC": st.column_config.NumberColumn(
                format="%.2f", help="Mean over the traits, on test samples. Compare only figures of the same test set."
            ),
            "Test samples": st.column_config.TextColumn(
                help="How many were measured. Versions with the same letter were measured on the same test samples."
            ),
            "AUROC": st.column_config.NumberColumn(format="%.2f", help="Mean over the traits, out-of-fold."),
            "Brier": st.column_config.NumberColumn(format="%.3f", help="Mean over the traits; 0 is perfect."),
            "Calibration error": st.column_config.NumberColumn(
                format="%.3f", help="Mean over the traits; 0 is perfect."
            ),
        },
    )
    st.caption(
        "AUROC: 0.5 is chance, 1 is perfect; the 95 % interval is in brackets. Each sample is scored by a fit that did "
        "not use it." + (" Test AUROC: on samples that no version learns from." if tested else "")
    )
    if len({each.rpartition(" ")[2] for each in tests.values() if each}) > 1:
        st.caption(
            ":material/link_off: The versions were measured on different test samples: compare Test AUROC only between "
            "versions with the same letter."
        )
    discovered_note(traits)
    with st.container(horizontal=True, horizontal_alignment="right"):
        download_table(table, key="versions.list", file_name=f"{model.handle}-versions")
    if active in by_label:
        draw_trained_before(model, by_label[active])
    draw_timeline(model, versions, may_change=may_change)
    draw_keeping(model, versions)

# ---- one version in detail -------------------------------------------------------------------------------------------

if view == "Details":
    picked = st.selectbox(
        "Version",
        ["active", *numbers],
        key="version",
        bind="query-params",
        width=220,
        help=f"`active` is {active} now.",
    )
    shown = by_label[shown_first if picked == "active" else picked]
    st.caption(made_how(shown), help=CREATED_BY)

    with st.container(horizontal=True, vertical_alignment="bottom", key="versions.actions"):
        if label(shown) == active:
            st.badge("Active: this version scores", icon=":material/check_circle:", color="green")
        elif may_change and st.button(
            f"Activate {label(shown)}",
            type="primary",
            icon=":material/swap_horiz:",
            key="versions.activate",
            help=f"Scores will come from {label(shown)} instead of {active}. You can switch back.",
        ):
            with attempt() as activating:
                client().versions.activate(model.handle, version=label(shown))
            if activating.done:
                session.flash(f"{label(shown)} is active now.")
                st.rerun()

    draw_tags(model.handle, shown, active=active, may_change=may_change)
    st.caption(f"**After the next version:** {retention.fates(model, versions)[shown.version_id]}.")

    st.subheader("How well each trait separates its poles", anchor=False)
    figures = series(shown, names)
    draw_tests(shown, names, key="versions.figures", file_name=f"{model.handle}-{label(shown)}-figures")
    draw_quality(
        [figures],
        traits,
        key="versions.figures",
        file_name=f"{model.handle}-{label(shown)}-figures",
        table=figures_table(shown, names),
    )
    by_trait = shown.metrics.traits
    stem = f"{model.handle}-{label(shown)}"
    st.subheader("How sure its scores are", anchor=False)
    draw_confidence(model, shown, names, key="versions.confidence", file_name=f"{stem}-confidence")
    if by_trait:
        st.subheader("Trait by trait", anchor=False)
        key = pick_trait({key: names.get(key, key) for key in by_trait})
        mine = next((trait for trait in traits if trait.key == key), None)
        draw_trait(model, mine, [(label(shown), by_trait[key])], key="versions.trait", file_name=f"{stem}-{key}")
    if modes_of(by_trait):
        st.subheader("Faster batch modes", anchor=False)
        draw_modes([(label(shown), by_trait)], names, speeds(shown), key="versions.modes", file_name=f"{stem}-modes")
    if any(each.search for each in by_trait.values()):
        with st.expander("Search", icon=":material/manage_search:"):
            draw_search(by_trait, names, key="versions.search", file_name=f"{stem}-search")
    with st.container(horizontal=True, horizontal_alignment="right"):
        st.download_button(
            "Download figures (JSON)",
            json.dumps(shown.metrics.model_dump(), ensure_ascii=False, indent=1),
            file_name=f"{stem}-figures.json",
            mime="application/json",
            icon=":material/download:",
            key="versions.metrics",
            on_click="ignore",
            type="tertiary",
            help="All figures of this version, as the API returns them.",
        )
    with st.expander("Parameters", icon=":material/tune:"):
        st.dataframe(parameters_table(shown, names), hide_index=True, width="stretch", key="versions.parameters")
        st.caption(f"The chosen configuration of each trait. Search: {plain(search_of(shown))}.")
        st.markdown("`param_hash` (equal parameters have equal hashes):")
        st.code(shown.param_hash, language=None)
    with st.expander("Snapshot", icon=":material/database:"):
        st.markdown("Everything needed to score without the service. It contains no sample text.")
        whole = version(model.handle, shown)
        if whole.snapshot is None:
            st.caption("To read snapshots, this workbench needs an API key with the scope `authoring`.")
        else:
            st.download_button(
                "Download snapshot (JSON)",
                json.dumps(whole.snapshot, ensure_ascii=False),
                file_name=f"{model.handle}-{label(shown)}-snapshot.json",
                mime="application/json",
                icon=":material/download:",
                key="versions.snapshot",
                on_click="ignore",
            )

# ---- encoders on the model's samples ---------------------------------------------------------------------------------

if view == "Encoders":
    draw_encoders(model, traits, by_label[shown_first])

# ---- two versions side by side ---------------------------------------------------------------------------------------

if view == "Compare" and len(sides) == 1:
    with st.container(border=True, key="versions.only_one"):
        st.subheader("Only one version so far", icon=":material/compare_arrows:", anchor=False)
        st.markdown("To get a second version, improve the model, give feedback on scores or refit the model.")
        with st.container(horizontal=True):
            page_link("score", "Give feedback on a score")
            page_link("train", "Refit the model")
            page_link("score", "Compare two texts")
    st.stop()

if view == "Compare":
    before, after = pair = pick_pair(sides, model)
    names = names_of_both(pair, model, names)
    for each in dict.fromkeys(pair):
        st.caption(f"**{plain(each.name)}**  {made_how(each.version)}")
    if before is after:
        st.info("Both sides show the same version. Choose two different versions.")
        st.stop()
    if model.state == "archived":
        st.info("This model was archived and no longer scores, so its versions cannot be compared on texts.")
    else:
        draw_comparison(model, pair, traits, names)
    draw_own_figures(model, pair, traits, names)

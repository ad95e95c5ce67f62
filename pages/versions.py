"""Versions: all versions of a model, one version in detail, two side by side, or encoders on its samples."""

import streamlit as st

from traitbench.contract.page import LARGEST_PAGE
from traitbench_app.parts.controls import draw_unreadable
from traitbench_app.parts.heading import chosen_model, heading
from traitbench_app.parts.version_figures import label, names_of
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import client
from traitbench_app.versions.compare import draw_comparison
from traitbench_app.versions.details import draw_details
from traitbench_app.versions.encoders import draw_encoders
from traitbench_app.versions.listing import draw_all
from traitbench_app.versions.pair import (
    IN_USE,
    draw_gone,
    forget_gone,
    gone,
    in_link,
    names_of_both,
    pick_pair,
    sides_of,
)

VIEWS = ("All", "Details", "Compare", "Encoders")
# The query parameters of each view that name a version.
NAMED = {"Details": ("version",), "Compare": ("a", "b")}

model = chosen_model()
listing = client().versions.list(model.handle, limit=LARGEST_PAGE)
versions = list(listing)
numbers = [label(each) for each in versions]
traits = client().traits.list(model.handle)
names = names_of(traits)
viewed = session.on_screen("view", "All")
sides = sides_of(model, versions, relatives=viewed == "Compare")
missing = gone(model, viewed, sides, NAMED.get(viewed, ()))
heading("versions", model, traits, **in_link(sides, names, model))
draw_unreadable(listing.unreadable, "version", key="versions.unreadable")

if listing.unreadable and not versions:
    st.stop()
if not versions:
    st.markdown("No versions yet. Each training adds one.")
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
    draw_all(model, versions, traits, may_change=may_change)

# ---- one version in detail -------------------------------------------------------------------------------------------

if view == "Details":
    picked = st.selectbox(
        "Version",
        [IN_USE, *numbers],
        key="version",
        bind="query-params",
        width=220,
        help=f"{active} is in use now.",
        on_change=forget_gone,
    )
    if missing:
        draw_gone(missing)
        st.stop()
    shown = by_label[shown_first if picked == IN_USE else picked]
    draw_details(model, versions, shown, traits, may_change=may_change)

# ---- encoders on the model's samples ---------------------------------------------------------------------------------

if view == "Encoders":
    draw_encoders(model, traits, by_label[shown_first])

# ---- two versions side by side ---------------------------------------------------------------------------------------

if view == "Compare" and len(sides) == 1:
    if missing:
        draw_gone(missing)
    with st.container(border=True, key="versions.only_one"):
        st.header("Only one version so far", icon=":material/compare_arrows:", anchor=False)
        st.markdown("To get a second version, improve the model, correct scores or train it again.")
        with st.container(horizontal=True):
            page_link("score", "Correct a score")
            page_link("train", "Train again")
            page_link("score", "Compare two texts")
    st.stop()

if view == "Compare":
    before, after = pair = pick_pair(sides, model)
    if missing:
        draw_gone(missing)
        st.stop()
    names = names_of_both(pair, model, names)
    if before is after:
        st.info("Both sides show the same version. Choose two different versions.")
        st.stop()
    if model.state == "archived":
        st.info("This model was archived and no longer scores, so its versions cannot be compared on texts.")
    else:
        draw_comparison(model, pair, traits, names, may_change=may_change)

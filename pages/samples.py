"""Samples: the labelled texts of a model. View and edit them, add or import new ones, synthesize them, check them."""

from typing import Literal

import streamlit as st

from traitbench.display.text import count
from traitbench_app.parts.controls import draw_unreadable
from traitbench_app.parts.heading import chosen_model, heading
from traitbench_app.parts.next_step import editable
from traitbench_app.parts.sample_table import edit_table, show_table
from traitbench_app.samples.add import add_by_hand, link_values, restore_link
from traitbench_app.samples.checks import draw_check
from traitbench_app.samples.filters import NO_FILTERS, draw_filters, draw_no_match, page_in_link
from traitbench_app.samples.held_out import draw_set_aside
from traitbench_app.samples.importing import VIEW, import_file
from traitbench_app.samples.just_now import draw_just_now
from traitbench_app.samples.raters import compare_labels
from traitbench_app.samples.review import draw_review
from traitbench_app.samples.saving import draw_actions, needs_all, notice_overtaken
from traitbench_app.samples.synthesis import delete_synthesized, draw_outcome, synthesize
from traitbench_app.samples.unsaved import (
    draw_brought,
    draw_conflicts,
    draw_discarded,
    draw_overtaken,
    warn_before_leaving,
)
from traitbench_app.samples.waiting import draw_waiting_feedback
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import client, namespaces
from traitbench_app.workspace.changes import UNDO
from traitbench_app.workspace.samples import LoadedSamples, sample_table
from traitbench_app.workspace.unsaved import unsaved

VIEWS = {
    "table": "Table",
    "add": "Add by hand",
    "import": "Import a file",
    "synthesize": "Synthesize",
    "check": "Check",
    "raters": "Compare labels",
}
READING = ("table", "check", "raters")
WAYS: dict[str, Literal["primary", "secondary"]] = {"add": "primary", "import": "secondary", "synthesize": "secondary"}

model = chosen_model()
top = st.container()
traits = client().traits.list(model.handle)
can_edit = editable(model, "samples")
if model.zero_data_retention:
    st.caption(":material/shield: Zero data retention is on: training removes the samples that it used.")
draw_unreadable(traits.unreadable, "trait", key="samples.unreadable_traits")

# ---- nothing to show -------------------------------------------------------------------------------------------------

is_outside = model.handle.split(".")[0] not in namespaces()
if not traits or is_outside or why_read_only(model):
    with top:
        heading("samples", model, traits)
    if not traits:
        st.markdown("Each sample is a labelled text for one trait.")
    elif is_outside:
        st.caption("Only owners of the model's namespace can see its samples.")
    st.stop()

table = sample_table(model.handle, traits, whole=needs_all(model))
damaged = st.container()

draw_waiting_feedback(model, traits, may_change=model.state != "archived")
if not can_edit:
    draw_overtaken(model, traits)
elif isinstance(table, LoadedSamples):
    draw_brought(model, traits, table.samples)
    draw_conflicts(model, traits, table.samples)

# ---- which view ------------------------------------------------------------------------------------------------------

if can_edit and (goal := session.get(VIEW)):
    session.put({**NO_FILTERS, "task": goal})
    session.store(VIEW, None)
view = "table"
if can_edit or table.total:
    view = st.segmented_control(
        "View",
        list(VIEWS) if can_edit else list(READING),
        default="table",
        required=True,
        format_func=lambda each: VIEWS[each],
        key="task",
        bind="query-params",
        label_visibility="collapsed",
    )

if view != "table":
    samples = table.every()
    with damaged:
        draw_unreadable(table.unreadable(), "sample", key="samples.unreadable")
    if view == "add":
        restore_link(traits)
    with top:
        heading("samples", model, traits, task=VIEWS[view], **(link_values(traits) if view == "add" else {}))
    if view == "add":
        add_by_hand(model, traits, samples)
        draw_just_now(model, traits, adds=True)
    elif view == "check":
        draw_check(model, traits, samples, can_edit=can_edit)
    elif view == "raters":
        compare_labels(model, traits, samples, can_edit=can_edit)
    elif view == "synthesize":
        synthesize(model, traits, samples)
    else:
        import_file(model, traits, samples)
    st.stop()

# ---- the table: filters are part of the link, edits wait until they are saved ----------------------------------------

synthesized = table.synthesized() if can_edit else ()
if can_edit:
    if table.total or session.get(UNDO):
        draw_just_now(model, traits)
    draw_outcome(model, len(synthesized))
    draw_review(model, traits, synthesized)

chosen, in_link = draw_filters(table, traits)
matches = table.find(chosen)
page = page_in_link(matches.pages)
shown = matches.page(page) if matches.count else []
if can_edit:
    notice_overtaken(model, table)
with damaged:
    draw_unreadable(table.unreadable(), "sample", key="samples.unreadable")
with top:
    heading("samples", model, traits, **in_link, page=page if page > 1 else None)

with st.container(horizontal=True, vertical_alignment="center", key="samples.said"):
    if table.total:
        some = f"{matches.count:,} of " if matches.count < table.total else ""
        order = ", newest first" if matches.count else ""
        st.caption(f"{some}{count(table.total, 'sample')}{order}", width="content")
    if can_edit:
        delete_synthesized(model, synthesized)
    draw_discarded(model)

if not table.total:
    with st.container(border=True, key="samples.empty"):
        st.header("No samples yet" if can_edit else "No samples", icon=":material/notes:", anchor=False)
        if can_edit:
            with st.container(horizontal=True, vertical_alignment="center"):
                for way, kind in WAYS.items():
                    st.button(
                        VIEWS[way], type=kind, key=f"samples.first_{way}", on_click=session.put, args=({"task": way},)
                    )
                page_link("label", "Label texts one by one")
    st.stop()

if not matches.count:
    draw_no_match()
else:
    grid = st.container(key="samples-grid")
    if matches.pages > 1:
        st.pagination(matches.pages, key="page", bind="query-params")
    with grid:
        if can_edit:
            edit_table(model, shown, traits)
        else:
            show_table(shown, traits)

draw_actions(model, table, matches, can_edit=can_edit)
if can_edit:
    warn_before_leaving(model, len(unsaved(model.handle)))
    draw_set_aside(model, traits, table.tests, table.every)

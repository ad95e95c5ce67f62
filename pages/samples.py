"""Samples: the labelled texts of a model. View and edit them, add or import new ones, synthesize them, check them."""

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.samples import LONGEST_SEARCH, Pole, Provenance, Sample
from traitbench.display.text import count
from traitbench.tables.writing import csv_file, jsonl_file
from traitbench_app.parts.frozen import editable
from traitbench_app.parts.heading import heading
from traitbench_app.parts.model_picker import chosen_model
from traitbench_app.parts.sample_table import edit_table, redraw, show_table
from traitbench_app.parts.undo import draw_undo
from traitbench_app.parts.unreadable import draw_unreadable
from traitbench_app.samples.add import add_by_hand, link_place, restore_place
from traitbench_app.samples.checks import draw_check
from traitbench_app.samples.held_out import draw_set_aside
from traitbench_app.samples.importing import VIEW, import_file
from traitbench_app.samples.raters import compare_labels
from traitbench_app.samples.review import draw_review
from traitbench_app.samples.rows import ids_of, pick_rows, picks_rows
from traitbench_app.samples.synthesis import delete_synthesized, draw_outcome, synthesize
from traitbench_app.samples.unsaved import (
    draw_brought,
    draw_conflicts,
    draw_discard,
    draw_discarded,
    draw_overtaken,
    warn_before_leaving,
)
from traitbench_app.samples.waiting import draw_waiting_feedback
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import attempt, client, namespaces
from traitbench_app.workspace.changes import remember, save
from traitbench_app.workspace.sample_table import Filters, HeldSamples, ServedSamples, sample_table
from traitbench_app.workspace.unsaved import drop, forget_discarded, unsaved

VIEWS = {
    "table": "Table",
    "add": "Add by hand",
    "import": "Import a file",
    "synthesize": "Synthesize",
    "check": "Check",
    "raters": "Compare labels",
}
READING = ("table", "check", "raters")
ORIGINS: dict[Provenance, str] = {
    "authored": "Authored",
    "synthesized": "Synthesized",
    "score_feedback": "Feedback",
}
POLES: dict[str, Pole] = {"positive": "positive", "in between": "between", "negative": "negative"}
USES = {"test": "Test samples", "training": "Training samples"}
OVERTAKEN = "samples.overtaken_in"
COLUMNS = ("text", "trait", "quality", "held_out", "must_pass", "provenance", "source_url", "created_at")


def row(sample: Sample) -> tuple[object, ...]:
    """The cells of a sample in a downloaded file, in the order of `COLUMNS`."""
    return (*(getattr(sample, column) for column in COLUMNS[:-1]), sample.created_at.isoformat())


def page_in_link(pages: int) -> int:
    """The page of the table in the link or on screen, at most `pages`."""
    wanted = str(st.session_state.get("page", st.query_params.get("page", "1")))
    page = min(max(int(wanted), 1), pages) if wanted.isdecimal() and len(wanted) < 7 else 1
    if "page" in st.session_state and st.session_state["page"] != page:
        session.put({"page": page})
    return page


def needs_all(model: Model) -> bool:
    """Whether all samples must be read, however many: to find some by id, or edits whose samples someone changed."""
    brought = model.forked_from is not None and len(unsaved(model.forked_from.handle)) > 0
    return picks_rows() or brought or session.get(OVERTAKEN) == model.handle


def filters(
    table: HeldSamples | ServedSamples, names: dict[str, str]
) -> tuple[str, str | None, str | None, Provenance | None, str | None, str]:
    """Draw the filters, which are part of the link, and return what is chosen."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="samples.filters"):
        text = st.text_input(
            "Find",
            key="find",
            bind="query-params",
            type="search",
            icon=":material/search:",
            placeholder="Search in texts",
            max_chars=LONGEST_SEARCH,
            live="300ms",
            width=300,
        )
        trait = st.selectbox(
            "Trait",
            list(names),
            index=None,
            key="trait",
            bind="query-params",
            format_func=lambda key: names.get(key, key),
            placeholder="All",
            width=220,
        )
        pole = st.selectbox(
            "Pole",
            list(POLES),
            index=None,
            key="pole",
            bind="query-params",
            placeholder="Any",
            width=160,
        )
        origin = None
        if not table.all_authored or session.on_screen("origin", ""):
            origin = st.selectbox(
                "Origin",
                list(ORIGINS),
                index=None,
                key="origin",
                bind="query-params",
                format_func=lambda each: ORIGINS[each],
                placeholder="Any",
                width=160,
            )
        use = None
        if table.tests or session.on_screen("use", ""):
            use = st.selectbox(
                "Use",
                list(USES),
                index=None,
                key="use",
                bind="query-params",
                format_func=lambda each: USES[each],
                placeholder="Any",
                width=180,
            )
        rows = pick_rows()
    return text, trait, pole, origin, use, rows


model = chosen_model()
top = st.container()
traits = client().traits.list(model.handle)
can_edit = editable(model, "samples")
if model.zero_data_retention:
    st.caption(":material/shield: Zero data retention is on: training removes the samples that it used.")

draw_unreadable(traits.unreadable, "trait", key="samples.unreadable_traits")
if not traits:
    with top:
        heading("samples", model, traits)
    st.markdown("Each sample is a labelled text for one trait.")
    st.stop()

if model.handle.split(".")[0] not in namespaces():
    with top:
        heading("samples", model, traits)
    st.caption("Only owners of the model's namespace can see its samples.")
    st.stop()

if why_read_only(model):
    with top:
        heading("samples", model, traits)
    st.stop()

table = sample_table(model.handle, traits, whole=needs_all(model))
damaged = st.container()
names = {trait.key: trait.name for trait in traits}

draw_waiting_feedback(model, traits, may_change=model.state != "archived" and not why_read_only(model))
if not can_edit:
    draw_overtaken(model)
elif isinstance(table, HeldSamples):
    draw_brought(model, table.samples)
    draw_conflicts(model, table.samples)

# ---- which view ------------------------------------------------------------------------------------------------------

if can_edit and (goal := session.get(VIEW)):
    session.put({"task": goal})
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
        restore_place(traits)
    with top:
        heading("samples", model, traits, task=VIEWS[view], **(link_place(traits) if view == "add" else {}))
    if view == "add":
        add_by_hand(model.handle, traits, samples)
    elif view == "check":
        draw_check(model, traits, samples, can_edit=can_edit)
    elif view == "raters":
        compare_labels(model, traits, samples, can_edit=can_edit)
    elif view == "synthesize":
        synthesize(model, traits, samples)
    else:
        import_file(model, traits, samples)
    st.stop()

synthesized = table.synthesized() if can_edit else ()
if can_edit:
    draw_outcome(model, len(synthesized))
    draw_review(model, traits, synthesized)

# ---- the table: filters are part of the URL, edits wait until they are saved -----------------------------------------

text, trait, pole, origin, use, rows = filters(table, names) if table.total else ("", None, None, None, None, "")

matches = table.find(
    Filters(text, trait, POLES[pole] if pole else None, origin, use == "test" if use else None, ids_of(rows))
)
page = page_in_link(matches.pages)
shown = matches.page(page) if matches.count else []
if can_edit and isinstance(table, ServedSamples) and table.lost(unsaved(model.handle).originals):
    # Someone changed a sample that has an unsaved edit. To show its newer text, all samples are read.
    session.store(OVERTAKEN, model.handle)
    st.rerun()
with damaged:
    draw_unreadable(table.unreadable(), "sample", key="samples.unreadable")

with top:
    named = ORIGINS[origin] if origin else None
    heading(
        "samples",
        model,
        traits,
        find=text,
        trait=names.get(str(trait)),
        pole=pole,
        origin=named,
        use=USES[use] if use else None,
        rows=rows,
        page=page if page > 1 else None,
    )

with st.container(horizontal=True, vertical_alignment="center", key="samples.said"):
    summary = count(table.total, "sample")
    if matches.count < table.total:
        summary = f"{matches.count:,} of {summary}"
    if matches.count:
        summary += ", newest first"
    if table.total:
        st.caption(summary, width="content")
    if can_edit:
        draw_undo(model.handle)
        delete_synthesized(model, synthesized)
    draw_discarded(model)

if not table.total:
    with st.container(border=True, key="samples.empty"):
        st.subheader("No samples yet" if can_edit else "No samples", icon=":material/notes:", anchor=False)
        if can_edit:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.button(
                    "Add by hand",
                    type="primary",
                    icon=":material/edit_note:",
                    key="samples.first_add",
                    on_click=session.put,
                    args=({"task": "add"},),
                )
                st.button(
                    "Import a file",
                    icon=":material/upload:",
                    key="samples.first_import",
                    on_click=session.put,
                    args=({"task": "import"},),
                )
                st.button(
                    "Synthesize",
                    icon=":material/auto_awesome:",
                    key="samples.first_synthesize",
                    on_click=session.put,
                    args=({"task": "synthesize"},),
                    help="Generate texts from the names of traits and poles, for a first try.",
                )
                page_link("label", "Label texts one by one")
    st.stop()

if not matches.count:
    with st.container(border=True, key="samples.nothing"):
        st.markdown("**No samples match.**")
        st.button(
            "Show all samples",
            icon=":material/filter_alt_off:",
            key="samples.clear",
            on_click=session.put,
            args=({"find": "", "trait": None, "pole": None, "origin": None, "use": None, "rows": ""},),
        )
else:
    grid = st.container(key="samples-grid")
    if matches.pages > 1:
        st.pagination(matches.pages, key="page", bind="query-params")
    with grid:
        if can_edit:
            edit_table(model, shown, traits)
        else:
            show_table(shown, traits)
    if can_edit:
        st.caption("Click a cell to edit it. To delete rows, tick them on the left and press Delete.")

# ---- save, discard, download -----------------------------------------------------------------------------------------

refusal = st.container()
conflicting = table.lost(unsaved(model.handle).originals) if can_edit else set()
changes = unsaved(model.handle).without(conflicting).changes
with st.container(horizontal=True, vertical_alignment="center", key="samples.actions"):
    if can_edit:
        saving = st.button(
            f"Save {count(len(changes), 'change')}" if changes else "Save changes",
            type="primary",
            icon=":material/check:",
            disabled=not changes,
            key="samples.save",
            help=None if changes else "Nothing is unsaved.",
        )
        draw_discard(model, possible=bool(changes))
    with st.popover("Download", icon=":material/download:", type="tertiary"):
        st.download_button(
            "CSV",
            lambda: csv_file(COLUMNS, map(row, matches.every())),
            file_name=f"{model.handle}-samples.csv",
            mime="text/csv",
            icon=":material/download:",
            key="samples.csv",
            on_click="ignore",
            help="Download the filtered samples for a spreadsheet. A text that looks like a formula gets an apostrophe "
            "in front, so that no spreadsheet runs it.",
        )
        st.download_button(
            "JSONL",
            lambda: jsonl_file(COLUMNS, map(row, matches.every())),
            file_name=f"{model.handle}-samples.jsonl",
            mime="application/x-ndjson",
            icon=":material/download:",
            key="samples.jsonl",
            on_click="ignore",
            help="Download the filtered samples with unchanged texts. You can import this file again.",
        )
if can_edit:
    warn_before_leaving(model, len(unsaved(model.handle)))
    draw_set_aside(model, traits, table.tests, table.every)

if can_edit and saving:
    with refusal, attempt() as acting:
        bar = st.progress(0.0, text="Saving")
        done = save(
            model.handle,
            table.samples if isinstance(table, HeldSamples) else unsaved(model.handle).originals.values(),
            changes,
            progress=lambda at, of: bar.progress(at / of, text=f"Saving {at:,} of {of:,}"),
        )
    if acting.error and isinstance(table, ServedSamples):
        session.store(OVERTAKEN, model.handle)
    if acting.done:
        remember(done)
        forget_discarded()
        drop(model, changes.ids - done.missing)
        redraw()
        session.flash(f"Saved: {done.what}.")
        if done.missing:
            session.store(OVERTAKEN, model.handle)
            session.flash(
                f"{count(len(done.missing), 'edit')} not saved: someone else changed or deleted the sample.", "problem"
            )
        st.rerun()

"""What is done with the samples table: save its edits, notice those that someone else overtook, download its rows."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.samples import Sample
from traitbench.display.text import count
from traitbench.tables.writing import csv_file, jsonl_file
from traitbench_app.parts.controls import download
from traitbench_app.parts.sample_table import redraw
from traitbench_app.samples.filters import picks_rows
from traitbench_app.samples.unsaved import draw_discard
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt
from traitbench_app.workspace.changes import Changes, remember, save
from traitbench_app.workspace.samples import LoadedSamples, Matches, ServedSamples
from traitbench_app.workspace.unsaved import drop, forget_discarded, unsaved

_OVERTAKEN = "samples.overtaken_in"


def needs_all(model: Model) -> bool:
    """Whether all samples must be read, however many: to find some by id, or edits whose samples someone changed."""
    brought = model.forked_from is not None and len(unsaved(model.forked_from.handle)) > 0
    return picks_rows() or brought or session.get(_OVERTAKEN) == model.handle


def notice_overtaken(model: Model, table: LoadedSamples | ServedSamples) -> None:
    """Read all samples if someone changed one that has an unsaved edit, to show its newer text."""
    if isinstance(table, ServedSamples) and table.lost(unsaved(model.handle).originals):
        session.store(_OVERTAKEN, model.handle)
        st.rerun()


def draw_actions(model: Model, table: LoadedSamples | ServedSamples, matches: Matches, *, can_edit: bool) -> None:
    """Draw the buttons that save, discard and download, and save."""
    refusal = st.container()
    conflicting = table.lost(unsaved(model.handle).originals) if can_edit else set()
    changes = unsaved(model.handle).without(conflicting).changes
    saving = False
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
        draw_download(model.handle, matches)
    if saving:
        with refusal:
            _save(model, table, changes)


def _save(model: Model, table: LoadedSamples | ServedSamples, changes: Changes) -> None:
    with attempt() as acting:
        bar = st.progress(0.0, text="Saving")
        done = save(
            model.handle,
            # Of a large model, only the samples that are edited are known.
            table.samples if isinstance(table, LoadedSamples) else unsaved(model.handle).originals.values(),
            changes,
            progress=lambda at, of: bar.progress(at / of, text=f"Saving {at:,} of {of:,}"),
        )
    if acting.error and isinstance(table, ServedSamples):
        session.store(_OVERTAKEN, model.handle)
    if acting.done:
        remember(done)
        forget_discarded()
        drop(model, changes.ids - done.missing)
        redraw()
        if done.missing:
            session.store(_OVERTAKEN, model.handle)
            session.flash(
                f"{count(len(done.missing), 'edit')} not saved: someone else changed or deleted the sample.", "problem"
            )
        st.rerun()


# ---- download --------------------------------------------------------------------------------------------------------

_COLUMNS = ("text", "trait", "quality", "held_out", "must_pass", "provenance", "source_url", "group", "created_at")
_FILES = (
    (
        "CSV",
        csv_file,
        "Download the filtered samples for a spreadsheet. A text that looks like a formula gets an apostrophe in "
        "front, so that no spreadsheet runs it.",
    ),
    (
        "JSONL",
        jsonl_file,
        "Download the filtered samples with unchanged texts. You can import this file again.",
    ),
)


def draw_download(handle: str, matches: Matches) -> None:
    """Draw the two files to download; all samples that pass the filters are read when one is pressed."""
    with st.popover("Download", icon=":material/download:", type="tertiary"):
        for name, write, hint in _FILES:
            download(
                name,
                partial(_content, write, matches),
                f"{handle}-samples.{name.lower()}",
                key=f"samples.{name.lower()}",
                help=hint,
            )


def _content(write: Callable[..., bytes], matches: Matches) -> bytes:
    return write(_COLUMNS, map(_row, matches.every()))


def _row(sample: Sample) -> tuple[object, ...]:
    return (*(getattr(sample, column) for column in _COLUMNS[:-1]), sample.created_at.isoformat())

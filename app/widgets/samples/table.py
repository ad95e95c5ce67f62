"""The samples of a model as a table, read-only or editable.

Edits wait in the session, keyed by sample, until they are saved; they survive filters, new samples and other pages. The
editor identifies rows by position, so its key changes with the rows that it shows. Its input then includes the unsaved
edits, but its output is never fed back into the same editor.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from traitbench.app.samples.sample_changes import Changes, Mark, mark_of
from traitbench.app.shell import session
from traitbench.app.shell.theme import pole_sign
from traitbench.contract.samples import LONGEST_TEXT, Sample, SampleInput
from traitbench.contract.traits import Trait

MOST_ROWS, MOST_CHARACTERS = 20_000, 6_000_000
ROW_HEIGHT, _HEADER_HEIGHT = 34, 36
_CHANGES, _CARRIED, _ROUND = "samples.changes", "samples.carried", "samples.table"
_ORDER = ["pole", "text", "trait", "quality", "held_out", "must_pass", "provenance", "created_at"]
_FIELDS = ["text", "trait", "quality", "held_out", "must_pass"]


def table_height(rows: int, *, most: int) -> int:
    """The height in pixels of a table that shows all its rows, up to `most`."""
    return ROW_HEIGHT * min(max(rows, 1), most) + _HEADER_HEIGHT


def fitting(samples: Sequence[Sample]) -> list[Sample]:
    """The newest samples that a browser can show at once, newest first."""
    fits: list[Sample] = []
    characters = 0
    for sample in reversed(samples):
        characters += len(sample.text)
        if len(fits) == MOST_ROWS or characters > MOST_CHARACTERS:
            break
        fits.append(sample)
    return fits


def waiting(handle: str) -> Changes:
    """The unsaved edits of this model."""
    held = session.get(_CHANGES)
    return held[1] if held and held[0] == handle else Changes()


def forget_changes() -> None:
    """Discard the unsaved edits. A button callback."""
    session.store(_CHANGES, None)
    session.next_round(_ROUND)


def delete_later(handle: str, ids: Iterable[int]) -> None:
    """Mark these samples for deletion at the next save. A button callback."""
    held = waiting(handle)
    gone = held.deletions | frozenset(ids)
    edits = {sample_id: edit for sample_id, edit in held.edits.items() if sample_id not in gone}
    marks = {sample_id: mark for sample_id, mark in held.marks.items() if sample_id not in gone}
    session.store(_CHANGES, (handle, Changes(edits, gone, marks)))
    session.next_round(_ROUND)


def keep_after_all(handle: str, ids: Iterable[int]) -> None:
    """Unmark these samples, before the deletion is saved. A button callback."""
    held = waiting(handle)
    session.store(_CHANGES, (handle, Changes(held.edits, held.deletions - frozenset(ids), held.marks)))
    session.next_round(_ROUND)


def show_table(samples: Sequence[Sample], traits: Sequence[Trait]) -> None:
    """Draw the samples read-only."""
    st.dataframe(
        _frame(samples, traits, Changes()),
        column_config=_columns(samples, traits),
        column_order=_ORDER,
        hide_index=True,
        height=table_height(len(samples), most=15),
        row_height=ROW_HEIGHT,
        key="samples.read",
        alt="Samples of the model",
    )


def edit_table(handle: str, samples: Sequence[Sample], traits: Sequence[Trait]) -> Changes:
    """Draw the samples in an editor; return all unsaved edits, including those of rows not shown."""
    key = _key(handle, samples)
    carried = session.get(_CARRIED)
    if not carried or carried[0] != key:
        carried = (key, waiting(handle))
        session.store(_CARRIED, carried)
    frame = _frame(samples, traits, carried[1])
    edited = st.data_editor(
        frame,
        column_config=_columns(samples, traits),
        disabled=["pole", "provenance", "created_at"],
        num_rows="delete",
        column_order=_ORDER,
        hide_index=True,
        height=table_height(len(frame), most=15),
        row_height=ROW_HEIGHT,
        key=key,
        alt="Samples of the model, to be edited",
    )
    changes = _changes(samples, edited, waiting(handle))
    session.store(_CHANGES, (handle, changes))
    return changes


def _key(handle: str, samples: Sequence[Sample]) -> str:
    ids = hashlib.sha256(" ".join(str(sample.id) for sample in samples).encode()).hexdigest()[:16]
    return f"{session.round_key(_ROUND)}:{handle}:{ids}"


def _frame(samples: Sequence[Sample], traits: Sequence[Trait], changes: Changes) -> pd.DataFrame:
    """One row per sample, indexed by id, with the unsaved edits applied."""
    labels = {trait.key: (trait.negative_label, trait.positive_label) for trait in traits}
    rows = []
    for sample in samples:
        if sample.id not in changes.deletions:
            now = changes.edits.get(sample.id, sample)
            marks = changes.marks.get(sample.id, (now.held_out, now.must_pass))
            rows.append((sample.id, now.text, now.trait, now.quality, *marks, _pole(sample, labels), *_origin(sample)))
    frame = pd.DataFrame(rows, columns=["id", *_FIELDS, "pole", "provenance", "created_at"])
    return frame.astype({"text": "str", "trait": "str", "quality": "float64"}).set_index("id")


def _pole(sample: Sample, labels: dict[str, tuple[str, str]]) -> str:
    if sample.quality == 0.5:
        return f"{pole_sign(0.5)} in between"
    return f"{pole_sign(sample.quality)} {labels[sample.trait][sample.quality > 0.5]}" if sample.trait in labels else ""


def _origin(sample: Sample) -> tuple[str, pd.Timestamp]:
    return sample.provenance.replace("_", " "), pd.Timestamp(sample.created_at)


def _columns(samples: Sequence[Sample], traits: Sequence[Trait]) -> dict[str, Any]:
    names = {trait.key: trait.name for trait in traits}
    column = st.column_config
    return {
        "text": column.TextColumn("Text", width=440, required=True, max_chars=LONGEST_TEXT),
        "trait": column.SelectboxColumn(
            "Trait",
            options=list(names),
            format_func=lambda key: names.get(str(key), str(key)),
            width=120,
            required=True,
        ),
        "quality": column.NumberColumn(
            "Quality",
            min_value=0.0,
            max_value=1.0,
            step=0.01,
            format="%.2f",
            width=84,
            required=True,
            help="1 is the positive pole, 0 the negative pole. Values in between are allowed.",
        ),
        "pole": column.TextColumn("Pole", width=120, help="Updated from the quality when you save."),
        "held_out": column.CheckboxColumn(
            "Test", width=60, help="A test sample: no version learns from it, and every version is measured on it."
        ),
        "must_pass": column.CheckboxColumn(
            "Must pass",
            width=90,
            help="A test sample whose score has to be on its pole's side. Ticking it makes the sample a test sample.",
        ),
        "provenance": None
        if all(sample.provenance == "authored" for sample in samples)
        else column.TextColumn("Origin", width=90),
        "created_at": column.DatetimeColumn("Added", format="distance", width=130),
    }


def _changes(samples: Sequence[Sample], edited: pd.DataFrame, before: Changes) -> Changes:
    """The edits in the shown rows, plus the unsaved edits of samples that are not shown."""
    shown = {sample.id: sample for sample in samples}
    edits = {key: each for key, each in before.edits.items() if key not in shown}
    marks = {key: each for key, each in before.marks.items() if key not in shown}
    for sample_id, (text, trait, quality, *ticks) in zip(
        edited.index, edited[_FIELDS].itertuples(index=False, name=None), strict=True
    ):
        old = shown[int(sample_id)]
        text, trait = (text if isinstance(text, str) else ""), (trait if isinstance(trait, str) else old.trait)
        quality = old.quality if pd.isna(quality) else float(quality)
        mark = _mark(old, bool(ticks[0]), bool(ticks[1]))
        if (text, trait, quality) != (old.text, old.trait, old.quality):
            now = SampleInput.model_construct(text=text, trait=trait, quality=quality, source_url=old.source_url)
            edits[old.id] = now.model_copy(update={"held_out": mark[0], "must_pass": mark[1]} if mark[0] else {})
        elif mark != mark_of(old):
            marks[old.id] = mark
    deletions = {each for each in before.deletions if each not in shown} | (shown.keys() - set(edited.index))
    return Changes(edits, frozenset(deletions), marks)


def _mark(old: Sample, held_out: bool, must_pass: bool) -> Mark:
    """The marks that the ticks mean: what must pass is a test sample, and what is none any more need not pass."""
    if old.held_out and not held_out:
        return False, False
    return held_out or must_pass, must_pass

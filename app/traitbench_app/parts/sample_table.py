"""The samples of a model as a table, a page at a time, read-only or editable.

Edits wait until they are saved (`workspace.unsaved`), keyed by sample; they survive filters, pages of the table, new
samples and other pages. The editor identifies rows by position, so its key changes with the rows that it shows. Its
input then includes the unsaved edits, but its output is never fed back into the same editor.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.samples import LONGEST_TEXT, Sample, SampleInput
from traitbench.contract.traits import Trait
from traitbench.display.colours import NEGATIVE_SIGN, POSITIVE_SIGN, pole_sign
from traitbench_app.shell import session
from traitbench_app.workspace.changes import Changes, Mark, mark_of
from traitbench_app.workspace.unsaved import keep, unsaved

ROW_HEIGHT, _HEADER_HEIGHT = 34, 36
_CARRIED, _ROUND = "samples.carried", "samples.table"
_ORDER = ["text", "trait", "quality", "held_out", "must_pass", "provenance", "created_at"]
_FIELDS = ["text", "trait", "quality", "held_out", "must_pass"]
_STEPS = 20
# Pixels. The columns together are as wide as a page in a wide window.
_WIDTH, _TEST, _MUST_PASS, _ORIGIN, _ADDED = 970, 60, 90, 90, 120


def table_height(rows: int, *, most: int) -> int:
    """The height in pixels of a table that shows all its rows, up to `most`."""
    return ROW_HEIGHT * min(max(rows, 1), most) + _HEADER_HEIGHT


def waiting(handle: str) -> Changes:
    """The unsaved edits of this model."""
    return unsaved(handle).changes


def redraw() -> None:
    """Reset the editor in the next run, because the unsaved edits were changed outside it."""
    session.next_round(_ROUND)


def delete_later(model: Model, samples: Iterable[Sample], ids: Iterable[int]) -> None:
    """Mark these samples for deletion at the next save. A button callback."""
    held = waiting(model.handle)
    gone = held.deletions | frozenset(ids)
    edits = {sample_id: edit for sample_id, edit in held.edits.items() if sample_id not in gone}
    marks = {sample_id: mark for sample_id, mark in held.marks.items() if sample_id not in gone}
    keep(model, Changes(edits, gone, marks), samples)
    redraw()


def keep_after_all(model: Model, ids: Iterable[int]) -> None:
    """Unmark these samples, before the deletion is saved. A button callback."""
    held = waiting(model.handle)
    keep(model, Changes(held.edits, held.deletions - frozenset(ids), held.marks), ())
    redraw()


def show_table(samples: Sequence[Sample], traits: Sequence[Trait]) -> None:
    """Draw the samples read-only."""
    st.dataframe(
        _frame(samples, Changes()),
        column_config=_columns(samples, traits),
        column_order=_ORDER,
        hide_index=True,
        height=table_height(len(samples), most=15),
        row_height=ROW_HEIGHT,
        key="samples.read",
        alt="Samples of the model",
    )


def edit_table(model: Model, samples: Sequence[Sample], traits: Sequence[Trait]) -> Changes:
    """Draw the samples in an editor; return all unsaved edits, including those of rows not shown."""
    key = _key(model.handle, samples)
    carried = session.get(_CARRIED)
    if carried and carried[0] == key and key not in st.session_state:
        # Another page was open, so the editor lost its state: it begins again with the edits that wait.
        redraw()
        key = _key(model.handle, samples)
    if not carried or carried[0] != key:
        carried = (key, waiting(model.handle))
        session.store(_CARRIED, carried)
    frame = _frame(samples, carried[1])
    edited = st.data_editor(
        frame,
        column_config=_columns(samples, traits),
        disabled=["provenance", "created_at"],
        num_rows="delete",
        column_order=_ORDER,
        hide_index=True,
        height=table_height(len(frame), most=15),
        row_height=ROW_HEIGHT,
        key=key,
        alt="Samples of the model, to be edited",
    )
    changes = _changes(samples, edited, waiting(model.handle))
    keep(model, changes, samples)
    return changes


def _key(handle: str, samples: Sequence[Sample]) -> str:
    ids = hashlib.sha256(" ".join(str(sample.id) for sample in samples).encode()).hexdigest()[:16]
    return f"{session.round_key(_ROUND)}:{handle}:{ids}"


def _frame(samples: Sequence[Sample], changes: Changes) -> pd.DataFrame:
    """One row per sample, indexed by id, with the unsaved edits applied."""
    rows = []
    for sample in samples:
        if sample.id not in changes.deletions:
            now = changes.edits.get(sample.id, sample)
            marks = changes.marks.get(sample.id, (now.held_out, now.must_pass))
            rows.append((sample.id, now.text, now.trait, now.quality, *marks, *_origin(sample)))
    frame = pd.DataFrame(rows, columns=["id", *_FIELDS, "provenance", "created_at"])
    return frame.astype({"text": "str", "trait": "str", "quality": "float64"}).set_index("id")


def _origin(sample: Sample) -> tuple[str, pd.Timestamp]:
    return sample.provenance.replace("_", " "), pd.Timestamp(sample.created_at)


def _label_names(samples: Sequence[Sample], traits: Sequence[Trait]) -> Mapping[float, str]:
    """The choices of the label column: steps of 0.05 and all qualities in use, with the poles of a single trait."""
    own = [trait for trait in traits if any(sample.trait == trait.key for sample in samples)]
    poles = {0.0: own[0].negative_label, 1.0: own[0].positive_label} if len(own) == 1 else {}
    qualities = {step / _STEPS for step in range(_STEPS + 1)} | {sample.quality for sample in samples}
    words = {1.0: "1", 0.0: "0", 0.5: "0.5"}
    return {
        each: f"{pole_sign(each)} {words.get(each, f'{each:.4g}')} {poles.get(each, '')}".rstrip()
        for each in sorted(qualities, key=lambda each: (each not in (0.0, 0.5, 1.0), each not in (0.0, 1.0), -each))
    }


def _with_poles(trait: Trait) -> str:
    return f"{trait.name}  {NEGATIVE_SIGN} {trait.negative_label}  {POSITIVE_SIGN} {trait.positive_label}"


def _columns(samples: Sequence[Sample], traits: Sequence[Trait]) -> dict[str, Any]:
    several = len({sample.trait for sample in samples}) > 1
    all_authored = all(sample.provenance == "authored" for sample in samples)
    trait, label = (240, 80) if several else (130, 150)
    text = _WIDTH - trait - label - _TEST - _MUST_PASS - _ADDED - (0 if all_authored else _ORIGIN)
    names = {trait.key: _with_poles(trait) if several else trait.name for trait in traits}
    labels = _label_names(samples, traits)
    column = st.column_config
    return {
        "text": column.TextColumn("Text", width=text, required=True, max_chars=LONGEST_TEXT),
        "trait": column.SelectboxColumn(
            "Trait",
            options=list(names),
            format_func=lambda key: names.get(str(key), str(key)),
            width=trait,
            required=True,
        ),
        "quality": column.SelectboxColumn(
            "Label",
            options=list(labels),
            format_func=lambda quality: labels.get(float(quality), f"{quality}"),
            width=label,
            required=True,
            help=f"{POSITIVE_SIGN} 1 is the positive pole, {NEGATIVE_SIGN} 0 the negative pole, 0.5 is in between. "
            "Choose another label, or type a number.",
        ),
        "held_out": column.CheckboxColumn(
            "Test", width=_TEST, help="A test sample: no version learns from it, and every version is measured on it."
        ),
        "must_pass": column.CheckboxColumn(
            "Must pass",
            width=_MUST_PASS,
            help="A test sample whose score has to be on its pole's side. Ticking it makes the sample a test sample.",
        ),
        "provenance": None if all_authored else column.TextColumn("Origin", width=_ORIGIN),
        "created_at": column.DatetimeColumn("Added", format="distance", width=_ADDED),
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

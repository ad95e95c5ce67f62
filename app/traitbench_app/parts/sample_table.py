"""The samples of a model as a table, a page at a time, read-only or editable.

Edits wait until they are saved (`workspace.unsaved`), keyed by sample; they survive filters, pages of the table, new
samples and other pages. The editor identifies rows by position, so its key changes with the rows that it shows. Its
input then includes the unsaved edits, but its output is never fed back into the same editor.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.samples import LONGEST_GROUP, LONGEST_TEXT, Provenance, Sample, SampleInput
from traitbench.contract.traits import Trait
from traitbench.display.sides import label_of
from traitbench.display.text import count, plain
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt
from traitbench_app.workspace.changes import UNDO, Changes, Mark, Undo, forget_last, mark_of, take_back
from traitbench_app.workspace.unsaved import keep, unsaved

ROW_HEIGHT, _HEADER_HEIGHT = 34, 36
_CARRIED, _ROUND = "samples.carried", "samples.table"
_FIELDS = ["text", "label", "held_out", "must_pass"]
_ORDER = [*_FIELDS, "group", "provenance", "created_at"]
_STEPS = 20
# Pixels. The columns together are as wide as a page in a wide window.
_WIDTH, _TEST, _MUST_PASS, _GROUP, _ORIGIN, _ADDED = 970, 60, 130, 120, 150, 125
# By the lines of the longest text. Below 65 pixels, Streamlit wraps no text.
_ROW_HEIGHTS, _HEIGHT, _LETTER = ((1.0, ROW_HEIGHT), (3.0, 66), (inf, 80)), 560, 6.5

ORIGINS: Mapping[Provenance, str] = {
    "authored": "Written or imported",
    "score_feedback": "Corrections of scores",
    "synthesized": "Synthesized",
}
"""Where samples come from, in words."""

_TEST_MEANS = "No version learns from this text, and every version is checked on it."
_NEVER_MEANS = "A test text that every version must put on the side of its label."
_GROUP_MEANS = "What the text belongs to, such as a conversation: no figure divides a group."
_MARKS = f"**Test**: {_TEST_MEANS} **Never get wrong**: {_NEVER_MEANS}"


class _Label(NamedTuple):
    """The label of a sample: one pole of one trait, or somewhere between its poles."""

    trait: str
    quality: float

    def __str__(self) -> str:
        return f"{self.trait} {self.quality!r}"

    @classmethod
    def read(cls, written: str) -> "_Label":
        trait, _, quality = written.rpartition(" ")
        return cls(trait, float(quality))


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
    stored = waiting(model.handle)
    gone = stored.deletions | frozenset(ids)
    edits = {sample_id: edit for sample_id, edit in stored.edits.items() if sample_id not in gone}
    marks = {sample_id: mark for sample_id, mark in stored.marks.items() if sample_id not in gone}
    keep(model, Changes(edits, gone, marks), samples)
    redraw()


def keep_after_all(model: Model, ids: Iterable[int]) -> None:
    """Unmark these samples, before the deletion is saved. A button callback."""
    stored = waiting(model.handle)
    keep(model, Changes(stored.edits, stored.deletions - frozenset(ids), stored.marks), ())
    redraw()


def show_table(samples: Sequence[Sample], traits: Sequence[Trait]) -> None:
    """Draw the samples read-only."""
    frame = _frame(samples, Changes())
    marks = [name for name in ("held_out", "must_pass") if frame[name].any()]
    look = _look(frame, traits, marks)
    for name in ("held_out", "must_pass"):
        # A box that cannot be ticked looks as if it could be.
        frame[name] = frame[name].map({True: "yes", False: ""})
        if name in marks:
            look["column_config"][name]["type_config"] = {"type": "text"}
    st.dataframe(frame, key="samples.read", alt="Samples of the model", **look)
    if marks:
        st.caption(_MARKS)


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
        disabled=["provenance", "created_at"],
        num_rows="delete",
        key=key,
        alt="Samples of the model, to be edited",
        **_look(frame, traits),
    )
    st.caption(f"Double-click a cell to edit it. To delete rows, tick them on the left and press Delete.  \n{_MARKS}")
    changes = _changes(samples, edited, waiting(model.handle))
    keep(model, changes, samples)
    return changes


def _look(frame: pd.DataFrame, traits: Sequence[Trait], marks: Sequence[str] = _FIELDS) -> dict[str, Any]:
    columns = _columns(frame, traits)
    for name in {"held_out", "must_pass"}.difference(marks):
        columns["text"]["width"] += columns[name]["width"]
        columns[name] = None
    lines = _LETTER * frame["text"].str.len().max() / columns["text"]["width"] if len(frame) else 0
    row = next(height for most, height in _ROW_HEIGHTS if lines <= most)
    return {
        "column_config": columns,
        "column_order": _ORDER,
        "hide_index": True,
        "height": row * min(max(len(frame), 1), _HEIGHT // row) + _HEADER_HEIGHT,
        "row_height": row,
    }


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
            label, added = str(_Label(now.trait, now.quality)), pd.Timestamp(sample.created_at)
            rows.append((sample.id, now.text, label, *marks, now.group or "", ORIGINS[sample.provenance], added))
    frame = pd.DataFrame(rows, columns=["id", *_ORDER])
    return frame.astype({"text": "str", "label": "str", "group": "str"}).set_index("id")


def _labels(labels: Iterable[_Label], traits: Sequence[Trait]) -> dict[str, str]:
    """The choices of the label column: the poles of every trait, then the steps between them and `labels` in use."""
    by_key = {trait.key: trait for trait in traits}
    steps = {_Label(trait.key, step / _STEPS) for trait in traits for step in range(_STEPS + 1)}
    order = {key: position for position, key in enumerate(by_key)}

    def rank(label: _Label) -> tuple[bool, int, bool, float]:
        return label.quality not in (0, 0.5, 1), order[label.trait], label.quality == 0.5, -label.quality

    known = steps | {label for label in labels if label.trait in order}
    return {str(each): _in_words(by_key[each.trait], each, among=traits) for each in sorted(known, key=rank)}


def _in_words(trait: Trait, label: _Label, *, among: Sequence[Trait]) -> str:
    """`▲ warm`, and with several traits `▲ warm, Warmth`."""
    words = label_of(trait, label.quality)
    return f"{words}, {trait.name}" if len(among) > 1 else words


def _columns(frame: pd.DataFrame, traits: Sequence[Trait]) -> dict[str, Any]:
    all_authored = set(frame["provenance"]) <= {ORIGINS["authored"]}
    has_groups = bool((frame["group"] != "").any())
    width = 150 if len(traits) == 1 else 240
    text = _WIDTH - width - _TEST - _MUST_PASS - _ADDED - (0 if all_authored else _ORIGIN) - _GROUP * has_groups
    labels = _labels(map(_Label.read, frame["label"]), traits)
    column = st.column_config
    return {
        "text": column.TextColumn("Text", width=text, required=True, max_chars=LONGEST_TEXT),
        "label": column.SelectboxColumn(
            "Label",
            options=list(labels),
            format_func=lambda label: labels.get(str(label), str(label)),
            width=width,
            required=True,
            help="Click twice to choose another label; type to find it.",
        ),
        "held_out": column.CheckboxColumn("Test", width=_TEST, help=_TEST_MEANS),
        "must_pass": column.CheckboxColumn("Never get wrong", width=_MUST_PASS, help=_NEVER_MEANS),
        "group": column.TextColumn("Group", width=_GROUP, max_chars=LONGEST_GROUP, help=_GROUP_MEANS)
        if has_groups
        else None,
        "provenance": None if all_authored else column.TextColumn("Origin", width=_ORIGIN),
        "created_at": column.DatetimeColumn("Added", format="distance", width=_ADDED),
    }


def _changes(samples: Sequence[Sample], edited: pd.DataFrame, before: Changes) -> Changes:
    """The edits in the shown rows, plus the unsaved edits of samples that are not shown."""
    shown = {sample.id: sample for sample in samples}
    edits = {key: each for key, each in before.edits.items() if key not in shown}
    marks = {key: each for key, each in before.marks.items() if key not in shown}
    for sample_id, (text, label, *ticks, name) in zip(
        edited.index, edited[[*_FIELDS, "group"]].itertuples(index=False, name=None), strict=True
    ):
        old = shown[int(sample_id)]
        text = text if isinstance(text, str) else ""
        name = name if isinstance(name, str) else ""
        group = old.group if name == (old.group or "") else name.strip() or None
        trait, quality = _Label.read(label) if isinstance(label, str) else (old.trait, old.quality)
        mark = _mark(old, bool(ticks[0]), bool(ticks[1]))
        if (text, trait, quality, group) != (old.text, old.trait, old.quality, old.group):
            # Not validated: a text may be empty until the changes are saved.
            now = SampleInput.model_construct(text=text, trait=trait, quality=quality, source_url=old.source_url)
            more: dict[str, Any] = {"held_out": mark[0], "must_pass": mark[1]} if mark[0] else {}
            edits[old.id] = now.model_copy(update=more | ({"group": group} if group else {}))
        elif mark != mark_of(old):
            marks[old.id] = mark
    deletions = {each for each in before.deletions if each not in shown} | (shown.keys() - set(edited.index))
    return Changes(edits, frozenset(deletions), marks)


def _mark(old: Sample, held_out: bool, must_pass: bool) -> Mark:
    """The marks that the ticks mean: what must pass is a test sample, and what is none any more need not pass."""
    if old.held_out and not held_out:
        return False, False
    return held_out or must_pass, must_pass


_MANY = 50


def draw_undo(handle: str) -> None:
    """Draw the last change with an undo button; nothing if it was in another model."""
    undo = session.get(UNDO)
    if not isinstance(undo, Undo) or undo.handle != handle:
        return
    st.caption(f"Just now: {plain(undo.what)}" + ("" if undo.possible else " (cannot be undone)"), width="content")
    if undo.possible and st.button("Undo", icon=":material/undo:", type="tertiary", key="samples.undo_button"):
        bar = st.empty()

        def progress(done: int, of: int) -> None:
            if of > _MANY:
                bar.progress(done / of, text=f"Removing {done:,} of {of:,}")

        with attempt() as undoing:
            left = take_back(undo, progress)
        if undoing.done:
            forget_last()
            session.flash(_undone(undo, left))
            st.rerun()


def _undone(undo: Undo, left: int) -> str:
    """The message after an undo."""
    if left:
        return f"{count(left, 'sample')} could not be removed."
    return f"Undone, except {count(undo.forgone, 'synthesized sample')}." if undo.forgone else "Undone."

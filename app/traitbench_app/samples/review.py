"""Read what a synthesis made, one text at a time by keys, and what it rejected, of which a person can add some.

Beside it is what the quality filter rejected.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from traitbench.contract.models import LastOperation, Model, SynthesisOutcome
from traitbench.contract.samples import LONGEST_TEXT, OFFLINE, RejectedText, Sample, SampleInput
from traitbench.contract.traits import Trait
from traitbench.display.sides import label_of
from traitbench.display.text import count, plain
from traitbench_app.parts.sample_table import ROW_HEIGHT, table_height
from traitbench_app.samples.editing import SavedEdit, add, change, last_edit, remove, saved_edits, undo_last
from traitbench_app.samples.words import excerpt
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client

_STATE, _DRAFT = "samples.review", "samples.review.text"


@dataclass(frozen=True)
class _Review:
    """The texts of a model that were read, each with the edit that was made of it, and the one that is edited."""

    handle: str
    read: tuple[tuple[int, SavedEdit | None], ...] = ()
    edited: int | None = None

    @property
    def ids(self) -> frozenset[int]:
        """The samples that were read."""
        return frozenset(sample_id for sample_id, _ in self.read)


def draw_review(model: Model, traits: Sequence[Trait], made: Sequence[Sample]) -> None:
    """Draw the next synthesized text that nobody has read in this session, with its keys, and the rejects."""
    last = model.last_operation
    if last is None or last.kind != "synthesize" or last.status != "succeeded" or not made:
        return
    state = _state(model)
    open_ones = [each for each in made if each.id not in state.ids]
    with st.container(border=True, key="samples.review"):
        left, right = st.columns([3, 2])
        with left:
            if open_ones:
                _draw_text(model, traits, open_ones[0], f"{len(made) - len(open_ones) + 1:,} of {len(made):,}")
            else:
                st.markdown(f":material/check_circle: **You read all {len(made):,} synthesized samples.**")
            _draw_undo(model, state)
        outcome = last.progress.synthesis if last.progress else None
        if outcome is not None:
            with right:
                draw_counts(outcome)
        draw_rejects(model, traits, last)


def _draw_text(model: Model, traits: Sequence[Trait], sample: Sample, at: str) -> None:
    state = _state(model)
    trait = next((each for each in traits if each.key == sample.trait), None)
    st.markdown(f"**{at}.** {_where(sample, trait)} :gray[made {_by(sample)}]")
    if state.edited == sample.id:
        st.text_area("Text", sample.text, key=f"{_DRAFT}:{sample.id}", max_chars=LONGEST_TEXT, persist_state="page")
        with st.container(horizontal=True):
            st.button("Use this text", key="samples.review.use", on_click=_use, args=(model, sample))
            st.button("Cancel", type="tertiary", key="samples.review.cancel", on_click=_store, args=(model, state.read))
        return
    st.text(sample.text)
    with st.container(horizontal=True):
        st.button(
            "Keep",
            icon=":material/check:",
            shortcut="K",
            key="samples.review.keep",
            on_click=_store,
            args=(model, (*state.read, (sample.id, None))),
        )
        st.button(
            "Edit",
            icon=":material/edit:",
            shortcut="E",
            key="samples.review.edit",
            on_click=_store,
            args=(model, state.read, sample.id),
        )
        st.button(
            "Delete",
            icon=":material/delete:",
            shortcut="D",
            key="samples.review.delete",
            on_click=_delete,
            args=(model, sample),
        )


def _draw_undo(model: Model, state: _Review) -> None:
    if state.read and state.edited is None:
        st.button(
            "Back",
            icon=":material/undo:",
            type="tertiary",
            shortcut="U",
            key="samples.review.undo",
            help="Show the text before again, and take back what you did with it.",
            on_click=_undo,
            args=(model,),
        )


def _where(sample: Sample, trait: Trait | None) -> str:
    """The trait and pole of a sample in markdown."""
    if trait is None:
        return plain(sample.trait)
    return f"{plain(trait.name)}: {plain(label_of(trait, sample.quality))}"


def _by(sample: Sample) -> str:
    return "offline" if sample.generator in (None, "offline") else f"by {plain(str(sample.generator))}"


# ---- decisions -------------------------------------------------------------------------------------------------------


def _state(model: Model) -> _Review:
    stored: _Review | None = session.get(_STATE)
    return stored if stored is not None and stored.handle == model.handle else _Review(model.handle)


def _store(model: Model, read: tuple[tuple[int, SavedEdit | None], ...], edited: int | None = None) -> None:
    session.store(_STATE, _Review(model.handle, read, edited))


def _delete(model: Model, sample: Sample) -> None:
    remove(model, sample, f"{excerpt(sample.text)} is deleted.")
    _store(model, (*_state(model).read, (sample.id, last_edit(model.handle))))


def _use(model: Model, sample: Sample) -> None:
    text = str(st.session_state.get(f"{_DRAFT}:{sample.id}", sample.text))
    edit = None
    if text.strip() and text != sample.text:
        change(model, sample, f"{excerpt(text)} has a new text.", text=text)
        edit = last_edit(model.handle)
    _store(model, (*_state(model).read, (sample.id, edit)))


def _undo(model: Model) -> None:
    """Show the text before again; what was done with it is undone, unless something was edited since."""
    *before, (_, edit) = _state(model).read
    if edit is not None and edit == last_edit(model.handle):
        undo_last()
    _store(model, tuple(before))


REASONS: Mapping[str, tuple[str, str]] = {
    "invalid": ("not in the form asked for", "not in the form asked for"),
    "copy": ("copies", "a copy"),
    "near_duplicate": ("nearly the same as another text", "nearly the same as another text"),
    "wrong_side": ("on the wrong side", "on the wrong side"),
    "strayed": ("too far from the text they vary", "too far from the text it varies"),
    "repetitive": ("begin like many others", "begins like many others"),
    "form": ("with marks that only one pole has", "has marks that only one pole has"),
    "length": ("too long or too short for their pole", "too long or too short for its pole"),
}
"""What the quality filter rejects: words that follow a number of texts, and words for one text."""

_READ, _ADDED, _GRID = "samples.rejected", "samples.rejected_added", "samples.rejects"


def draw_counts(outcome: SynthesisOutcome) -> None:
    """Draw how many texts were accepted, and how many rejected for which reason."""
    tokens = f", {outcome.tokens:,} tokens" if outcome.tokens else ""
    by = "offline" if outcome.generator == OFFLINE else f"by {plain(outcome.generator)}"
    st.markdown(f"**{outcome.added:,} accepted**, {sum(outcome.rejected.values()):,} rejected, made {by}{tokens}")
    for reason, number in sorted(outcome.rejected.items(), key=lambda each: -each[1]):
        st.caption(f"{number:,} {REASONS[reason][0] if reason in REASONS else plain(reason)}")


def draw_rejects(model: Model, traits: Sequence[Trait], last: LastOperation) -> None:
    """Draw the rejected texts that can be read, folded, and the button that adds those that are ticked."""
    outcome = last.progress.synthesis if last.progress else None
    if outcome is None or not outcome.rejected:
        return
    if model.zero_data_retention:
        st.caption("Zero data retention is on, so rejected texts were not kept.")
        return
    names = {trait.key: trait for trait in traits}
    every, there = _read(model, last), {added for edit in saved_edits() for added in edit.added}
    listed = [each for each in every if each.trait in names and _added().get((each.trait, each.text)) not in there]
    if not listed:
        return
    total = sum(outcome.rejected.values())
    some = f"Read {len(every):,} of the {total:,} rejected texts" if len(every) < total else "Read the rejected texts"
    with st.expander(some, icon=":material/rule:"):
        st.caption(
            "Tick the texts that are good all the same. Added, they count as samples of your own: check that each"
            " belongs to its pole."
        )
        picked = _picked(listed, names)
        slot = st.container()
        if st.button(
            f"Add {count(len(picked), 'text')}" if picked else "Add texts",
            icon=":material/add:",
            disabled=not picked,
            key="samples.rejects.add",
            help=None if picked else "Tick a text first.",
        ):
            _add(model, picked, slot)


def _read(model: Model, last: LastOperation) -> list[RejectedText]:
    """The rejected texts of this run, read once in a session."""
    return session.once(_READ, last.run_id, lambda: client().samples.rejected(model.handle))


def _added() -> dict[tuple[str, str], int]:
    """The ids of the texts that were added in this session, by trait and text."""
    return session.get(_ADDED) or {}


def _picked(listed: Sequence[RejectedText], traits: dict[str, Trait]) -> list[RejectedText]:
    columns = {
        "Text": [each.text for each in listed],
        "Trait": [traits[each.trait].name for each in listed],
        "Label": [label_of(traits[each.trait], each.quality) for each in listed],
        "Reason": [REASONS[each.reason][1] for each in listed],
    }
    if len({each.trait for each in listed}) == 1:
        del columns["Trait"]
    event = st.dataframe(
        pd.DataFrame(columns),
        hide_index=True,
        width="stretch",
        height=table_height(len(listed), most=8),
        row_height=ROW_HEIGHT,
        on_select="rerun",
        selection_mode="multi-row",
        # A new grid after an addition, because ticks belong to positions.
        key=f"{_GRID}:{len(listed)}",
        alt="Texts that the synthesis rejected, with the reasons",
        column_config={"Text": st.column_config.TextColumn(width="large")},
    )
    rows = event.selection.rows if event else []
    return [listed[row] for row in rows if row < len(listed)]


def _add(model: Model, picked: Sequence[RejectedText], slot: DeltaGenerator) -> None:
    inputs = [SampleInput(trait=each.trait, text=each.text, quality=each.quality) for each in picked]
    with slot, attempt() as adding:
        ids = add(model, f"{count(len(inputs), 'text')} added.", inputs).added
        session.store(_ADDED, _added() | {(each.trait, each.text): own for each, own in zip(picked, ids, strict=True)})
    if adding.done:
        st.rerun()

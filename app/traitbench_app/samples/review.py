"""Read what a synthesis made, one text at a time: keep, edit or delete it by keys.

Beside it is what the exam rejected.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.samples import LONGEST_TEXT, Sample, SampleInput
from traitbench.contract.traits import Trait
from traitbench.display.sides import label_of
from traitbench.display.text import plain
from traitbench_app.parts.sample_table import delete_later, keep_after_all, redraw, waiting
from traitbench_app.samples.rejects import draw_counts, draw_rejects
from traitbench_app.shell import session
from traitbench_app.workspace.changes import Changes
from traitbench_app.workspace.unsaved import keep

_STATE, _DRAFT = "samples.review", "samples.review.text"


@dataclass(frozen=True)
class _Review:
    """The texts of a model that were read, in their order, and the one that is edited."""

    handle: str
    read: tuple[int, ...] = ()
    edited: int | None = None


def draw_review(model: Model, traits: Sequence[Trait], made: Sequence[Sample]) -> None:
    """Draw the next synthesized text that nobody has read in this session, with its keys, and the rejects."""
    last = model.last_operation
    if last is None or last.kind != "synthesize" or last.status != "succeeded" or not made:
        return
    state = _state(model)
    open_ones = [each for each in made if each.id not in state.read and each.id not in waiting(model.handle).deletions]
    with st.container(border=True, key="samples.review"):
        left, right = st.columns([3, 2])
        with left:
            if open_ones:
                _draw_text(model, traits, made, open_ones[0], f"{len(made) - len(open_ones) + 1:,} of {len(made):,}")
            else:
                st.markdown(f":material/check_circle: **You read all {len(made):,} synthesized samples.**")
            _draw_undo(model, made, state)
        outcome = last.progress.synthesis if last.progress else None
        if outcome is not None:
            with right:
                draw_counts(outcome)
        draw_rejects(model, traits, last)


def _draw_text(model: Model, traits: Sequence[Trait], samples: Sequence[Sample], sample: Sample, at: str) -> None:
    state = _state(model)
    trait = next((each for each in traits if each.key == sample.trait), None)
    st.markdown(f"**{at}.** {_place(sample, trait)} :gray[made {_by(sample)}]")
    if state.edited == sample.id:
        st.text_area("Text", sample.text, key=f"{_DRAFT}:{sample.id}", max_chars=LONGEST_TEXT)
        with st.container(horizontal=True):
            st.button("Use this text", key="samples.review.use", on_click=_use, args=(model, samples, sample))
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
            args=(model, (*state.read, sample.id)),
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
            help="It is deleted when you save.",
            on_click=_delete,
            args=(model, samples, sample),
        )


def _draw_undo(model: Model, samples: Sequence[Sample], state: _Review) -> None:
    if state.read and state.edited is None:
        st.button(
            "Back",
            icon=":material/undo:",
            type="tertiary",
            shortcut="U",
            key="samples.review.undo",
            help="Show the text before again, and take back what you did with it.",
            on_click=_undo,
            args=(model, samples),
        )


def _place(sample: Sample, trait: Trait | None) -> str:
    """The trait and pole of a sample in markdown."""
    if trait is None:
        return plain(sample.trait)
    return f"{plain(trait.name)}: {plain(label_of(trait, sample.quality))}"


def _by(sample: Sample) -> str:
    return "offline" if sample.generator in (None, "offline") else f"by {plain(str(sample.generator))}"


# ---- decisions -------------------------------------------------------------------------------------------------------


def _state(model: Model) -> _Review:
    held: _Review | None = session.get(_STATE)
    return held if held is not None and held.handle == model.handle else _Review(model.handle)


def _store(model: Model, read: tuple[int, ...], edited: int | None = None) -> None:
    session.store(_STATE, _Review(model.handle, read, edited))


def _delete(model: Model, samples: Sequence[Sample], sample: Sample) -> None:
    delete_later(model, samples, [sample.id])
    _store(model, (*_state(model).read, sample.id))


def _use(model: Model, samples: Sequence[Sample], sample: Sample) -> None:
    """Keep the edited text as an unsaved edit; it becomes a sample of the person when saved."""
    text = str(st.session_state.get(f"{_DRAFT}:{sample.id}", sample.text))
    state = _state(model)
    if text.strip() and text != sample.text:
        held = waiting(model.handle)
        edit = SampleInput(trait=sample.trait, text=text, quality=sample.quality)
        keep(model, Changes({**held.edits, sample.id: edit}, held.deletions, held.marks), samples)
        redraw()
    _store(model, (*state.read, sample.id))


def _undo(model: Model, samples: Sequence[Sample]) -> None:
    *before, last = _state(model).read
    held = waiting(model.handle)
    if last in held.edits:
        edits = {each: edit for each, edit in held.edits.items() if each != last}
        keep(model, Changes(edits, held.deletions, held.marks), samples)
        redraw()
    if last in held.deletions:
        keep_after_all(model, [last])
    _store(model, tuple(before))

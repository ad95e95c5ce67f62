"""Unsaved edits that the table cannot show: those that someone else overtook, and those that a training overtook."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.samples import Sample, SampleInput
from traitbench.contract.traits import Trait
from traitbench.display.sides import label_of
from traitbench.display.text import count, plain, shortened
from traitbench.tables.writing import jsonl_file
from traitbench_app.parts.controls import download
from traitbench_app.parts.sample_table import redraw
from traitbench_app.shell import session
from traitbench_app.shell.navigation import page_link
from traitbench_app.shell.service import attempt
from traitbench_app.workspace import unsaved
from traitbench_app.workspace.changes import add_samples, as_input
from traitbench_app.workspace.samples import forget_samples
from traitbench_app.workspace.unsaved import EditConflict, Unsaved

_TEXT, _SHOWN = 300, 5

_JS = """
export default function ({ data }) {
  const warn = (event) => { event.preventDefault(); event.returnValue = '' }
  if (data.unsaved) window.addEventListener('beforeunload', warn)
  return () => window.removeEventListener('beforeunload', warn)
}
"""

_ask_before_leaving = st.components.v2.component("traitbench_before_leaving", html="<span></span>", js=_JS)


def warn_before_leaving(model: Model, number: int) -> None:
    """Under zero retention, say that edits end with the tab, and let the browser ask before it closes."""
    if not model.zero_data_retention:
        return
    if number:
        st.caption(
            ":material/shield: Unsaved changes end with this tab, because zero data retention is on. Save them before "
            "you close or reload it."
        )
    _ask_before_leaving(data={"unsaved": bool(number)}, key="samples.leaving", height=1)


def draw_unsaved_line(model: Model) -> None:
    """Draw a warning with the number of unsaved changes, if there are any, before a training begins."""
    if number := len(unsaved.unsaved(model.handle)):
        st.warning(
            f"**{count(number, 'unsaved change')} in the samples table {'is' if number == 1 else 'are'} not part of "
            "this training.** Save first. If you train now, what is unsaved is kept for the next draft.",
            icon=":material/edit_note:",
        )
        page_link("samples", "Review unsaved changes")


# ---- someone else changed the sample ---------------------------------------------------------------------------------


def draw_conflicts(model: Model, traits: Sequence[Trait], samples: Sequence[Sample]) -> None:
    """Draw the unsaved edits of samples that someone else changed or deleted, with both texts and the ways out."""
    conflicts = unsaved.settle(model, samples)
    if not conflicts:
        return
    with st.container(border=True, key="samples.conflicts"):
        number = count(len(conflicts), "sample that you edited was", "samples that you edited were")
        st.markdown(
            f":material/call_merge: **{number} changed or deleted by someone else.** Your edits are not saved yet. "
            "Choose for each one."
        )
        for position, conflict in enumerate(conflicts[:_SHOWN]):
            _draw_conflict(model, traits, conflict, position)
        if len(conflicts) > _SHOWN:
            st.caption(f"The first {_SHOWN} of {len(conflicts):,}. The others follow.")


def _draw_conflict(model: Model, traits: Sequence[Trait], conflict: EditConflict, position: int) -> None:
    theirs = conflict.theirs
    before, mine, now = st.columns(3, gap="medium")
    before.caption(f"Before\n\n{_said(conflict.original, traits)}")
    mine.markdown(f"**Your text**\n\n{_said(conflict.mine, traits)}")
    now.markdown(
        f"**Their text** (the newer sample most like it)\n\n{_said(theirs, traits)}"
        if theirs
        else "**Deleted.** No newer sample resembles it."
    )
    with st.container(horizontal=True):
        if theirs is not None:
            st.button(
                "Use mine",
                icon=":material/edit:",
                key=f"samples.conflict.mine:{position}",
                on_click=_use_mine,
                args=(model, conflict),
                help="Replace their text with yours, at the next save.",
            )
        if st.button(
            "Keep both" if theirs else "Add mine",
            icon=":material/add:",
            key=f"samples.conflict.both:{position}",
            help="Add your text as another sample.",
        ):
            _add_mine(model, conflict)
        st.button(
            "Keep theirs" if theirs else "Drop mine",
            icon=":material/close:",
            type="tertiary",
            key=f"samples.conflict.theirs:{position}",
            on_click=_discard,
            args=(model, model.handle, [conflict.original.id]),
            help="Discard your edit of this sample.",
        )


def _use_mine(model: Model, conflict: EditConflict) -> None:
    unsaved.take_mine(model, conflict)
    redraw()
    session.flash("Your text is in the table in place of theirs. Save it.", "note")


def _add_mine(model: Model, conflict: EditConflict) -> None:
    with attempt() as adding:
        add_samples(model.handle, [conflict.mine])
    if adding.done:
        unsaved.drop(model, [conflict.original.id])
        st.rerun()


def _said(sample: Sample | SampleInput, traits: Sequence[Trait]) -> str:
    """`▲ warm “Thank you for writing.”`, in Markdown."""
    trait = next((each for each in traits if each.key == sample.trait), None)
    label = f"{sample.quality:g}" if trait is None else plain(label_of(trait, sample.quality))
    return f"{label} “{plain(shortened(sample.text, _TEXT))}”"


# ---- a training came first -------------------------------------------------------------------------------------------


def draw_overtaken(model: Model, traits: Sequence[Trait]) -> None:
    """Draw the edits that were not saved before the samples were frozen, and where they can go."""
    pending = unsaved.unsaved(model.handle)
    if not len(pending):
        return
    with st.container(border=True, key="samples.overtaken"):
        st.markdown(
            f":material/edit_note: **{count(len(pending), 'change was', 'changes were')} not saved**, because the "
            f"samples cannot be changed now. {_next_step(model)}"
        )
        _draw_list(pending, traits)
        with st.container(horizontal=True):
            _draw_download(model, pending)
            _draw_discard(model, model.handle)


def draw_brought(model: Model, traits: Sequence[Trait], samples: Sequence[Sample]) -> None:
    """Offer the unsaved edits of the model that this draft improves."""
    origin = model.forked_from.handle if model.forked_from else ""
    pending = unsaved.unsaved(origin) if origin else Unsaved()
    if not len(pending):
        return
    changes = unsaved.moved(pending, samples)
    with st.container(border=True, key="samples.brought"):
        st.markdown(
            f":material/edit_note: **{count(len(pending), 'unsaved change')} of {plain(origin)}** can be brought into "
            "this draft."
        )
        _draw_list(pending, traits)
        if len(changes) < len(pending):
            st.caption(
                f"{count(len(pending) - len(changes), 'change')} cannot be brought: the sample is not in this draft."
            )
        with st.container(horizontal=True):
            st.button(
                f"Bring {count(len(changes), 'change')}",
                type="primary",
                icon=":material/move_down:",
                disabled=not len(changes),
                key="samples.unsaved.bring",
                on_click=_bring,
                args=(model, origin, samples),
            )
            _draw_discard(model, origin)


def _next_step(model: Model) -> str:
    if model.state == "busy":
        return "They are kept here until the run ends."
    if model.state == "ready":
        return "Use **Improve this model**: its draft offers these changes."
    return "Download them to keep them."


def _bring(model: Model, origin: str, samples: Sequence[Sample]) -> None:
    brought = unsaved.moved(unsaved.unsaved(origin), samples)
    unsaved.keep(model, brought.under(unsaved.unsaved(model.handle).changes), samples)
    unsaved.forget(origin)
    forget_samples()
    redraw()


def _draw_list(pending: Unsaved, traits: Sequence[Trait]) -> None:
    lines = []
    for each, original in list(pending.originals.items())[:_SHOWN]:
        if each in pending.changes.deletions:
            lines.append(f"- delete {_said(original, traits)}")
        elif each in pending.changes.edits:
            lines.append(f"- {_said(original, traits)} → {_said(pending.changes.edits[each], traits)}")
        else:
            lines.append(
                f"- {'test sample' if pending.changes.marks[each][0] else 'training sample'}: {_said(original, traits)}"
            )
    with st.expander("Show them", icon=":material/list:"):
        st.markdown("\n".join(lines))
        if len(pending) > _SHOWN:
            st.caption(f"The first {_SHOWN} of {len(pending):,}.")


def _draw_download(model: Model, pending: Unsaved) -> None:
    rows = []
    for each, original in pending.originals.items():
        now = pending.changes.edits.get(each, as_input(original))
        change = "delete" if each in pending.changes.deletions else "edit" if each in pending.changes.edits else "mark"
        rows.append((change, original.text, now.text, now.trait, now.quality))
    download(
        "Download them",
        partial(jsonl_file, ("change", "before", "text", "trait", "quality"), rows),
        f"{model.handle}-unsaved.jsonl",
        key="samples.unsaved.file",
    )


def _draw_discard(model: Model, handle: str) -> None:
    st.button(
        "Discard them",
        type="tertiary",
        icon=":material/close:",
        key="samples.unsaved.discard",
        on_click=_discard,
        args=(model, handle),
    )


# ---- what was discarded ----------------------------------------------------------------------------------------------


def draw_discard(model: Model, *, possible: bool) -> None:
    """Draw the button that discards all unsaved changes of the table."""
    st.button(
        "Discard",
        icon=":material/close:",
        disabled=not possible,
        key="samples.discard",
        on_click=_discard,
        args=(model, model.handle),
    )


def draw_discarded(model: Model) -> None:
    """Draw how many unsaved changes were discarded last, here or in the model that this draft improves, and an undo."""
    for handle in (model.handle, model.forked_from.handle if model.forked_from else ""):
        if number := unsaved.discarded(handle):
            st.caption(f"{count(number, 'unsaved change')} discarded", width="content")
            st.button(
                "Bring back",
                icon=":material/undo:",
                type="tertiary",
                key=f"samples.unsaved.bring_back:{handle}",
                on_click=_bring_back,
                args=(model, handle),
            )


def _discard(model: Model, handle: str, ids: Sequence[int] | None = None) -> None:
    unsaved.discard(handle, ids, on_disk=not model.zero_data_retention)
    redraw()


def _bring_back(model: Model, handle: str) -> None:
    unsaved.bring_back(handle, on_disk=not model.zero_data_retention)
    redraw()

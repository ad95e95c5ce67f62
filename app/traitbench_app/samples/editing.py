"""Edits of samples, each saved as it is made: into a draft, with undo, and with what another person did meanwhile.

The samples of a model in use do not change. The first edit opens a draft of it, or the one that was begun.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from traitbench.contract.models import Model
from traitbench.contract.sample_changes import SampleChange, SampleEdit, SampleRemoval
from traitbench.contract.samples import MOST_SAMPLES, Sample, SampleInput
from traitbench.errors import SampleChanged, TraitbenchError, Unreachable
from traitbench_app.parts.model_actions import draft_of
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client, explain
from traitbench_app.workspace.samples import forget_samples

_SAVED, _PROBLEM, _PICKED = "samples.saved", "samples.problem", "samples.picked"
_CONFLICTS, _SETTLED = "samples.conflicts", "samples.conflicts_settled"
_WHOLE_PAGE = "samples.again"
_MOST_UNDOS, _WORDS = 20, 200

AWAY = "Not saved: the service does not answer. Your text is still here."


@dataclass(frozen=True)
class SavedEdit:
    """An edit that was saved: the model, the ids of its changes, and what it did, as a sentence in Markdown.

    `added` are the ids of the samples that it added.
    """

    handle: str
    change_ids: tuple[int, ...]
    said: str
    added: tuple[int, ...] = ()


@dataclass(frozen=True)
class EditProblem:
    """An edit that was not saved, what it was meant to set, and why."""

    sample_id: int
    fields: Mapping[str, Any]
    why: str


@dataclass(frozen=True)
class TheirEdit:
    """A sample as another person left it: None if it was deleted. `mine` is what was meant to be set of `before`."""

    handle: str
    before: Sample
    mine: Mapping[str, Any] = field(default_factory=dict)
    theirs: Sample | None = None
    by: str = ""
    at: str = ""


def can_edit_now(model: Model) -> bool:
    """Whether an edit can be saved: into the model, if it is a draft, or into a draft of a model in use."""
    return model.state in ("draft", "failed", "ready")


def draw_to_draft(model: Model) -> None:
    """Say that what is added goes into a draft, with the button that opens it."""
    with st.container(border=True, key="samples.to_draft"):
        st.markdown(
            f"**What you change goes into your draft.** v{model.version_no} scores as before until you train the draft "
            "and put it in use."
        )
        if st.button("Open your draft", type="primary", key="samples.open_draft"):
            with attempt() as opening:
                session.next_model(draft_of(model).handle)
            if opening.done:
                st.rerun()


def change(model: Model, sample: Sample, said: str, **fields: Any) -> None:
    """Set fields of a sample, and remember how to undo it. A callback: what goes wrong is kept for the page to say."""
    _attempt(model, sample, fields, lambda draft, own: _apply(draft, said, updates=[_edit(own, fields)]), keeps=True)


def remove(model: Model, sample: Sample, said: str) -> None:
    """Delete a sample, and remember how to undo it. A callback."""
    _attempt(model, sample, {}, lambda draft, own: _apply(draft, said, deletes=[_removal(own)]), keeps=False)


def add(model: Model, said: str, samples: Sequence[SampleInput], *, replacing: Sequence[Sample] = ()) -> SavedEdit:
    """Add samples, all of them or none, and remember how to undo it; raise the service's errors.

    They are added to a draft of a model in use. In a draft, they can replace others.
    """
    draft = draft_of(model)
    done = _apply(draft, said, adds=samples, deletes=[_removal(each) for each in replacing])
    if draft.handle != model.handle:
        session.next_model(draft.handle)
    return done


def apply(
    draft: Model,
    say: Callable[[int, int], str],
    samples: Mapping[int, Sample],
    *,
    updates: Mapping[int, Mapping[str, Any]] | None = None,
    deletes: Sequence[int] = (),
) -> str:
    """Change and delete samples of a draft, and remember how to undo it; return what was done.

    `updates` has the fields to set by sample id, and `samples` the samples as they were seen. What another person
    changed since stays as it is: an update of it becomes a conflict, which the page asks about. `say` makes a sentence
    of the numbers of changed and deleted samples. Raise the service's other errors, with nothing changed.
    """
    updates, deletes = dict(updates or {}), list(deletes)
    conflicts: list[TheirEdit] = []
    while True:
        said = say(len(updates), len(deletes))
        edits, removals = (
            [_edit(samples[each], own) for each, own in updates.items()],
            map(samples.__getitem__, deletes),
        )
        try:
            if updates or deletes:
                _apply(draft, said, updates=edits, deletes=[_removal(each) for each in removals])
            break
        except SampleChanged as error:
            moved = {int(each["id"]): each for each in error.details.get("samples", ())}
            if moved.keys().isdisjoint((*updates, *deletes)):
                raise
            theirs = (
                _theirs(draft, samples[each], updates[each], now) for each, now in moved.items() if each in updates
            )
            conflicts += theirs
            updates = {each: own for each, own in updates.items() if each not in moved}
            deletes = [each for each in deletes if each not in moved]
    _store_conflicts(conflicts)
    return said


def _attempt(
    model: Model, sample: Sample, fields: Mapping[str, Any], act: Callable[[Model, Sample], object], *, keeps: bool
) -> None:
    session.store(_PROBLEM, None)
    try:
        draft = draft_of(model)
        own = sample if draft is model else counterpart(draft.handle, sample)
        if own is None:
            _store_problem(sample, fields, "Your draft has no sample with this text any more.")
            return
        act(draft, own)
    except SampleChanged as error:
        now = next((each for each in error.details.get("samples", ()) if isinstance(each, Mapping)), {})
        _store_conflicts([_theirs(model, sample, fields, now)])
    except TraitbenchError as error:
        _store_problem(sample, fields, AWAY if isinstance(error, Unreachable) else explain(error))
    else:
        if keeps:
            pick_sample(own.id)
        if draft.handle != model.handle:
            session.next_model(draft.handle)


def _apply(
    draft: Model,
    said: str,
    *,
    adds: Sequence[SampleInput] = (),
    updates: Sequence[SampleEdit] = (),
    deletes: Sequence[SampleRemoval] = (),
) -> SavedEdit:
    """Apply changes in as many requests as they need; if one fails, undo those before it and raise its error."""
    done: list[SampleChange] = []
    parts: list[tuple[str, Any]] = [
        *(("adds", adds[start : start + MOST_SAMPLES]) for start in range(0, len(adds), MOST_SAMPLES)),
        *(("updates", updates[start : start + MOST_SAMPLES]) for start in range(0, len(updates), MOST_SAMPLES)),
        *(("deletes", deletes[start : start + MOST_SAMPLES]) for start in range(0, len(deletes), MOST_SAMPLES)),
    ]
    if len(adds) + len(updates) + len(deletes) <= MOST_SAMPLES:
        done.append(client().samples.apply(draft.handle, adds=adds, updates=updates, deletes=deletes))
        parts = []
    try:
        for name, some in parts:
            done.append(client().samples.apply(draft.handle, **{name: some}))
    except TraitbenchError:
        for each in reversed(done):
            with suppress(TraitbenchError):
                client().samples.undo(draft.handle, each.id)
        forget_samples()
        raise
    forget_samples()
    page_again()
    edit = SavedEdit(
        draft.handle, tuple(each.id for each in done), said, tuple(added for each in done for added in each.adds)
    )
    session.store(_SAVED, (*saved_edits(), edit)[-_MOST_UNDOS:])
    return edit


def undo_last() -> None:
    """Undo the last edit. A callback: if its samples have changed since, the page says so."""
    edits = saved_edits()
    if not edits:
        return
    session.store(_PROBLEM, None)
    last = edits[-1]
    try:
        for change_id in reversed(last.change_ids):
            client().samples.undo(last.handle, change_id)
    except TraitbenchError as error:
        session.flash(_why_no_undo(error), "problem")
        if isinstance(error, Unreachable):
            return
    session.store(_SAVED, edits[:-1] or None)
    forget_samples()


def _why_no_undo(error: TraitbenchError) -> str:
    if isinstance(error, SampleChanged):
        return "Not undone: somebody has changed the same sample since."
    return "Not undone: the service does not answer." if isinstance(error, Unreachable) else explain(error)


# ---- what is remembered ----------------------------------------------------------------------------------------------


def saved_edits() -> tuple[SavedEdit, ...]:
    """Return the edits of this tab that can be undone, the last one last."""
    edits: tuple[SavedEdit, ...] = session.get(_SAVED, ())
    return edits


def last_edit(handle: str) -> SavedEdit | None:
    """Return the last edit, if it was one of this model."""
    edits = saved_edits()
    return edits[-1] if edits and edits[-1].handle == handle else None


def problem_of(sample_id: int) -> EditProblem | None:
    """Return why the last edit of a sample was not saved."""
    problem: EditProblem | None = session.get(_PROBLEM)
    return problem if problem is not None and problem.sample_id == sample_id else None


def conflict_in(handle: str) -> TheirEdit | None:
    """Return the first edit of a model that another person overtook, until it is decided."""
    conflicts = _conflicts()
    return conflicts[0] if conflicts and conflicts[0].handle == handle else None


def position_of_conflict() -> tuple[int, int]:
    """Return which of how many conflicts is the first one that is not decided, such as (1, 3)."""
    settled: int = session.get(_SETTLED, 0)
    return settled + 1, settled + len(_conflicts())


def _conflicts() -> tuple[TheirEdit, ...]:
    conflicts: tuple[TheirEdit, ...] = session.get(_CONFLICTS, ())
    return conflicts


def page_again() -> None:
    """Let the whole page run, not only the list: a callback in it changed what the title and the header say."""
    session.store(_WHOLE_PAGE, True)


def take_page_again() -> bool:
    """Return whether the whole page is to run, once."""
    is_asked = bool(session.get(_WHOLE_PAGE))
    session.store(_WHOLE_PAGE, None)
    return is_asked


def picked_sample() -> int | None:
    """Return the id of the sample that the panel shows."""
    picked: int | None = session.get(_PICKED)
    return picked


def pick_sample(sample_id: int | None) -> None:
    """Show this sample in the panel."""
    session.store(_PICKED, sample_id)


def settle_conflict(model: Model, *, keep_mine: bool) -> None:
    """Save the own edit over the other one, or leave it; then the next one is asked about. A callback."""
    conflict = conflict_in(model.handle)
    forget_samples()
    if conflict is None:
        return
    rest = _conflicts()[1:]
    session.store(_CONFLICTS, rest or None)
    session.store(_SETTLED, session.get(_SETTLED, 0) + 1 if rest else None)
    if not keep_mine:
        return
    if conflict.theirs is not None:
        change(model, conflict.theirs, "Your version is kept.", **conflict.mine)
        return
    fields = conflict.before.model_dump(include=set(SampleInput.model_fields) - {"content_sha256"})
    try:
        add(model, "Your version is kept.", [SampleInput(**{**fields, **conflict.mine})])
    except TraitbenchError as error:
        session.flash(explain(error), "problem")


def _store_problem(sample: Sample, fields: Mapping[str, Any], why: str) -> None:
    session.store(_PROBLEM, EditProblem(sample.id, fields, why))


def _store_conflicts(conflicts: Sequence[TheirEdit]) -> None:
    """Ask about these conflicts after those that are not decided yet; two edits of one sample are one conflict."""
    if not conflicts:
        return
    forget_samples()
    page_again()
    every = {(each.handle, each.before.id): each for each in _conflicts()}
    for each in conflicts:
        which = (each.handle, each.before.id)
        earlier = every.get(which, each)
        every[which] = replace(each, before=earlier.before, mine={**earlier.mine, **each.mine})
    session.store(_CONFLICTS, tuple(every.values()))


def _theirs(model: Model, sample: Sample, fields: Mapping[str, Any], now: Mapping[str, Any]) -> TheirEdit:
    is_gone = bool(now.get("deleted")) or "text" not in now
    theirs = (
        None if is_gone else Sample.model_validate({name: now.get(name) for name in Sample.model_fields if name in now})
    )
    by, at = (str(now.get(name) or "") for name in ("by", "at"))
    return TheirEdit(model.handle, sample, fields, theirs, by, at)


def _edit(sample: Sample, fields: Mapping[str, Any]) -> SampleEdit:
    return SampleEdit(id=sample.id, revision=sample.revision, **fields)


def _removal(sample: Sample) -> SampleRemoval:
    return SampleRemoval(id=sample.id, revision=sample.revision)


# ---- the copy in the draft -------------------------------------------------------------------------------------------


def search_words(text: str) -> str:
    """Return words that the service looks for to find samples with this text: those that it begins with."""
    return " ".join(text[:_WORDS].split()[:-1] or [text.strip()[: _WORDS // 2]])


def counterpart(handle: str, sample: Sample) -> Sample | None:
    """Return the copy of a sample in another model; one with the same label if several have its text."""
    same = [
        each
        for each in client().samples.list(handle, trait=sample.trait, text=search_words(sample.text))
        if each.content_sha256 == sample.content_sha256
    ]
    return next((each for each in same if each.quality == sample.quality), same[0] if same else None)

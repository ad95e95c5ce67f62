"""Edits of traits, each saved as it is made: into a draft, with undo, and never over what somebody else has changed.

The traits of a model in use do not change. The first edit opens a draft of it, or the one that was begun.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from traitbench.contract.models import Model
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.sample_changes import SampleEdit
from traitbench.contract.traits import Trait, TraitFields, TraitInput
from traitbench.definitions import read_definitions, write_definitions
from traitbench.display.text import count, plain
from traitbench.errors import TraitbenchError, Unreachable, ValidationFailed
from traitbench.names import canonical, free_key, trait_key
from traitbench_app.parts.model_actions import draft_of
from traitbench_app.shell import session
from traitbench_app.shell.service import client, complaints, explain
from traitbench_app.workspace.changes import UNDO, Undo, apply, forget_last, is_suggestion, remember, take_back, undo_of

Field = Literal["name", "negative_label", "positive_label", "negative", "positive", "rest", "aggregation"]
"""A field of the editor: two of them are the definitions of the poles, and `rest` is all else in the description."""

AWAY = "Not saved: the service does not answer. Your text is still here."

_OPEN, _PROBLEM = "traits.open", "traits.problem"
_LABELS = ("negative_label", "positive_label")
_DEFINITIONS = ("negative", "positive", "rest")
_LONGEST_NAME = 80


@dataclass(frozen=True)
class UnsavedField:
    """Why a field of a trait was not saved. `replaces` says that a second save would replace another's change."""

    trait: str
    field: Field
    value: str
    why: str
    replaces: bool = False


def open_editor(key: str | None) -> None:
    """Open the editor of a trait, or close it. A button callback."""
    session.store(_OPEN, key)
    session.store(_PROBLEM, None)


def opened() -> str | None:
    """Return the key of the trait whose editor is open."""
    key: str | None = session.get(_OPEN)
    return key


def problem_of(trait: Trait, field: Field) -> UnsavedField | None:
    """Return why the field was not saved."""
    problem: UnsavedField | None = session.get(_PROBLEM)
    return problem if problem is not None and (problem.trait, problem.field) == (trait.key, field) else None


def value_of(trait: Trait, field: Field) -> str:
    """Return what a trait has in a field."""
    if field in _DEFINITIONS:
        return str(getattr(read_definitions(trait.description, trait.negative_label, trait.positive_label), field))
    return str(getattr(trait, field))


def changes_of(trait: Trait, field: Field, value: str) -> dict[str, Any]:
    """Return what a save sends for a field with a new value: what differs, and nothing that was not drawn.

    A definition begins with the name of its pole, so a new name changes the description too.
    """
    if value == value_of(trait, field):
        return {}
    if field not in (*_LABELS, *_DEFINITIONS):
        return {field: value}
    said = read_definitions(trait.description, trait.negative_label, trait.positive_label)
    labels = {name: getattr(trait, name) for name in _LABELS}
    if field in _LABELS:
        labels[field] = value
        if not (said.negative or said.positive):
            return {field: value}
    else:
        said = replace(said, **{field: value})
    described = write_definitions(said, labels["negative_label"], labels["positive_label"])
    return ({field: value} if field in _LABELS else {}) | {"description": described}


def save(model: Model, trait: Trait, field: Field, value: str, *, over: bool = False) -> None:
    """Save a field of a trait as it was shown, unless somebody else has changed it since. A callback.

    What goes wrong is kept for the editor to say. With `over`, what somebody else has changed is replaced.
    """
    session.store(_PROBLEM, None)
    value = value.strip()
    if why := _why_not(trait, field, value):
        session.store(_PROBLEM, UnsavedField(trait.key, field, value, why))
        return
    try:
        draft = draft_of(model)
        now = client().traits.get(draft.handle, trait.key)
        sent = changes_of(now if over else trait, field, value)
        theirs = next((name for name in sent if _differs(now, trait, name) and getattr(now, name) != sent[name]), None)
        if theirs and not over:
            why = f"Meanwhile this was changed to “{plain(value_of(now, field))}”."
            session.store(_PROBLEM, UnsavedField(trait.key, field, value, why, replaces=True))
            return
        if sent:
            client().traits.update(draft.handle, trait.key, **sent)
            _remember(draft, trait, "changed", cast(TraitFields, {name: getattr(now, name) for name in sent}))
    except TraitbenchError as error:
        session.store(_PROBLEM, UnsavedField(trait.key, field, value, _said(error)))
        return
    follow(model, draft)


def exchange(model: Model, trait: Trait) -> None:
    """Exchange the sides of a trait, with its samples. A callback."""
    session.store(_PROBLEM, None)
    try:
        draft = draft_of(model)
        if trait.kind == "intrinsic":
            # Its axis is turned too.
            client().traits.update(draft.handle, trait.key, flip=True)
            _remember(draft, trait, "exchanged", {"flip": True, "name": trait.name})
        else:
            _exchange(draft, trait)
    except TraitbenchError as error:
        session.flash(_said(error), "problem")
        return
    follow(model, draft)


def _exchange(draft: Model, trait: Trait) -> None:
    """Exchange the names, and turn the label of each sample round; nothing is changed if a request fails."""
    samples = client().samples.list(draft.handle, trait=trait.key, limit=LARGEST_SAMPLE_PAGE)
    edits = [SampleEdit(id=each.id, revision=each.revision, quality=1 - each.quality) for each in samples]
    done = apply(draft.handle, updates=edits, what=f"{trait.name} exchanged")
    negative, positive = trait.negative_label, trait.positive_label
    try:
        client().traits.update(draft.handle, trait.key, negative_label=positive, positive_label=negative)
    except TraitbenchError:
        take_back(done)
        raise
    if done.is_kept:
        remember(replace(done, updates={trait.key: {"negative_label": negative, "positive_label": positive}}))


def move(model: Model, trait: Trait, index: int, before: int) -> None:
    """Move a trait to an index among those of its model, from the one `before`. A callback."""
    session.store(_PROBLEM, None)
    try:
        draft = draft_of(model)
        client().traits.update(draft.handle, trait.key, index=index)
        _remember(draft, trait, "moved", {"index": before})
    except TraitbenchError as error:
        session.flash(_said(error), "problem")
        return
    follow(model, draft)


def split_texts(model: Model, depth: int) -> None:
    """Save into how many levels of parts texts are split: 1 for none. A callback."""
    session.store(_PROBLEM, None)
    try:
        draft = draft_of(model)
        client().models.update(draft.handle, max_depth=depth)
    except TraitbenchError as error:
        session.flash(_said(error), "problem")
        return
    follow(model, draft)


def suggested_name(traits: Sequence[Trait], negative: str, positive: str) -> str:
    """Return a name that no trait has, from the two words."""
    known = {canonical(each.name) for each in traits}
    base = f"{negative} or {positive}"[:_LONGEST_NAME]
    numbered = (base if number == 1 else f"{base} {number}" for number in itertools.count(1))
    return next(each for each in numbered if canonical(each) not in known)


def suggested_key(traits: Sequence[Trait], name: str) -> str:
    """Return a key that no trait has, from a name."""
    known = {each.key for each in traits}
    try:
        return free_key(trait_key(name), known)
    except ValidationFailed:
        # It has no letter and no digit.
        return free_key("trait", known)


def add(model: Model, traits: Sequence[Trait], new: TraitInput) -> str:
    """Add a trait with a key that no trait has, and return the key; raise the service's errors."""
    draft = draft_of(model)
    [added] = client().traits.add(draft.handle, [new])
    remember(Undo(draft.handle, f"{added.name} added", new_traits=(added.key,)))
    follow(model, draft)
    return added.key


def remove_trait(model: Model, trait: Trait, traits: Sequence[Trait]) -> None:
    """Delete a trait with its samples so that it can be undone; raise the service's errors."""
    draft = draft_of(model)
    deleted = client().traits.delete(draft.handle, trait.key)
    remember(undo_of(draft.handle, trait, deleted.change_id))
    session.flash(f"Deleted {plain(trait.name)} and its {count(trait.stored_samples, 'sample')}.")
    follow(model, draft)


def consequences_of(trait: Trait) -> str:
    """Return what a deletion of this trait means, in Markdown."""
    what = f"This deletes **{plain(trait.name)}** and its **{count(trait.stored_samples, 'sample')}**."
    if trait.kind == "intrinsic" and not is_suggestion(trait):
        return f"{what} You cannot undo this, because only a discovery can make it."
    return f"{what} You can undo this until you close the tab."


def follow(model: Model, draft: Model) -> None:
    """Show the draft from now on, if an edit opened one."""
    if draft.handle != model.handle:
        session.next_model(draft.handle)


def _remember(draft: Model, trait: Trait, verb: str, before: TraitFields) -> None:
    remember(Undo(draft.handle, f"{trait.name} {verb}", updates={trait.key: before}))


def last_change(handle: str) -> Undo | None:
    """Return the last change of a model in this tab, if it can be undone."""
    undo = session.get(UNDO)
    return undo if isinstance(undo, Undo) and undo.handle == handle and undo.possible else None


def undo_last(undo: Undo) -> None:
    """Undo the last change. A callback."""
    session.store(_PROBLEM, None)
    try:
        take_back(undo)
    except TraitbenchError as error:
        session.flash(_said(error), "problem")
        return
    forget_last()
    session.flash("Undone.")


def _why_not(trait: Trait, field: Field, value: str) -> str:
    """Say what is wrong with a value; both poles need names, because the names explain every score."""
    if field == "name" and not value:
        return "This field is required."
    if field not in ("negative_label", "positive_label"):
        return ""
    if not value:
        return "Name this pole. Every score uses the name."
    other = trait.positive_label if field == "negative_label" else trait.negative_label
    if canonical(value).casefold() == canonical(other).casefold():
        return "Both poles have this name. Use a different one, or scores cannot be read."
    return ""


def _differs(now: Trait, shown: Trait, name: str) -> bool:
    return bool(getattr(now, name) != getattr(shown, name))


def _said(error: TraitbenchError) -> str:
    if isinstance(error, Unreachable):
        return AWAY
    said = [message for messages in complaints(error).values() for message in messages]
    return plain("; ".join(dict.fromkeys(said))) if said else explain(error)

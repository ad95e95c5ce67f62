"""Save changes of samples, and take them back: the service applies them and keeps what an undo needs.

Up to 500 changes are one request, which is applied as a whole or not at all. If one of several requests fails, those
before it are undone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from traitbench.contract.sample_changes import SampleEdit, SampleRemoval
from traitbench.contract.samples import MOST_SAMPLES, Sample, SampleInput
from traitbench.contract.traits import Trait, TraitFields, TraitInput
from traitbench.errors import SampleChanged, TraitbenchError
from traitbench_app.shell import session
from traitbench_app.shell.service import client
from traitbench_app.workspace.samples import forget_samples

UNDO = "samples.undo"
"""The session key of the last change that can be undone."""

_BEFORE, _MOST_UNDOS = "samples.undo_before", 20
_MOST_CHARACTERS = 2**20  # in one request: far below the operator's limit on a body
_FIELDS = ("text", "quality", "trait", "held_out", "must_pass")

Mark = tuple[bool, bool]
"""Whether a sample is a test sample, and whether it must pass."""

Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class Changes:
    """Changes of samples: new contents by sample id, the ids to delete, and new marks of other samples."""

    edits: Mapping[int, SampleInput] = field(default_factory=dict)
    deletions: frozenset[int] = frozenset()
    marks: Mapping[int, Mark] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.edits) + len(self.deletions) + len(self.marks)

    @property
    def ids(self) -> frozenset[int]:
        """The samples that are changed."""
        return frozenset(self.edits) | self.deletions | frozenset(self.marks)

    def without(self, ids: Iterable[int]) -> "Changes":
        """Return the changes of all other samples."""
        gone = frozenset(ids)
        edits = {each: edit for each, edit in self.edits.items() if each not in gone}
        marks = {each: mark for each, mark in self.marks.items() if each not in gone}
        return Changes(edits, self.deletions - gone, marks)


@dataclass(frozen=True)
class Undo:
    """How to undo a change: the ids of the service's changes, and what became of traits.

    `what` names the change for a person. `traits` are deleted traits.
    `missing` are edited samples that someone else had changed or deleted: these edits were not saved. `new_traits` are
    the keys of traits that were added, and `updates` the fields that traits had before, by key. `is_kept` is false if
    the service keeps nothing for an undo, because the model is under zero retention.
    """

    handle: str
    what: str
    change_ids: tuple[int, ...] = ()
    traits: tuple[TraitInput, ...] = ()
    missing: frozenset[int] = frozenset()
    new_traits: tuple[str, ...] = ()
    updates: Mapping[str, TraitFields] = field(default_factory=dict)
    is_kept: bool = True

    @property
    def possible(self) -> bool:
        """Whether there is anything to undo."""
        return bool((self.change_ids and self.is_kept) or self.traits or self.new_traits or self.updates)


def apply(
    handle: str,
    *,
    adds: Sequence[SampleInput] = (),
    updates: Sequence[SampleEdit] = (),
    deletes: Sequence[SampleRemoval] = (),
    what: str,
    progress: Progress = lambda _done, _of: None,
) -> Undo:
    """Apply changes, all of them or none, and return how to undo them; `what` names the change for a person.

    Raise `SampleChanged` if a sample no longer has the revision that an update or deletion says.
    """
    done, of = [], len(adds) + len(updates) + len(deletes)
    applied = 0
    try:
        for part in _parts(adds, updates, deletes):
            progress(applied, of)
            done.append(client().samples.apply(handle, **part, note=what or None))
            applied += sum(map(len, part.values()))
    except TraitbenchError:
        for each in reversed(done):
            with suppress(TraitbenchError):
                client().samples.undo(handle, each.id)
        raise
    finally:
        forget_samples()
    is_kept = all(each.undoable_until is not None for each in done)
    return Undo(handle, what, tuple(each.id for each in done), is_kept=is_kept)


def _parts(
    adds: Sequence[SampleInput], updates: Sequence[SampleEdit], deletes: Sequence[SampleRemoval]
) -> Iterator[dict[str, list[Any]]]:
    """The arguments of each request: changes in their order, of limited number and size."""
    named = {"adds": adds, "updates": updates, "deletes": deletes}
    part: dict[str, list[Any]] = {}
    number, size = 0, 0
    for name, each in ((name, each) for name, several in named.items() for each in several):
        length = len(getattr(each, "text", None) or "")
        if number and (number == MOST_SAMPLES or size + length > _MOST_CHARACTERS):
            yield part
            part, number, size = {}, 0, 0
        part.setdefault(name, []).append(each)
        number, size = number + 1, size + length
    if part:
        yield part


def save(handle: str, samples: Iterable[Sample], changes: Changes, *, progress: Progress) -> Undo:
    """Save changes of samples as they were read; an edit or mark of one that has moved since is in `Undo.missing`."""
    by_id = {sample.id: sample for sample in samples}
    moved: set[int] = set()
    while True:
        here = changes.without(changes.ids - (by_id.keys() - moved))
        updates = [
            *(_edited(by_id[each], edit) for each, edit in here.edits.items()),
            *(_marked(by_id[each], mark) for each, mark in here.marks.items()),
        ]
        deletes = [SampleRemoval(id=each, revision=by_id[each].revision) for each in sorted(here.deletions)]
        what = _named(len(here.edits), len(deletes), len(here.marks))
        missing = frozenset(changes.edits.keys() & moved)
        if not updates and not deletes:
            return Undo(handle, what, missing=missing)
        try:
            done = apply(handle, updates=updates, deletes=deletes, what=what, progress=progress)
            return replace(done, missing=missing)
        except SampleChanged as error:
            ids = {each["id"] for each in error.details.get("samples", ())} - moved
            if not ids:
                raise
            moved |= ids


def _edited(sample: Sample, now: SampleInput) -> SampleEdit:
    fields = {name: getattr(now, name) for name in _FIELDS if getattr(now, name) != getattr(sample, name)}
    if now.group != sample.group:
        fields["group"] = now.group or ""
    return SampleEdit(id=sample.id, revision=sample.revision, **fields)


def _marked(sample: Sample, mark: Mark) -> SampleEdit:
    held_out, must_pass = mark
    # The service clears the second mark itself when a sample is no test sample any more.
    return SampleEdit(
        id=sample.id, revision=sample.revision, held_out=held_out, must_pass=must_pass if held_out else None
    )


def undo_of(handle: str, trait: Trait, change_id: int | None) -> Undo:
    """Return how to undo the deletion of a trait with its samples; of discovered ones, only a suggestion comes back.

    `change_id` is the change that deleted the samples.
    """
    what = f"the trait {trait.name} deleted"
    if is_suggestion(trait):
        return Undo(handle, what, updates={trait.key: {"suggestion": True}})
    if trait.kind == "intrinsic":
        return Undo(handle, what)
    fields = {name: getattr(trait, name) for name in TraitInput.model_fields}
    return Undo(handle, what, () if change_id is None else (change_id,), traits=(TraitInput(**fields),))


def is_suggestion(trait: Trait) -> bool:
    """Whether discovery suggested a trait and nobody has touched it."""
    return trait.discovered is not None and trait.discovered.suggestion


def take_back(undo: Undo) -> None:
    """Undo a change; raise the service's error if that is not possible (any more)."""
    for key in undo.new_traits:
        client().traits.delete(undo.handle, key)
    if undo.traits:
        client().traits.add(undo.handle, undo.traits)
    try:
        for change_id in reversed(undo.change_ids):
            client().samples.undo(undo.handle, change_id)
    finally:
        forget_samples()
    # Last, because the samples may have moved since: then the names of the sides stay as they are, too.
    for key, fields in undo.updates.items():
        client().traits.update(undo.handle, key, **fields)


def remember(undo: Undo) -> None:
    """Hold how to undo the last change; the changes before it can be undone after it."""
    before: tuple[Undo, ...] = session.get(_BEFORE, ())
    last = session.get(UNDO)
    if isinstance(last, Undo) and last.possible:
        session.store(_BEFORE, (*before, last)[-_MOST_UNDOS:])
    session.store(UNDO, undo)


def forget_last() -> None:
    """Forget the last change, because it was undone; the change before it is the last one now."""
    before: tuple[Undo, ...] = session.get(_BEFORE, ())
    session.store(_BEFORE, before[:-1])
    session.store(UNDO, before[-1] if before else None)


def as_input(sample: Sample) -> SampleInput:
    """Return the input that creates the same sample again."""
    own = SampleInput(trait=sample.trait, text=sample.text, quality=sample.quality, source_url=sample.source_url)
    marks = {"held_out": sample.held_out, "must_pass": sample.must_pass}
    given = {name: True for name, is_set in marks.items() if is_set}
    said = {name: value for name in ("group", "note") if (value := getattr(sample, name))}
    return own.model_copy(update=given | said)


def _named(edited: int, deleted: int, marked: int) -> str:
    parts = ((edited, "edited"), (deleted, "deleted"), (marked, "marked"))
    return " and ".join(f"{number:,} {verb}" for number, verb in parts if number) or "nothing changed"


# ---- carried over into a draft ---------------------------------------------------------------------------------------

# Samples of a trained model are frozen. A draft that is made from it has the same samples in the same order, with new
# ids.
Decision = Literal["keep", "flip", "delete"]

_Identity = tuple[str, str, float, bool]


def carried(decisions: Mapping[int, Decision], of: Sequence[Sample], into: Sequence[Sample]) -> tuple[Changes, int]:
    """Return the changes of a draft's samples, and how many decisions have no sample there any more.

    `decisions` are by the id of a sample `of` the model.
    """
    counterparts = _counterparts(of, into)
    edits: dict[int, SampleInput] = {}
    deletions: set[int] = set()
    lost = 0
    for sample_id, decision in decisions.items():
        if decision == "keep":
            continue
        there = counterparts.get(sample_id)
        if there is None:
            lost += 1
        elif decision == "delete":
            deletions.add(there.id)
        else:
            edits[there.id] = as_input(there).model_copy(update={"quality": 1 - there.quality})
    return Changes(edits, frozenset(deletions)), lost


def _counterparts(of: Sequence[Sample], into: Sequence[Sample]) -> dict[int, Sample]:
    """The sample of the draft for each sample of the model, by id; equal samples are matched in their order."""
    there: dict[_Identity, list[Sample]] = {}
    # The newest first, so that `pop` gives the oldest.
    for sample in sorted(into, key=lambda each: -each.id):
        there.setdefault(_identity(sample), []).append(sample)
    counterparts = {}
    for sample in sorted(of, key=lambda each: each.id):
        if same := there.get(_identity(sample)):
            counterparts[sample.id] = same.pop()
    return counterparts


def _identity(sample: Sample) -> _Identity:
    return sample.trait, sample.content_sha256, sample.quality, sample.held_out

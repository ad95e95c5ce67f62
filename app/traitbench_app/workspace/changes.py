"""Save and undo edits of samples, so that no text can be lost.

The API cannot update a sample. An edit adds a new sample and then deletes the old one, in this order, so that a failure
in between leaves a text twice instead of losing it. The extra text is removed again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from traitbench.contract.samples import MOST_SAMPLES, Sample, SampleInput
from traitbench.contract.traits import Trait, TraitFields, TraitInput
from traitbench.display.text import count
from traitbench.errors import TraitbenchError, Unreachable, ValidationFailed
from traitbench_app.shell import session
from traitbench_app.shell.service import client
from traitbench_app.workspace.samples import forget_samples

UNDO = "samples.undo"
"""The session key of the last change that can be undone."""

_BEFORE, _MOST_UNDOS = "samples.undo_before", 20

Mark = tuple[bool, bool]
"""Whether a sample is a test sample, and whether it must pass."""

Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class Changes:
    """Unsaved changes in the table: new contents by sample id, the ids to delete, and new marks of other samples."""

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

    def under(self, newer: "Changes") -> "Changes":
        """Return these changes and newer ones, which win where both change a sample."""
        own = self.without(newer.ids)
        return Changes({**own.edits, **newer.edits}, own.deletions | newer.deletions, {**own.marks, **newer.marks})


@dataclass(frozen=True)
class Undo:
    """How to undo a change: samples to add again, ids to remove, and the marks that samples had.

    `what` names the change for a person, and counts only what the service did. `forgone` counts deleted synthesized
    samples. They are not added again, because they would count as written by a person. `traits` are deleted traits.
    `missing` are edited samples that someone else had changed or deleted: these edits were not saved. `ids` are the ids
    that the samples in `gone` had. `new_traits` are the keys of traits that were added, and `updates` the fields that
    traits had before, by key.
    """

    handle: str
    what: str
    gone: tuple[SampleInput, ...]
    added: tuple[int, ...]
    forgone: int = 0
    marks: Mapping[int, Mark] = field(default_factory=dict)
    traits: tuple[TraitInput, ...] = ()
    missing: frozenset[int] = frozenset()
    ids: tuple[int, ...] = ()
    new_traits: tuple[str, ...] = ()
    updates: Mapping[str, TraitFields] = field(default_factory=dict)

    @property
    def possible(self) -> bool:
        """Whether there is anything to undo."""
        changed = self.gone or self.added or self.marks or self.traits
        return bool(changed or self.new_traits or self.updates)


def save(handle: str, samples: Iterable[Sample], changes: Changes, *, progress: Progress, whole: bool = False) -> Undo:
    """Save the changes. If a request fails, roll back the unfinished edits and raise its error.

    With `whole`, roll back the finished ones too. Synthesized samples are deleted last, because they cannot be
    restored. An edit of a sample that is gone is not saved: `Undo.missing` names it.
    """
    by_id = {sample.id: sample for sample in samples}
    edited = [sample_id for sample_id in changes.edits if sample_id in by_id]
    deleted = sorted(changes.deletions & by_id.keys(), key=lambda each: (_made(by_id[each]), each))
    marked = [each for each in changes.marks if each in by_id]
    old_marks = {each: mark_of(by_id[each]) for each in marked}
    mark(handle, {each: changes.marks[each] for each in marked})
    added = client().samples.add(handle, [changes.edits[sample_id] for sample_id in edited]) if edited else []
    leaving = [*edited, *deleted]
    left: set[int] = set()

    def unrestorable(sample_id: int) -> bool:
        return sample_id not in changes.edits and _made(by_id[sample_id])

    for done in range(0, len(leaving), MOST_SAMPLES):
        progress(done, len(leaving))
        some = leaving[done : done + MOST_SAMPLES]
        try:
            left |= _delete(handle, some)
        except TraitbenchError as error:
            # Without an answer, these samples may or may not be deleted. Keep both texts then.
            unfinished = done + (len(some) if isinstance(error, Unreachable) else 0)
            _remove(handle, added[unfinished:])
            if whole:
                back = [each for each in leaving[:done] if each in left and not unrestorable(each)]
                _bring_back(handle, [as_input(by_id[each]) for each in back], added[:done])
            raise
    # Someone else has edited or deleted these, and an edit would bring back what they removed.
    missing = frozenset(changes.edits.keys() - left)
    _remove(handle, [new for old, new in zip(edited, added, strict=True) if old in missing])
    remaining = tuple(new for old, new in zip(edited, added, strict=True) if old not in missing)
    forgone = {each for each in left if unrestorable(each)}
    ids = tuple(each for each in leaving if each in left and each not in forgone)
    gone = tuple(as_input(by_id[each]) for each in ids)
    what = _named(len(remaining), len(left) - len(remaining), len(marked))
    return Undo(handle, what, gone, remaining, len(forgone), old_marks, missing=missing, ids=ids)


def bring_in(
    handle: str, adding: Sequence[SampleInput], replacing: Mapping[int, Sample], *, what: str, progress: Progress
) -> Undo:
    """Add samples, then delete the existing samples that they replace; nothing is added if a request fails.

    `replacing` has the existing samples by their ids. Synthesized samples that are replaced cannot be restored.
    """
    added = client().samples.add(handle, adding) if adding else []
    try:
        done = save(handle, replacing.values(), Changes(deletions=frozenset(replacing)), progress=progress, whole=True)
    except TraitbenchError:
        _remove(handle, added)
        raise
    return Undo(handle, what, done.gone, tuple(added), done.forgone, ids=done.ids)


def add_samples(handle: str, adding: Sequence[SampleInput], what: str = "") -> list[int]:
    """Add samples, hold how to undo it, and return their ids; `what` names the change for a person."""
    ids = client().samples.add(handle, adding)
    remember(Undo(handle, what or f"{count(len(ids), 'sample')} added", (), tuple(ids)))
    return ids


def mark(handle: str, marks: Mapping[int, Mark]) -> None:
    """Make samples test samples or training samples, and set which test samples must pass."""
    for held_out, must_pass in sorted(set(marks.values())):
        ids = [each for each, own in marks.items() if own == (held_out, must_pass)]
        # The service clears the second mark itself when a sample is no test sample any more.
        client().samples.update(handle, ids, held_out=held_out, must_pass=must_pass if held_out else None)
    if marks:
        forget_samples()


def mark_of(sample: Sample) -> Mark:
    """Whether a sample is a test sample, and whether it must pass."""
    return sample.held_out, sample.must_pass


def marked(handle: str, samples: Iterable[Sample], now: Mark, *, what: str) -> Undo:
    """Mark samples and return how to undo it; `what` names the change for a person."""
    old = {sample.id: mark_of(sample) for sample in samples}
    mark(handle, dict.fromkeys(old, now))
    return Undo(handle, what, (), (), marks=old)


def undo_of(handle: str, trait: Trait, samples: Sequence[Sample]) -> Undo:
    """Return how to undo the deletion of a trait with its samples; of discovered ones, only a suggestion comes back."""
    what = f"the trait {trait.name} deleted"
    if is_suggestion(trait):
        return Undo(handle, what, (), (), updates={trait.key: {"suggestion": True}})
    if trait.kind == "intrinsic":
        return Undo(handle, what, (), ())
    fields = {name: getattr(trait, name) for name in TraitInput.model_fields}
    remaining = [sample for sample in samples if not _made(sample)]
    return Undo(
        handle,
        what,
        tuple(map(as_input, remaining)),
        (),
        len(samples) - len(remaining),
        traits=(TraitInput(**fields),),
        ids=tuple(sample.id for sample in remaining),
    )


def is_suggestion(trait: Trait) -> bool:
    """Whether discovery suggested a trait and nobody has touched it."""
    return trait.discovered is not None and trait.discovered.suggestion


def take_back(undo: Undo, progress: Progress = lambda _done, _of: None) -> int:
    """Undo a change: add what it removed, then remove what it added. Return how many could not be removed."""
    mark(undo.handle, undo.marks)
    for key in undo.new_traits:
        client().traits.delete(undo.handle, key)
    for key, fields in undo.updates.items():
        client().traits.update(undo.handle, key, **fields)
    if undo.traits:
        client().traits.add(undo.handle, undo.traits)
    # Added before anything is removed: a failure in between leaves a text twice, and loses none.
    back = client().samples.add(undo.handle, undo.gone) if undo.gone else []
    _renumber(dict(zip(undo.ids, back, strict=True)))
    return _remove(undo.handle, undo.added, progress)


def remember(undo: Undo) -> None:
    """Hold how to undo the last change; the changes before it can be undone after it."""
    before: tuple[Undo, ...] = session.get(_BEFORE, ())
    last = session.get(UNDO)
    if isinstance(last, Undo) and last.possible:
        session.store(_BEFORE, (*before, last)[-_MOST_UNDOS:])
    session.store(UNDO, undo)


def undoable_additions() -> frozenset[int]:
    """The ids of the samples that were added by changes that can still be undone."""
    every = (*session.get(_BEFORE, ()), session.get(UNDO))
    return frozenset(sample_id for undo in every if isinstance(undo, Undo) for sample_id in undo.added)


def forget_last() -> None:
    """Forget the last change, because it was undone; the change before it is the last one now."""
    before: tuple[Undo, ...] = session.get(_BEFORE, ())
    session.store(_BEFORE, before[:-1])
    session.store(UNDO, before[-1] if before else None)


def _renumber(ids: Mapping[int, int]) -> None:
    """Give samples that were added again their new ids in the earlier changes."""
    before: tuple[Undo, ...] = session.get(_BEFORE, ())
    session.store(
        _BEFORE,
        tuple(
            replace(
                each,
                added=tuple(ids.get(old, old) for old in each.added),
                marks={ids.get(old, old): mark for old, mark in each.marks.items()},
            )
            for each in before
        ),
    )


def as_input(sample: Sample) -> SampleInput:
    """Return the input that creates the same sample again."""
    own = SampleInput(trait=sample.trait, text=sample.text, quality=sample.quality, source_url=sample.source_url)
    marks = {"held_out": sample.held_out, "must_pass": sample.must_pass}
    given = {name: True for name, is_set in marks.items() if is_set}
    return own.model_copy(update=given | ({"group": sample.group} if sample.group else {}))


def _delete(handle: str, ids: Sequence[int]) -> set[int]:
    """Delete up to 500 samples, those that are still there; return their ids."""
    here = list(ids)
    while here:
        try:
            return set(client().samples.delete_many(handle, here))
        except ValidationFailed as error:
            errors = error.details.get("errors", ())
            gone = {here[each["loc"][1]] for each in errors if each["type"] == "unknown_sample"}
            if not gone:
                raise
            here = [each for each in here if each not in gone]
    return set()


def _remove(handle: str, ids: Sequence[int], progress: Progress = lambda _done, _of: None) -> int:
    """Remove samples, and return how many remain after the first error; they appear twice in the table."""
    for done in range(0, len(ids), MOST_SAMPLES):
        progress(done, len(ids))
        try:
            _delete(handle, ids[done : done + MOST_SAMPLES])
        except TraitbenchError:
            # An undo that stops half-way has still undone the rest, so it says what is left instead of raising.
            return len(ids) - done
    return 0


def _bring_back(handle: str, gone: Sequence[SampleInput], added: Sequence[int]) -> None:
    """Add deleted samples again, then remove their replacements. If adding fails, the replacements stay."""
    try:
        if gone:
            client().samples.add(handle, gone)
    except TraitbenchError:
        return
    _remove(handle, added)


def _made(sample: Sample) -> bool:
    return sample.provenance == "synthesized"


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

    `decisions` are by the id of a sample `of` the model. A synthesized text is deleted instead of relabelled, because a
    new sample would count as written by a person.
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
        elif decision == "delete" or there.provenance == "synthesized":
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

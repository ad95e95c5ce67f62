"""Edits of samples: what was changed in the table, carried out so that nothing can be lost, and taken back on wish.

The API has no update of a sample: an edit is a new sample and the end of the old one, in this order, so that a service
that goes away in the middle leaves one text too many rather than one too few; what was left too much is removed again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from traitbench.app.service import client
from traitbench.contract.samples import Sample, SampleInput
from traitbench.errors import SampleNotFound, TraitbenchError, Unreachable

UNDO = "samples.undo"
"""The session's key of the last change that can be taken back."""

Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class Changes:
    """What stands in the table and not in the service: new contents by sample id, and the ids to delete."""

    edits: Mapping[int, SampleInput] = field(default_factory=dict)
    deletions: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return len(self.edits) + len(self.deletions)


@dataclass(frozen=True)
class Undo:
    """How to take a change back: bring these samples back, remove those ids. `what` names the change for a person.

    `forgone` counts the synthesized ones that were deleted: brought back they would pass for texts that a person wrote.
    """

    handle: str
    what: str
    gone: tuple[SampleInput, ...]
    added: tuple[int, ...]
    forgone: int = 0

    @property
    def possible(self) -> bool:
        """Whether there is anything to take back."""
        return bool(self.gone or self.added)


def save(handle: str, samples: Iterable[Sample], changes: Changes, *, progress: Progress, whole: bool = False) -> Undo:
    """Carry the changes out; when something fails the edits that were not finished are as before.

    As a `whole`, what was finished is taken back too. What nobody wrote goes last then, for it cannot come back.
    """
    by_id = {sample.id: sample for sample in samples}
    edited = [sample_id for sample_id in changes.edits if sample_id in by_id]
    deleted = sorted(changes.deletions & by_id.keys(), key=lambda each: (_made(by_id[each]), each))
    added = client().samples.add(handle, [changes.edits[sample_id] for sample_id in edited]) if edited else []
    leaving = [*edited, *deleted]
    for done, sample_id in enumerate(leaving):
        progress(done, len(leaving))
        try:
            _delete(handle, sample_id)
        except TraitbenchError as error:
            # Of a deletion that was not answered nobody knows whether it happened: then both texts stay.
            unfinished = done + isinstance(error, Unreachable)
            _remove(handle, added[unfinished:])
            if whole:
                lost = [each for each in leaving[:done] if each in changes.edits or not _made(by_id[each])]
                _bring_back(handle, [as_input(by_id[each]) for each in lost], added[:done])
            raise
    forgone = {each for each in deleted if _made(by_id[each])}
    gone = tuple(as_input(by_id[sample_id]) for sample_id in leaving if sample_id not in forgone)
    return Undo(handle, _named(changes), gone, tuple(added), len(forgone))


def take_back(undo: Undo) -> int:
    """Undo a change: what it removed comes back, then what it added goes; the number of those that would not go."""
    if undo.gone:
        client().samples.add(undo.handle, undo.gone)
    return _remove(undo.handle, undo.added)


def as_input(sample: Sample) -> SampleInput:
    """What would make the same sample again."""
    return SampleInput(trait=sample.trait, text=sample.text, quality=sample.quality, source_url=sample.source_url)


def _delete(handle: str, sample_id: int) -> None:
    """Delete a sample; one that somebody else deleted is as gone as it should be."""
    try:
        client().samples.delete(handle, sample_id)
    except SampleNotFound:
        return


def _remove(handle: str, ids: Sequence[int]) -> int:
    """Remove what can be removed; the rest shows in the table as texts that are there twice."""
    for done, sample_id in enumerate(ids):
        try:
            _delete(handle, sample_id)
        except TraitbenchError:
            return len(ids) - done
    return 0


def _bring_back(handle: str, gone: Sequence[SampleInput], added: Sequence[int]) -> None:
    """Samples that were deleted, in place of those added for them; where even that fails, these stay."""
    try:
        if gone:
            client().samples.add(handle, gone)
    except TraitbenchError:
        return
    _remove(handle, added)


def _made(sample: Sample) -> bool:
    return sample.provenance == "synthesized"


def _named(changes: Changes) -> str:
    parts = ((len(changes.edits), "edited"), (len(changes.deletions), "deleted"))
    return " and ".join(f"{number:,} {verb}" for number, verb in parts if number)

"""Changes of samples: one sample or many in one transaction, their undo, and who changed what when.

Whoever changes a sample may say which revision they have seen. If it has another one now, nothing is changed, and the
error has the sample as it is: two people who edit at once lose no word.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Engine

from traitbench.contract import operations
from traitbench.contract.page import LARGEST_CHANGE_PAGE, SampleChangePage
from traitbench.contract.sample_changes import (
    SampleChange,
    SampleEdit,
    SampleFields,
    SampleRemoval,
    SamplesApply,
)
from traitbench.contract.samples import MOST_SAMPLES, Sample, SampleInput, text_hash
from traitbench.errors import ChangeNotFound, FeatureUnavailable, SampleChanged, SampleNotFound
from traitbench.operations import access, rules
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.operations.samples import author, columns_of, errors_of, known, not_held_out, unknown
from traitbench.operations.trait_names import Problem, TraitIndex
from traitbench.store import sample_changes, samples, traits
from traitbench.store.cursors import PageRequest
from traitbench.store.database import writing
from traitbench.store.models import ModelRow
from traitbench.store.rows import one_of
from traitbench.store.sample_changes import Recorded, StoredSample, Writes

_MARKS = ("held_out", "must_pass")
_LARGEST_ID = 2**63


@dataclass(frozen=True)
class _Asked:
    """Changes, and where the request has them: the path of each update and deletion, for its problems."""

    adds: list[SampleInput] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)
    updates: Mapping[int, SampleFields] = field(default_factory=dict)
    deletes: Mapping[int, SampleRemoval] = field(default_factory=dict)
    locs: Mapping[int, tuple[str | int, ...]] = field(default_factory=dict)

    @property
    def revisions(self) -> Mapping[int, int | None]:
        """The revision that the caller has seen of each sample, if they say so."""
        updates = {each: fields.revision for each, fields in self.updates.items()}
        return updates | {each: removal.revision for each, removal in self.deletes.items()}

    @property
    def marks_any(self) -> bool:
        """Whether test samples change, which feedback that waits cannot."""
        return any(getattr(each, name) is not None for each in self.updates.values() for name in _MARKS)


def change(context: Context, caller: Caller, handle: str, sample_id: int, body: SampleFields) -> Sample:
    """Change one sample of a draft, or feedback that a ready model has not learned yet; return it as it is then."""
    with access.to_change(context, caller, operations.SAMPLES_CHANGE, handle) as (connection, model):
        stored = sample_changes.as_stored(connection, model.id, _valid([sample_id]))
        if not stored:
            _check_deleted(connection, model, _valid([sample_id]))
            raise SampleNotFound(
                f"The model {model.handle} has no sample {sample_id}.", details={"sample_id": sample_id}
            )
        asked = _Asked(updates={sample_id: body}, locs={sample_id: ()})
        _write(context, connection, caller, model, asked, stored, note=None)
        return one_of(lambda: samples.some(connection, model.id, [sample_id])[sample_id], "The sample")


def apply(context: Context, caller: Caller, handle: str, body: SamplesApply) -> SampleChange:
    """Add, change and delete samples of a draft, all of it or none; or change feedback that has not been learned yet.

    Raise `SampleChanged` if a sample no longer has the revision that the body says, or was deleted.
    """
    digests = [text_hash(sample.text) for sample in body.adds]
    with access.to_change(context, caller, operations.SAMPLES_APPLY, handle) as (connection, model):
        asked = _asked(body, digests)
        stored = sample_changes.as_stored(connection, model.id, list(asked.revisions))
        _check_deleted(connection, model, [each for each in asked.revisions if each not in stored])
        change_id = _write(context, connection, caller, model, asked, stored, note=body.note)
        return sample_changes.read(connection, change_id)


def history(
    context: Context,
    caller: Caller,
    handle: str,
    *,
    sample_ids: Collection[int] | None = None,
    limit: int = 20,
    cursor: str | None = None,
) -> SampleChangePage:
    """Who changed which samples of a model when, newest first; with `sample_ids`, only changes of these samples."""
    ids = None if sample_ids is None else frozenset(sample_ids)
    with access.to_read(context, caller, operations.SAMPLES_CHANGES, handle) as (connection, model):
        listing = f"sample changes {model.id} {None if ids is None else sorted(ids)}"
        asked = PageRequest.of(int, listing, limit, cursor, most=LARGEST_CHANGE_PAGE)
        return SampleChangePage(**asked.fields(sample_changes.page(connection, model.id, asked, sample_ids=ids)))


# ---- check and write -------------------------------------------------------------------------------------------------


def _asked(body: SamplesApply, digests: list[str]) -> _Asked:
    """The changes of a body; raise `ValidationFailed` for none, for too many, and for a sample that has two."""
    listed: list[tuple[tuple[str | int, ...], SampleEdit | SampleRemoval]] = [
        *((("updates", at), edit) for at, edit in enumerate(body.updates)),
        *((("deletes", at), removal) for at, removal in enumerate(body.deletes)),
    ]
    number = len(body.adds) + len(listed)
    if not number:
        problems = [rules.problem(["adds"], "too_short", "there is nothing to add, update or delete")]
    elif number > MOST_SAMPLES:
        message = f"there are {number} changes; at most {MOST_SAMPLES} are allowed in one request"
        problems = [rules.problem(["adds"], "too_long", message)]
    else:
        locs: dict[int, tuple[str | int, ...]] = {}
        problems = []
        for loc, each in listed:
            if locs.setdefault(each.id, loc) != loc:
                message = f"the request changes sample {each.id} twice"
                problems.append(rules.problem([*loc, "id"], "duplicate_sample", message))
    if problems:
        raise rules.invalid(problems, thing="The changes")
    return _Asked(
        body.adds,
        digests,
        {each.id: each for each in body.updates},
        {each.id: each for each in body.deletes},
        locs,
    )


def _write(
    context: Context,
    connection: Connection,
    caller: Caller,
    model: ModelRow,
    asked: _Asked,
    stored: Mapping[int, StoredSample],
    *,
    note: str | None,
) -> int:
    """Write changes of samples that exist; return the id of the change."""
    index = TraitIndex(traits.rows(connection, model.id))
    problems = errors_of(asked.adds, asked.digests, index, "adds")
    problems += [
        problem
        for sample_id in asked.revisions
        for problem in _problems(sample_id, asked, stored.get(sample_id), index)
    ]
    if problems:
        raise rules.invalid(problems, thing="The changes", known=known(problems, index))
    if asked.adds:
        remaining = samples.count(connection, model.id) - len(asked.deletes)
        rules.check_sample_count(remaining + len(asked.adds), context.settings.max_samples)
    feedback = not asked.adds and not asked.marks_any and all(each["pending"] for each in stored.values())
    rules.require("withdraw" if feedback else "edit", model)
    moved = [
        sample_id
        for sample_id, revision in asked.revisions.items()
        if revision is not None and stored[sample_id].get("revision") != revision
    ]
    if moved:
        raise _moved(connection, model, moved)
    by = author(caller, note)
    writes = Writes(
        adds=columns_of(asked.adds, asked.digests, index, by.at),
        updates={each: _columns(fields, index) for each, fields in asked.updates.items()},
        deletes=list(asked.deletes),
    )
    change_id, _ = sample_changes.write(connection, model, writes, by)
    if model.state != "ready":
        rules.edited(connection, model)
    return change_id


def _problems(sample_id: int, asked: _Asked, stored: StoredSample | None, index: TraitIndex) -> Iterable[Problem]:
    """Why a sample cannot be changed as the request says."""
    loc = asked.locs[sample_id]
    fields = asked.updates.get(sample_id)
    if stored is None:
        yield unknown([*loc, "id"], sample_id)
    elif fields is not None:
        if fields.trait is not None and index.find(fields.trait) is None:
            yield rules.unknown_trait([*loc, "trait"], fields.trait)
        held_out = stored.get("held_out") if fields.held_out is None else fields.held_out
        if fields.must_pass and not held_out:
            yield not_held_out([*loc, "must_pass"], sample_id)


def _columns(fields: SampleFields, index: TraitIndex) -> dict[str, Any]:
    """The columns that an update sets."""
    names = ("text", "quality", "held_out", "must_pass")
    columns: dict[str, Any] = {name: value for name in names if (value := getattr(fields, name)) is not None}
    if fields.text is not None:
        columns["content_sha256"] = text_hash(fields.text)
    if fields.held_out is False:
        columns["must_pass"] = False
    emptied = {name: value for name in ("group", "note") if (value := getattr(fields, name)) is not None}
    columns |= {name: value if value.strip() else None for name, value in emptied.items()}
    if fields.trait is not None and (trait := index.find(fields.trait)) is not None:
        columns["trait_id"] = trait.id
    return columns


# ---- undo ------------------------------------------------------------------------------------------------------------


def undo(context: Context, caller: Caller, handle: str, change_id: int) -> SampleChange:
    """Undo a change of samples as a whole, and return the change that did it, which can be undone too.

    Samples come back with their ids, and so in their order. A change that was undone already is left as it is. Raise
    `SampleChanged` if a sample is not as the change left it, and `FeatureUnavailable` if nothing was kept for the undo.
    """
    with access.to_change(context, caller, operations.SAMPLES_UNDO, handle) as (connection, model):
        done = sample_changes.find(connection, model.id, change_id) if 0 < change_id < _LARGEST_ID else None
        if done is None:
            raise ChangeNotFound(
                f"The model {model.handle} has no change {change_id} of its samples.", details={"change_id": change_id}
            )
        if done.undone_by is not None:
            return sample_changes.read(connection, done.undone_by)
        originals = _originals(connection, model, done)
        here = sample_changes.as_stored(connection, model.id, [each.sample_id for each in done.entries])
        involved = [*here.values(), *(originals[each.sample_id] for each in done.entries if each.kind == "delete")]
        feedback = bool(involved) and all(each["pending"] for each in involved)
        rules.require("withdraw" if feedback else "edit", model)
        if moved := [each.sample_id for each in done.entries if not _as_left(each, here.get(each.sample_id))]:
            raise _moved(connection, model, moved)
        writes = _inverse(connection, model, done, originals)
        more = len(writes.returns) - len(writes.deletes)
        if more > 0:
            rules.check_sample_count(samples.count(connection, model.id) + more, context.settings.max_samples)
        undoer, _ = sample_changes.write(connection, model, writes, author(caller, undoes=done.id))
        sample_changes.mark_undone(connection, done, undoer)
        if model.state != "ready":
            rules.edited(connection, model)
        return sample_changes.read(connection, undoer)


def _originals(connection: Connection, model: ModelRow, done: Recorded) -> Mapping[int, StoredSample]:
    """The samples as they were before a change; raise `FeatureUnavailable` unless all of them were kept."""
    if done.undoable_until is None and model.zero_data_retention:
        raise _impossible(
            done, "zero_retention", f"{model.handle} is under zero data retention: nothing is kept for an undo."
        )
    if done.undoable_until is None or done.undoable_until <= rules.now():
        raise _impossible(done, "expired", "A change can be undone for 24 hours; then its texts are deleted.")
    originals = one_of(lambda: sample_changes.originals(connection, done.id), "A sample that was kept for an undo")
    if any(each.kind != "add" and each.sample_id not in originals for each in done.entries):
        raise _impossible(done, "unreadable", "A sample that it changed was damaged, so it could not be kept.")
    return originals


def _as_left(entry: sample_changes.SampleEntry, here: StoredSample | None) -> bool:
    """Whether a sample is as a change left it."""
    if entry.kind == "delete":
        return here is None
    return here is not None and here.get("changed_by", -1) == entry.state


def _inverse(connection: Connection, model: ModelRow, done: Recorded, originals: Mapping[int, StoredSample]) -> Writes:
    """What undoes a change; raise `SampleChanged` if the trait of a sample is gone."""
    ids = {row.key: row.id for row in traits.rows(connection, model.id)}
    before = {each.sample_id: originals[each.sample_id] for each in done.entries if each.kind != "add"}
    if gone := sorted({each["trait"] for each in before.values()} - ids.keys()):
        raise SampleChanged(
            f"The trait {gone[0]} of samples that change {done.id} changed was deleted. Nothing was changed.",
            details={"samples": [], "traits": gone},
        )
    columns = (*_MARKS, "text", "content_sha256", "quality", "group", "note", "changed_by")
    return Writes(
        updates={
            each.sample_id: {
                # What an earlier release stored for an undo has no note.
                **{name: before[each.sample_id].get(name) for name in columns},
                "trait_id": ids[before[each.sample_id]["trait"]],
            }
            for each in done.entries
            if each.kind == "update"
        },
        deletes=[each.sample_id for each in done.entries if each.kind == "add"],
        returns=[
            {**before[each.sample_id], "trait_id": ids[before[each.sample_id]["trait"]]}
            for each in done.entries
            if each.kind == "delete"
        ],
    )


def _impossible(done: Recorded, reason: str, message: str) -> FeatureUnavailable:
    return FeatureUnavailable(
        f"{message} Nothing was changed.", details={"field": "change_id", "change_id": done.id, "reason": reason}
    )


# ---- someone else was first ------------------------------------------------------------------------------------------


def _check_deleted(connection: Connection, model: ModelRow, gone: Sequence[int]) -> None:
    """Raise `SampleChanged` if a recorded change deleted one of these samples, which the model does not have."""
    last = sample_changes.last_of(connection, model.id, gone)
    if any(change.kind == "delete" for change in last.values()):
        raise _moved(connection, model, [each for each in gone if each in last])


def _moved(connection: Connection, model: ModelRow, ids: Sequence[int]) -> SampleChanged:
    """The error for samples that someone else has changed or deleted, each as it is now, and who did it when."""
    here = samples.some(connection, model.id, ids)
    last = sample_changes.last_of(connection, model.id, ids)
    shown = []
    for sample_id in ids:
        now = {"id": sample_id, "deleted": True} if sample_id not in here else here[sample_id].model_dump(mode="json")
        change = last.get(sample_id)
        shown.append({**now, "by": change and change.by, "at": change and change.at.isoformat()})
    count, first = len(ids), ids[0]
    which = f"Sample {first} was" if count == 1 else f"{count} samples, the first of them {first}, were"
    return SampleChanged(
        f"{which} changed or deleted meanwhile. Nothing was changed. Read what is there now, and decide again.",
        details={"samples": shown},
    )


def _valid(ids: Sequence[int]) -> list[int]:
    return [each for each in ids if 0 < each < _LARGEST_ID]


# ---- the end of an undo ----------------------------------------------------------------------------------------------


def sweep(engine: Engine) -> None:
    """Delete what changes kept for an undo that is no longer possible."""
    with writing(engine) as connection:
        sample_changes.expire(connection, rules.now())

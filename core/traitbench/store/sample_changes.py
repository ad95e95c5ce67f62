"""Who changed which samples of a model when, and what the undo of a change needs.

A change is one row. Its entries, one for each sample, have ids and labels, but no text. The samples that it replaced or
deleted are stored beside it, as they were, until its undo expires. A stored sample has all columns of a sample, with
the key of its trait, because a trait that was deleted may be back under another id.
"""

import json
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, get_args

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import BigInteger, Column, Connection, Row, bindparam, delete, func, or_, select, type_coerce, update
from sqlalchemy import insert as insert_into
from sqlalchemy.types import NullType

from traitbench.contract.sample_changes import KEPT_FOR, ChangedField, ChangedSample, ChangeKind, SampleChange
from traitbench.errors import UnreadableRow
from traitbench.store import samples, tables, traits
from traitbench.store.cursors import PageRequest
from traitbench.store.models import ModelRow
from traitbench.store.rows import ListingRows, one_of, read_listing, readable

_CHANGES, _UNDO = tables.sample_changes.c, tables.undo_samples.c
_SAMPLES, _TRAITS = tables.samples.c, tables.traits.c
_AT_ONCE = 500
_SHOWN = ("id", "at", "by", "note", "undoes")
_FIELDS = get_args(ChangedField)
_CLOCK_AHEAD = timedelta(hours=1)

StoredSample = Mapping[str, Any]
"""The columns of a sample as the database has them, and the key of its trait as `trait`."""


THIS = 0


class SampleEntry(NamedTuple):
    """What a change did to one sample, as in `ChangedSample`.

    `state` is the change that the sample's content comes from afterwards (`changed_by`): `THIS` for this one, and None
    if the sample is as it was added.
    """

    sample_id: int
    kind: ChangeKind
    trait: str
    moved_from: str | None
    before: float | None
    after: float | None
    changed: tuple[ChangedField, ...]
    state: int | None


@dataclass(frozen=True)
class Recorded:
    """A change as it is stored. `undone_by` and `undoes` are the ids of other changes."""

    id: int
    entries: Sequence[SampleEntry]
    undoable_until: datetime | None
    undone_by: int | None
    undoes: int | None


@dataclass(frozen=True)
class LastChange:
    """What the last change of a sample did to it, who made it, and when."""

    kind: ChangeKind
    by: str | None
    at: datetime


@dataclass(frozen=True)
class Author:
    """Who changes samples and when, and what for: a note of theirs, and the id of the change that they undo."""

    by: str | None
    at: datetime
    note: str | None = None
    undoes: int | None = None


@dataclass(frozen=True)
class Writes:
    """What to write: columns of new samples, new columns of samples by id, ids to delete, and samples to put back.

    A sample to put back has a `trait_id`.
    """

    adds: Sequence[Mapping[str, Any]] = ()
    updates: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    deletes: Sequence[int] = ()
    returns: Sequence[StoredSample] = ()

    def __bool__(self) -> bool:
        return bool(self.adds or self.updates or self.deletes or self.returns)


_ENTRIES = TypeAdapter(list[SampleEntry])


# ---- write -----------------------------------------------------------------------------------------------------------


def write(connection: Connection, model: ModelRow, writes: Writes, author: Author) -> tuple[int, list[int]]:
    """Change samples of a locked model and record it; return the id of the change, and the ids of the new samples.

    The samples to update and to delete must exist. What is replaced or deleted is kept for the undo, except under zero
    retention.
    """
    before = as_stored(connection, model.id, [*writes.updates])
    keys = {row.id: row.key for row in traits.rows(connection, model.id)}
    ids = samples.add(connection, model.id, writes.adds) if writes.adds else []
    entries = [
        *(_added(sample_id, keys[new["trait_id"]], new) for sample_id, new in zip(ids, writes.adds, strict=True)),
        *(_added(each["id"], each["trait"], each, each["changed_by"]) for each in writes.returns),
        *(_updated(before[sample_id], new, keys) for sample_id, new in writes.updates.items()),
        *_deleted(connection, writes.deletes, keys),
    ]
    change_id = _record(connection, model, entries, author)
    if not model.zero_data_retention:
        keep(connection, change_id, [*before.values()])
        # A trait that is deleted may have more texts than fit into memory.
        for some in _parts(writes.deletes):
            keep(connection, change_id, [*as_stored(connection, model.id, some).values()])
    _rewrite(connection, writes.updates, change_id)
    _forget_vectors(connection, [each.sample_id for each in entries if "text" in each.changed])
    for some in _parts(writes.deletes):
        samples.remove(connection, model.id, some)
    if writes.returns:
        _put_back(connection, model.id, writes.returns)
    return change_id, ids


def _record(connection: Connection, model: ModelRow, entries: Sequence[SampleEntry], author: Author) -> int:
    ids = [entry.sample_id for entry in entries]
    statement = insert_into(tables.sample_changes).values(
        model_id=model.id,
        first_sample_id=min(ids),
        last_sample_id=max(ids),
        entries=_packed(entries),
        at=author.at,
        by=author.by,
        # A note may have words of the texts.
        note=None if model.zero_data_retention else author.note,
        undoes=author.undoes,
        undoable_until=None if model.zero_data_retention else author.at + KEPT_FOR,
    )
    change_id: int = connection.execute(statement.returning(_CHANGES.id)).scalar_one()
    return change_id


def _added(sample_id: int, trait: str, sample: Mapping[str, Any], state: int | None = None) -> SampleEntry:
    return SampleEntry(sample_id, "add", trait, None, None, _quality(sample), (), state)


def _deleted(connection: Connection, sample_ids: Sequence[int], keys: Mapping[int, str]) -> Iterator[SampleEntry]:
    # Without a type, a damaged quality is read too.
    columns = (_SAMPLES.id, _SAMPLES.trait_id, type_coerce(_SAMPLES.quality, NullType()).label("quality"))
    for some in _parts(sample_ids):
        rows = {row.id: row for row in connection.execute(select(*columns).where(_SAMPLES.id.in_(some)))}
        for sample_id in some:
            row = rows[sample_id]
            yield SampleEntry(sample_id, "delete", keys[row.trait_id], None, _quality(row._mapping), None, (), None)


def _updated(before: StoredSample, new: Mapping[str, Any], keys: Mapping[int, str]) -> SampleEntry:
    trait = keys[new["trait_id"]] if "trait_id" in new else before["trait"]
    after = {**before, **new, "trait": trait}
    changed = tuple(name for name in _FIELDS if before.get(name) != after.get(name))
    moved_from = before["trait"] if "trait" in changed else None
    state = new.get("changed_by", THIS)
    return SampleEntry(before["id"], "update", trait, moved_from, _quality(before), _quality(after), changed, state)


def _quality(sample: Mapping[Any, Any]) -> float | None:
    """The quality; None if it is damaged."""
    quality = sample.get("quality")
    return float(quality) if isinstance(quality, int | float) else None


def _rewrite(connection: Connection, updates: Mapping[int, Mapping[str, Any]], change_id: int) -> None:
    """Set columns of samples by id; they get their next revision."""
    own = update(tables.samples).where(_SAMPLES.id == bindparam("own_id"))
    by_columns: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for sample_id, new in updates.items():
        columns = {"changed_by": change_id, **new}
        row = {"own_id": sample_id, **{f"new_{name}": value for name, value in columns.items()}}
        by_columns.setdefault(tuple(sorted(columns)), []).append(row)
    for names, rows in by_columns.items():
        new_columns: dict[str, Any] = {name: bindparam(f"new_{name}") for name in names}
        connection.execute(own.values(revision=_SAMPLES.revision + 1, **new_columns), rows)


def _forget_vectors(connection: Connection, sample_ids: Sequence[int]) -> None:
    for some in _parts(sample_ids):
        connection.execute(delete(tables.vectors).where(tables.vectors.c.sample_id.in_(some)))


def _put_back(connection: Connection, model_id: int, returned: Sequence[StoredSample]) -> None:
    """Insert samples that were deleted, with their ids and their next revision."""
    names = [column.name for column in tables.samples.columns if column.name in returned[0]]
    rows = [
        {f"new_{name}": {**each, "model_id": model_id, "revision": each["revision"] + 1}[name] for name in names}
        for each in returned
    ]
    columns = {name: type_coerce(bindparam(f"new_{name}"), _raw(_SAMPLES[name])) for name in names}
    connection.execute(insert_into(tables.samples).values(**columns), rows)


def _raw(column: Column[Any]) -> Any:
    """The type of a column as the database has it: a time is a number."""
    return BigInteger() if isinstance(column.type, tables.Moment) else column.type


# ---- read ------------------------------------------------------------------------------------------------------------


def page(
    connection: Connection, model_id: int, asked: PageRequest[int], *, sample_ids: frozenset[int] | None
) -> ListingRows[SampleChange]:
    """The changes of a page, newest first; with `sample_ids`, those of these samples, each with only their entries."""
    shown = select(tables.sample_changes).where(_CHANGES.model_id == model_id)
    if sample_ids is not None:
        ids = _ids_with(connection, model_id, sample_ids, most=asked.limit + 1, before=asked.after)
        shown = shown.where(_CHANGES.id.in_(ids))
    statement = asked.select(shown, _CHANGES.id, descending=True)
    return read_listing(
        connection,
        statement,
        key=_CHANGES.id,
        position=_CHANGES.id,
        all_at_once=lambda: [_change(row, sample_ids) for row in connection.execute(statement)],
        one=lambda row_id: _change(connection.execute(shown.where(_CHANGES.id == row_id)).one(), sample_ids),
        position_of=lambda change: change.id,
    )


def read(connection: Connection, change_id: int) -> SampleChange:
    """One change as the API shows it."""
    statement = select(tables.sample_changes).where(_CHANGES.id == change_id)
    return one_of(lambda: _change(connection.execute(statement).one()), "The change")


def last_id(connection: Connection, model_id: int) -> int | None:
    """The id of the newest change of a model's samples; None if there is none."""
    last: int | None = connection.execute(select(func.max(_CHANGES.id)).where(_CHANGES.model_id == model_id)).scalar()
    return last


def find(connection: Connection, model_id: int, change_id: int) -> Recorded | None:
    """A change of a model, to be undone; None if the model has no such change. Raise `UnreadableRow` if damaged."""
    names = ("id", "entries", "undoable_until", "undone_by", "undoes")
    statement = select(*(_CHANGES[name] for name in names))
    mine = (_CHANGES.model_id == model_id, _CHANGES.id == change_id)

    def recorded() -> Recorded | None:
        row = connection.execute(statement.where(*mine)).one_or_none()
        if row is None:
            return None
        entries = [each._replace(state=row.id) if each.state == THIS else each for each in _unpacked(row.entries)]
        return Recorded(row.id, entries, row.undoable_until, row.undone_by, row.undoes)

    return one_of(recorded, "The change")


def mark_undone(connection: Connection, change: Recorded, by: int) -> None:
    """Mark a change as undone by another one. What it undid itself counts again."""
    undone: int = change.id
    undoer: int | None = by
    while True:
        connection.execute(update(tables.sample_changes).where(_CHANGES.id == undone).values(undone_by=undoer))
        before = connection.execute(select(_CHANGES.undoes).where(_CHANGES.id == undone)).scalar_one()
        if before is None:
            return
        undone, undoer = before, None if undoer is not None else undone


def last_of(connection: Connection, model_id: int, sample_ids: Collection[int]) -> dict[int, LastChange]:
    """The last change of each sample, by its id; samples that no recorded change has are missing."""
    missing, last = set(sample_ids), dict[int, LastChange]()
    if not missing:
        return last
    for row, entries in _newest(connection, model_id, min(missing), max(missing)):
        for entry in entries or ():
            if entry.sample_id in missing:
                missing.discard(entry.sample_id)
                last[entry.sample_id] = LastChange(entry.kind, row.by, row.at)
        if not missing:
            break
    return last


def _ids_with(
    connection: Connection, model_id: int, sample_ids: frozenset[int], *, most: int, before: int | None
) -> list[int]:
    """The ids of the newest changes of some samples; a change that is unreadable may be one of them."""
    ids: list[int] = []
    if not sample_ids:
        return ids
    for row, entries in _newest(connection, model_id, min(sample_ids), max(sample_ids), before=before):
        if entries is None or any(entry.sample_id in sample_ids for entry in entries):
            ids.append(row.id)
        if len(ids) == most:
            break
    return ids


def _newest(
    connection: Connection, model_id: int, first: int, last: int, *, before: int | None = None
) -> Iterator[tuple[Row[Any, Any, Any, Any], list[SampleEntry] | None]]:
    """The changes whose samples may have an id from `first` to `last`, newest first, read in parts.

    The entries are None if they are damaged.
    """
    columns = (_CHANGES.id, _CHANGES.by, _CHANGES.at, _CHANGES.entries)
    around = (_CHANGES.model_id == model_id, _CHANGES.first_sample_id <= last, _CHANGES.last_sample_id >= first)
    statement = select(*columns).where(*around).order_by(_CHANGES.id.desc()).limit(_AT_ONCE)
    while rows := connection.execute(statement if before is None else statement.where(_CHANGES.id < before)).all():
        for row in rows:
            yield row, readable(partial(_unpacked, row.entries))
        before = rows[-1].id


def _change(row: Row[Any], sample_ids: frozenset[int] | None = None) -> SampleChange:
    entries = _unpacked(row.entries)
    ids = {kind: [each.sample_id for each in entries if each.kind == kind] for kind in ("add", "update", "delete")}
    undone = row.undone_by is not None
    shown = [each for each in entries if sample_ids is None or each.sample_id in sample_ids]
    return SampleChange(
        **{name: getattr(row, name) for name in _SHOWN},
        undone=undone,
        undoable_until=None if undone else row.undoable_until,
        adds=ids["add"],
        updates=ids["update"],
        deletes=ids["delete"],
        samples=[
            ChangedSample(
                sample_id=each.sample_id,
                kind=each.kind,
                trait=each.trait,
                moved_from=each.moved_from,
                quality_before=each.before,
                quality_after=each.after,
                changed=list(each.changed),
            )
            for each in shown
        ],
    )


def _packed(entries: Sequence[SampleEntry]) -> bytes:
    """The entries by column, which takes a fifth of the room and of the time that objects would take."""
    columns = list(zip(*entries, strict=True))
    return zlib.compress(json.dumps(columns, separators=(",", ":")).encode(), 1)


def _unpacked(stored: bytes) -> list[SampleEntry]:
    try:
        columns = json.loads(zlib.decompress(stored))
        return _ENTRIES.validate_python(list(zip(*columns, strict=True)))
    except (zlib.error, ValidationError, ValueError, TypeError):
        raise UnreadableRow("its entries are damaged") from None


# ---- samples for an undo ---------------------------------------------------------------------------------------------


def as_stored(connection: Connection, model_id: int, sample_ids: Sequence[int]) -> dict[int, StoredSample]:
    """The samples of a model with these ids, by id; one that is unreadable has only its ids, and no undo."""
    by_id: dict[int, StoredSample] = {}
    columns = [
        type_coerce(column, BigInteger).label(column.name) if isinstance(column.type, tables.Moment) else column
        for column in tables.samples.columns
    ]
    statement = select(*columns, _TRAITS.key.label("trait")).join(tables.traits, _TRAITS.id == _SAMPLES.trait_id)
    few = select(_SAMPLES.id, _SAMPLES.pending, _TRAITS.key.label("trait")).join(
        tables.traits, _TRAITS.id == _SAMPLES.trait_id
    )
    for first in range(0, len(sample_ids), _AT_ONCE):
        some = (_SAMPLES.model_id == model_id, _SAMPLES.id.in_(sample_ids[first : first + _AT_ONCE]))

        def rows(*which: Any, selected: Any = statement) -> list[StoredSample]:
            return [dict(row._mapping) for row in connection.execute(selected.where(*which))]

        read = readable(partial(rows, *some))
        if read is None:
            read = [
                each
                for row in rows(*some, selected=few)
                for each in readable(partial(rows, _SAMPLES.id == row["id"])) or [row]
            ]
        by_id |= {each["id"]: each for each in read}
    return by_id


def keep(connection: Connection, change_id: int, samples: Sequence[StoredSample]) -> None:
    """Store samples as they were before a change, for its undo."""
    rows = [
        {"change_id": change_id, "sample_id": sample["id"], "sample": content}
        for sample in samples
        if "text" in sample and (content := _as_json(sample)) is not None
    ]
    if rows:
        connection.execute(insert_into(tables.undo_samples), rows)


def originals(connection: Connection, change_id: int) -> dict[int, StoredSample]:
    """The samples as they were before a change, by id."""
    statement = select(_UNDO.sample_id, _UNDO.sample).where(_UNDO.change_id == change_id)
    return {row.sample_id: json.loads(row.sample) for row in connection.execute(statement)}


def expire(connection: Connection, now: datetime) -> int:
    """Delete what changes kept whose undo has expired, and their notes; return how many changes expired.

    An undo that would be possible for longer than any was recorded by a clock that ran ahead.
    """
    over = or_(_CHANGES.undoable_until <= now, _CHANGES.undoable_until > now + KEPT_FOR + _CLOCK_AHEAD)
    ids = list(connection.execute(select(_CHANGES.id).where(_CHANGES.undoable_until.is_not(None), over)).scalars())
    for some in _parts(ids):
        connection.execute(delete(tables.undo_samples).where(_UNDO.change_id.in_(some)))
        gone = update(tables.sample_changes).where(_CHANGES.id.in_(some))
        connection.execute(gone.values(undoable_until=None, note=None))
    return len(ids)


def purge(connection: Connection, model_id: int) -> None:
    """Delete all recorded changes of a model, with the samples that they kept."""
    mine = select(_CHANGES.id).where(_CHANGES.model_id == model_id)
    connection.execute(delete(tables.undo_samples).where(_UNDO.change_id.in_(mine)))
    connection.execute(delete(tables.sample_changes).where(_CHANGES.model_id == model_id))


def _parts(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[first : first + _AT_ONCE] for first in range(0, len(ids), _AT_ONCE))


def _as_json(sample: StoredSample) -> str | None:
    """The columns as JSON; None if one of them is damaged so that no JSON can hold it."""
    try:
        return json.dumps(dict(sample), ensure_ascii=False)
    except (TypeError, ValueError):
        return None

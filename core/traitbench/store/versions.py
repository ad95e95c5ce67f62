"""Queries on versions, their snapshots and their tags. Only zero retention changes a snapshot (`rewrite`)."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, delete, select, update
from sqlalchemy import insert as insert_into

from traitbench.contract.versions import Version
from traitbench.errors import UnreadableRow
from traitbench.store import tables
from traitbench.store.cursors import PageRequest
from traitbench.store.database import insert
from traitbench.store.rows import ListingRows, one_of, read_listing, readable

_VERSIONS = tables.versions.c
_TAGS = tables.tags.c
_AT_ONCE = 500
_OWN = [name for name in Version.model_fields if name in _VERSIONS]


@dataclass(frozen=True)
class VersionRow:
    """The id and number of a version."""

    id: int
    version_no: int


@dataclass(frozen=True)
class VersionAge:
    """What decides whether a version is kept when old ones are deleted."""

    id: int
    version_no: int
    created_at: datetime
    tagged: bool


# Built once, see `store.models`.
_ROWS = select(_VERSIONS.id, _VERSIONS.version_no)
_BY_ID = _ROWS.where(_VERSIONS.id == bindparam("id"))
_BY_NUMBER = _ROWS.where(_VERSIONS.model_id == bindparam("model_id"), _VERSIONS.version_no == bindparam("version_no"))
_BY_TAG = _ROWS.join(tables.tags, _TAGS.version_id == _VERSIONS.id).where(
    _TAGS.model_id == bindparam("model_id"), _TAGS.name == bindparam("tag")
)


def by_id(connection: Connection, version_id: int) -> VersionRow | None:
    """The version with this id."""
    return _row(connection, _BY_ID, id=version_id)


def by_number(connection: Connection, model_id: int, version_no: int) -> VersionRow | None:
    """The version `vN` of a model."""
    return _row(connection, _BY_NUMBER, model_id=model_id, version_no=version_no)


def by_tag(connection: Connection, model_id: int, tag: str) -> VersionRow | None:
    """The version that a tag of a model points at."""
    return _row(connection, _BY_TAG, model_id=model_id, tag=tag)


def add(connection: Connection, *, snapshot: Mapping[str, Any], **fields: Any) -> int:
    """Insert a version with its snapshot; return its id."""
    version_id: int = connection.execute(
        insert_into(tables.versions).values(**fields).returning(_VERSIONS.id)
    ).scalar_one()
    connection.execute(insert_into(tables.snapshots).values(version_id=version_id, snapshot=_packed(snapshot)))
    return version_id


def rewrite(connection: Connection, version_id: int, snapshot: Mapping[str, Any], *, param_hash: str) -> None:
    """Replace the snapshot of a version, only to remove words that must not be kept."""
    connection.execute(update(tables.versions).where(_VERSIONS.id == version_id).values(param_hash=param_hash))
    own = tables.snapshots.c.version_id == version_id
    connection.execute(update(tables.snapshots).where(own).values(snapshot=_packed(snapshot)))


def forget_test_sets(connection: Connection, model_id: int) -> None:
    """Remove from the metrics of a model's versions which test samples they are of; the figures stay."""
    mine = select(_VERSIONS.id, _VERSIONS.metrics).where(_VERSIONS.model_id == model_id)
    for version_id, metrics in connection.execute(mine).all():
        tests = [figures["test"] for figures in metrics.get("traits", {}).values() if figures.get("test")]
        for each in tests:
            each["test_set"] = None
        if tests:
            connection.execute(update(tables.versions).where(_VERSIONS.id == version_id).values(metrics=metrics))


def snapshot(connection: Connection, version_id: int) -> dict[str, Any]:
    """All trained parameters of a version."""
    columns = tables.snapshots.c
    packed = connection.execute(select(columns.snapshot).where(columns.version_id == version_id)).scalar_one_or_none()
    if packed is None:
        raise UnreadableRow("it is missing", thing="The snapshot of the version")
    try:
        unpacked: dict[str, Any] = json.loads(packed)
    except (ValueError, TypeError, RecursionError):
        raise UnreadableRow("its JSON is damaged", thing="The snapshot of the version") from None
    return unpacked


def read(connection: Connection, version_id: int) -> Version:
    """One version as the API shows it, without its snapshot."""
    statement = select(tables.versions).where(_VERSIONS.id == version_id)
    return one_of(lambda: _versions(connection, statement)[0], "The version")


def read_if_readable(connection: Connection, version_id: int) -> Version | None:
    """The version that `read` returns, or None if it cannot be read."""
    return readable(lambda: read(connection, version_id))


def page(connection: Connection, model_id: int, asked: PageRequest[int]) -> ListingRows[Version]:
    """The versions of a page, newest first; their position is their number."""
    mine = select(tables.versions).where(_VERSIONS.model_id == model_id)
    statement = asked.select(mine, _VERSIONS.version_no, descending=True)
    return read_listing(
        connection,
        statement,
        key=_VERSIONS.id,
        position=_VERSIONS.version_no,
        all_at_once=lambda: _versions(connection, statement),
        one=lambda version_id: read(connection, version_id),
        position_of=lambda version: version.version_no,
        called=lambda number: f"v{number}",
    )


def ids(connection: Connection, model_id: int) -> list[int]:
    """The ids of all versions of a model, oldest first."""
    statement = select(_VERSIONS.id).where(_VERSIONS.model_id == model_id)
    return list(connection.execute(statement.order_by(_VERSIONS.version_no)).scalars())


def ages(connection: Connection, model_id: int) -> list[VersionAge]:
    """All versions of a model, oldest first, except those whose age is unreadable."""
    tagged = select(_TAGS.version_id).where(_TAGS.version_id == _VERSIONS.id).exists()
    statement = select(_VERSIONS.id, _VERSIONS.version_no, _VERSIONS.created_at, tagged.label("tagged"))
    mine = statement.where(_VERSIONS.model_id == model_id).order_by(_VERSIONS.version_no)
    each = read_listing(
        connection,
        mine,
        key=_VERSIONS.id,
        position=_VERSIONS.version_no,
        all_at_once=lambda: [_age(row) for row in connection.execute(mine)],
        one=lambda version_id: _age(connection.execute(statement.where(_VERSIONS.id == version_id)).one()),
        position_of=lambda age: age.version_no,
    )
    return each.items()


def remove(connection: Connection, version_ids: Sequence[int]) -> None:
    """Delete versions, with their snapshots and tags."""
    for first in range(0, len(version_ids), _AT_ONCE):
        some = version_ids[first : first + _AT_ONCE]
        connection.execute(delete(tables.versions).where(_VERSIONS.id.in_(some)))


def tag(connection: Connection, model_id: int, name: str, version_id: int, *, note: str | None = None) -> None:
    """Point a tag at a version, wherever it pointed before; an earlier note is replaced."""
    statement = insert(connection, tables.tags).values(model_id=model_id, name=name, version_id=version_id, note=note)
    moved = {"version_id": statement.excluded.version_id, "note": statement.excluded.note}
    connection.execute(statement.on_conflict_do_update(index_elements=["model_id", "name"], set_=moved))


def untag(connection: Connection, model_id: int, name: str) -> bool:
    """Remove a tag; False when the model has no such tag."""
    statement = delete(tables.tags).where(_TAGS.model_id == model_id, _TAGS.name == name)
    removed: int = connection.execute(statement).rowcount
    return removed == 1


def _age(row: Row[Any]) -> VersionAge:
    if type(row.version_no) is not int or row.created_at is None:
        raise UnreadableRow("a value is missing or of the wrong type")
    return VersionAge(row.id, row.version_no, row.created_at, bool(row.tagged))


def _packed(snapshot: Mapping[str, Any]) -> bytes:
    return json.dumps(snapshot, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def _row(connection: Connection, statement: Select[Any], **asked: Any) -> VersionRow | None:
    row = connection.execute(statement, asked).one_or_none()
    return None if row is None else VersionRow(*row)


def _versions(connection: Connection, statement: Select[Any]) -> list[Version]:
    rows = connection.execute(statement).all()
    tags = _tags(connection, [row.id for row in rows])
    return [_version(row, tags.get(row.id, {})) for row in rows]


def _tags(connection: Connection, version_ids: Sequence[int]) -> Mapping[int, dict[str, str | None]]:
    """The tags of each version, in their order, with their notes."""
    notes: dict[int, dict[str, str | None]] = defaultdict(dict)
    columns = (_TAGS.version_id, _TAGS.name, _TAGS.note)
    for row in connection.execute(select(*columns).where(_TAGS.version_id.in_(version_ids)).order_by(_TAGS.name)):
        notes[row.version_id][row.name] = row.note
    return notes


def _version(row: Row[Any], tags: Mapping[str, str | None]) -> Version:
    return Version(
        **{name: getattr(row, name) for name in _OWN},
        version_id=row.id,
        tags=list(tags),
        tag_notes={name: note for name, note in tags.items() if note},
    )

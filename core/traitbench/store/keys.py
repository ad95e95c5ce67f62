"""Queries on API keys, of which only a hash is stored."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, Row, bindparam, delete, func, literal, or_, select, update
from sqlalchemy import insert as insert_into

from traitbench.store import tables
from traitbench.store.rows import ListingRows, read_listing

_KEYS = tables.keys.c

Scope = Literal["scoring", "authoring"]


@dataclass(frozen=True)
class ApiKey:
    """An issued key; `prefix` is the part of the secret that may be shown, `person` who signed in with the key."""

    id: str
    name: str
    prefix: str
    scope: Scope
    namespaces: tuple[str, ...]
    created_at: datetime
    last_used_at: datetime | None
    revoked_at: datetime | None
    person: str | None = None


# Built once, see `store.models`: every request looks up its key.
_ROWS = select(*(tables.keys.c[name] for name in ApiKey.__dataclass_fields__))
_BY_DIGEST = _ROWS.add_columns(_KEYS.hash).where(_KEYS.hash == bindparam("digest"))


def add(connection: Connection, key: ApiKey, *, digest: str) -> None:
    """Insert a key."""
    values = {name: getattr(key, name) for name in ApiKey.__dataclass_fields__}
    connection.execute(insert_into(tables.keys).values(hash=digest, **values | {"namespaces": list(key.namespaces)}))


def by_digest(connection: Connection, digest: str) -> tuple[ApiKey, str] | None:
    """The key with this hash, and the stored hash; None if there is none."""
    row = connection.execute(_BY_DIGEST, {"digest": digest}).one_or_none()
    return None if row is None else (_key(row), row.hash)


def every(connection: Connection) -> ListingRows[ApiKey]:
    """All keys, oldest first, including revoked ones."""
    statement = _ROWS.order_by(_KEYS.created_at, _KEYS.id)
    return read_listing(
        connection,
        statement,
        key=_KEYS.id,
        position=_KEYS.id,
        all_at_once=lambda: [_key(row) for row in connection.execute(statement)],
        one=lambda key_id: _key(connection.execute(_ROWS.where(_KEYS.id == key_id)).one()),
        position_of=lambda key: key.id,
    )


def revoke(connection: Connection, key_id: str, *, now: datetime) -> bool:
    """Revoke a key, unless it already is; False if no key has this id."""
    first = func.coalesce(_KEYS.revoked_at, literal(now, tables.Moment))
    revoked: int = connection.execute(update(tables.keys).where(_KEYS.id == key_id).values(revoked_at=first)).rowcount
    return revoked == 1


def remove(connection: Connection, key_id: str) -> None:
    """Delete a key; nothing happens if no key has this id."""
    connection.execute(delete(tables.keys).where(_KEYS.id == key_id))


def remove_older(connection: Connection, prefix: str, *, before: datetime) -> None:
    """Delete the keys whose id starts with `prefix` and that were created before a time."""
    connection.execute(
        delete(tables.keys).where(_KEYS.id.startswith(prefix, autoescape=True), _KEYS.created_at < before)
    )


def used(connection: Connection, key_id: str, *, now: datetime, every: timedelta) -> None:
    """Record the use of a key, unless that was done recently.

    A recorded time in the future comes from a wrong clock and is replaced.
    """
    last = _KEYS.last_used_at
    stale = or_(last.is_(None), last < now - every, last > now + every)
    connection.execute(update(tables.keys).where(_KEYS.id == key_id, stale).values(last_used_at=now))


def _key(row: Row[Any]) -> ApiKey:
    return ApiKey(
        **{name: getattr(row, name) for name in ApiKey.__dataclass_fields__} | {"namespaces": tuple(row.namespaces)}
    )

"""Queries on the answers of requests that had an idempotency key."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select

from traitbench.store import tables
from traitbench.store.database import insert

_ANSWERS = tables.answers.c
_LOCK_MS = 10_000  # as long as SQLite waits for its lock


@dataclass(frozen=True)
class StoredAnswer:
    """What a request was answered: `request` is the hash of what was sent, `request_id` the id of the first request."""

    request: str
    request_id: str
    status: int
    media_type: str
    content: bytes


_SHOWN = select(*(_ANSWERS[name] for name in StoredAnswer.__dataclass_fields__))


def lock(connection: Connection, key: str) -> None:
    """Wait until no other transaction has locked this key; raise `StoreUnavailable` after ten seconds.

    On SQLite, the lock of every transaction that may write is enough.
    """
    if connection.dialect.name != "sqlite":
        number = int.from_bytes(bytes.fromhex(key)[:8], signed=True)
        # In one message, because each of them would be a way to the server and back.
        connection.exec_driver_sql(
            f"SET LOCAL lock_timeout = {_LOCK_MS}; SELECT pg_advisory_xact_lock({number});"
            " SET LOCAL lock_timeout TO DEFAULT"
        )


def find(connection: Connection, key: str, *, since: datetime) -> StoredAnswer | None:
    """The answer of a key, unless there is none or it is from before `since`."""
    statement = _SHOWN.where(_ANSWERS.id == key, _ANSWERS.answered_at > since)
    row = connection.execute(statement).one_or_none()
    return None if row is None else StoredAnswer(**row._mapping)


def put(connection: Connection, key: str, answer: StoredAnswer, *, handle: str | None, now: datetime) -> None:
    """Store the answer of a key about the model with this handle; an old one of the same key is replaced."""
    model_id = select(tables.models.c.id).where(tables.models.c.handle == handle).scalar_subquery()
    values: dict[str, Any] = {**vars(answer), "model_id": model_id, "answered_at": now}
    statement = insert(connection, tables.answers).values(id=key, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=[_ANSWERS.id], set_=values))


def purge(connection: Connection, model_id: int) -> None:
    """Delete the answers about a model."""
    connection.execute(delete(tables.answers).where(_ANSWERS.model_id == model_id))


def expire(connection: Connection, before: datetime) -> None:
    """Delete the answers from before a time."""
    connection.execute(delete(tables.answers).where(_ANSWERS.answered_at <= before))

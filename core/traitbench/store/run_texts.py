"""Queries on the texts that a discovery was sent. They exist only while it is live: `runs` deletes them at its end."""

from collections.abc import Mapping

from sqlalchemy import Connection, delete, select
from sqlalchemy import insert as insert_into

from traitbench.store import tables

_TEXTS = tables.run_texts.c


def add(connection: Connection, run_id: str, texts: Mapping[str, str]) -> None:
    """Store the texts of a run, by hash."""
    if texts:
        rows = [{"run_id": run_id, "content_sha256": digest, "text": text} for digest, text in texts.items()]
        connection.execute(insert_into(tables.run_texts), rows)


def read(connection: Connection, run_id: str) -> dict[str, str]:
    """The texts of a run, by hash."""
    statement = select(_TEXTS.content_sha256, _TEXTS.text).where(_TEXTS.run_id == run_id)
    return {row.content_sha256: row.text for row in connection.execute(statement.order_by(_TEXTS.content_sha256))}


def exist(connection: Connection, run_id: str) -> bool:
    """Whether a run has texts."""
    return connection.execute(select(_TEXTS.run_id).where(_TEXTS.run_id == run_id).limit(1)).first() is not None


def forget(connection: Connection, run_id: str) -> None:
    """Delete the texts of a run."""
    connection.execute(delete(tables.run_texts).where(_TEXTS.run_id == run_id))

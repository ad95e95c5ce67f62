"""Damaged JSON of a model: what it contained is unknown, so zero retention clears it."""

from typing import Any

from sqlalchemy import JSON, Column, ColumnElement, Connection, select, update

from traitbench.store import tables
from traitbench.store.rows import readable

_OWNERS = {
    tables.models: tables.models.c.id,
    tables.traits: tables.traits.c.model_id,
    tables.versions: tables.versions.c.model_id,
    tables.runs: tables.runs.c.model_id,
}


def clear(connection: Connection, model_id: int) -> None:
    """Empty every column with damaged JSON in the rows of a model."""
    for table, owner in _OWNERS.items():
        for column in table.columns:
            if isinstance(column.type, JSON) and not _is_readable(connection, column, owner == model_id):
                _clear(connection, column, owner == model_id)


def _clear(connection: Connection, column: Column[Any], chosen: ColumnElement[bool]) -> None:
    table, empty = column.table, None if column.nullable else dict[str, Any]()
    for row_id in connection.execute(select(table.c.id).where(chosen)).scalars().all():
        if not _is_readable(connection, column, table.c.id == row_id):
            connection.execute(update(table).where(table.c.id == row_id).values({column.name: empty}))


def _is_readable(connection: Connection, column: Column[Any], chosen: ColumnElement[bool]) -> bool:
    return readable(lambda: connection.execute(select(column).where(chosen)).all()) is not None

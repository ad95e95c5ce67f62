"""Queries on the database as a whole: its size, and its number of rows."""

from sqlalchemy import Connection, func, select, text

from traitbench.store import tables

_SIZE = {
    # A page that is both in the file and in the log counts once: this is the file's size once the log is written back.
    "sqlite": text("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"),
    "postgresql": text("SELECT pg_database_size(current_database())"),
}
_COUNTED = {"models": tables.models, "versions": tables.versions, "samples": tables.samples}


def size(connection: Connection) -> int:
    """Bytes of the database."""
    return int(connection.execute(_SIZE[connection.dialect.name]).scalar_one())


def rows(connection: Connection) -> dict[str, int]:
    """How many models (archived ones too), versions and samples there are."""
    counted = {name: select(func.count()).select_from(table) for name, table in _COUNTED.items()}
    return {name: connection.execute(statement).scalar_one() for name, statement in counted.items()}

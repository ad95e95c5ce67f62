"""Migrations of the schema: applied at every start, by one process at a time, without losing rows.

Alembic is imported only where something is to be migrated: most starts find the newest schema.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, inspect, text

from traitbench.store.database import writing
from traitbench.store.errors import unavailable

if TYPE_CHECKING:
    from alembic.config import Config

_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 7_261_105


def migrate(engine: Engine, revision: str = "head") -> None:
    """Apply the missing migrations up to a revision, in one transaction."""
    with writing(engine) as connection:
        hold(connection)
        current = installed(connection)
        if current is not None and not is_known(current):
            raise unavailable("newer", nothing="Nothing was changed.")
        if current != (revisions()[-1] if revision == "head" else revision):
            upgrade(connection, revision)


def hold(connection: Connection) -> None:
    """Keep other processes from migrating until the transaction ends; a service that starts meanwhile waits."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Apply the missing migrations up to a revision, in the caller's transaction."""
    from alembic import command

    command.upgrade(_config(connection), revision)


def installed(connection: Connection) -> str | None:
    """The revision of the schema in the database; None if there is no schema."""
    if not inspect(connection).has_table("tb_schema"):
        return None
    revision: str | None = connection.execute(text("SELECT version_num FROM tb_schema")).scalar_one_or_none()
    return revision


def is_known(revision: str) -> bool:
    """Whether this program has the migration of a revision; it does not if a newer program made the schema."""
    return revision in revisions()


@cache
def revisions() -> Sequence[str]:
    """The revisions of the migrations, oldest first. The name of each file begins with its revision."""
    files = (_MIGRATIONS / "versions").glob("[0-9]*_*.py")
    return sorted(file.name.partition("_")[0] for file in files)


def _config(connection: Connection) -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config

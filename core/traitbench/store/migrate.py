"""Open the database and migrate its schema: at every start, by one process at a time, without losing rows.

Alembic is imported only where something is to be migrated: most starts find the newest schema.
"""

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sqlalchemy import Connection, Engine, inspect, text

from traitbench.settings import Settings
from traitbench.store.database import check_file, open_engine, sqlite_file, writing
from traitbench.store.errors import StoreUnavailable, reason_of, unavailable

if TYPE_CHECKING:
    from alembic.config import Config

_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 7_261_105

_BEFORE_0_2_0 = ("0001", "0002", "0003", "0004")
REPLACED = ("0005", "0006", "0007", "0008", "0009")
"""The revision of 0.2.0 and those after it that the first migration replaces: it adds what their tables lack."""


def migrate(engine: Engine) -> None:
    """Apply the missing migrations, in one transaction."""
    with writing(engine) as connection:
        hold(connection)
        current = installed(connection)
        if current is not None and (reason := refusal(current)):
            raise unavailable(reason, nothing="Nothing was changed.")
        if current != revisions()[-1]:
            upgrade(connection)


def hold(connection: Connection) -> None:
    """Keep other processes from migrating until the transaction ends; a service that starts meanwhile waits."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})


def create(connection: Connection, revision: str) -> None:
    """Create the tables for rows of a revision, in the caller's transaction; `upgrade` completes them."""
    upgrade(connection, revisions()[0] if revision in REPLACED else revision)
    connection.execute(text("UPDATE tb_schema SET version_num = :revision"), {"revision": revision})


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Apply the missing migrations up to a revision, in the caller's transaction."""
    from alembic import command

    config = _config(connection)
    if installed(connection) in REPLACED:
        command.stamp(config, "base", purge=True)
    command.upgrade(config, revision)


def installed(connection: Connection) -> str | None:
    """The revision of the schema in the database; None if there is no schema."""
    if not inspect(connection).has_table("tb_schema"):
        return None
    revision: str | None = connection.execute(text("SELECT version_num FROM tb_schema")).scalar_one_or_none()
    return revision


def refusal(revision: str) -> Literal["older", "newer"] | None:
    """Why this program cannot use the schema of a revision; None if it can."""
    if revision in _BEFORE_0_2_0:
        return "older"
    return None if revision in (*REPLACED, *revisions()) else "newer"


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


def open_store(settings: Settings, *, check_s: float = 0.0) -> Engine:
    """The database with its schema up to date, which is all that the key commands need.

    `check_s` is how many seconds to spend looking for damage in a SQLite file. Raises `StoreUnavailable` if the
    database cannot be used.
    """
    file = sqlite_file(settings.database_url)
    try:
        settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        if file:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # SQLite gives the files beside it the same mode.
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        where = settings.home if file is None or error.filename is None else error.filename
        raise StoreUnavailable(
            f"{where} cannot be used: {error.strerror}. Make it writable for this user, free some space, or set"
            " TRAITBENCH_HOME or TRAITBENCH_DATABASE_URL to another place.",
            reason=reason_of(error) or "no_file",
        ) from error
    engine = open_engine(settings.database_url)
    if check_s:
        check_file(engine, within_s=check_s)
    migrate(engine)
    return engine

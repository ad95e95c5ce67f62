"""The database: one engine, two kinds of transaction, the same code on SQLite and PostgreSQL.

`writing` takes SQLite's write lock at once (BEGIN IMMEDIATE), so that what a transaction has read stays true until it
commits; on PostgreSQL the rows that a decision rests on are locked instead (`SELECT ... FOR UPDATE`; SQLite drops it).
`reading` is one consistent snapshot on both, and never waits for a writer. Statements never carry their parameters into
an error message: they hold texts.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from sqlite3 import OperationalError
from time import monotonic, sleep
from typing import Any

from pydantic_core import from_json
from sqlalchemy import URL, Connection, Dialect, Engine, Table, create_engine, event, literal_column, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.elements import ColumnElement

from core.errors import UnreadableRow

_READ = "traitbench_read"
_MAYBE_HUGE = re.compile(r"[eE]\+?\d{3}|\d{19}")
_OF_READERS: Mapping[str, Mapping[str, Any]] = {
    "sqlite": {_READ: True},
    "postgresql": {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
}
_PATIENCE = "PRAGMA busy_timeout=10000"
_TEMPORARY = "PRAGMA temp_store=MEMORY"
_PAUSE_SECONDS = 0.05
_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=NORMAL",
    "busy_timeout=10000",
    "foreign_keys=ON",
    "secure_delete=ON",
    # Texts that are deleted shall not pass through temporary files either.
    "temp_store=MEMORY",
    "cache_size=-16000",
)


def open_engine(url: str | URL) -> Engine:
    """The engine of a database, its folder made if it is a file; nothing is connected yet."""
    url = make_url(url)
    if url.get_backend_name() == "sqlite":
        return _sqlite(url)
    return create_engine(
        url,
        hide_parameters=True,
        json_serializer=_to_json,
        json_deserializer=_from_json,
        pool_size=8,
        max_overflow=24,
        pool_pre_ping=True,
    )


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that may write; committed at the end, rolled back when it raises."""
    with engine.begin() as connection:
        yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that sees one moment of the database and changes nothing."""
    # Options of the connection, not of the engine: that would be a new engine every time.
    with engine.connect() as connection, connection.execution_options(**_OF_READERS[engine.dialect.name]).begin():
        yield connection


def clean(engine: Engine, *, patience_s: float) -> bool:
    """Leave nothing of what was deleted in SQLite's file and log; False when that could not be done in time. No more
    to do on another database.

    `secure_delete` overwrites a row where it stands, and not where it stood before its page became too full or too
    empty: the file is written anew. Then the log, which holds the old pages, is moved into it and cut off.
    """
    if engine.dialect.name != "sqlite":
        return True
    end = monotonic() + patience_s
    with closing(engine.raw_connection()) as connection:
        return _insist(partial(_write_anew, connection), end) and _insist(partial(_cut_off_log, connection), end)


def sqlite_file(url: str | URL) -> Path | None:
    """The file behind a SQLite URL; None for another database."""
    url = make_url(url)
    if url.get_backend_name() != "sqlite" or not url.database:
        return None
    return Path(url.database).absolute()


def insert(connection: Connection, table: Table) -> Any:
    """The dialect's INSERT, the one that knows ON CONFLICT."""
    return (sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert)(table)


def database_now(dialect: Dialect) -> ColumnElement[int]:
    """The database's clock in microseconds: the one clock that all workers share."""
    if dialect.name == "sqlite":
        return literal_column("CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER)")
    return literal_column("CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)")


def _insist(attempt: Callable[[], bool], end: float) -> bool:
    while not (done := attempt()) and monotonic() < end:
        sleep(_PAUSE_SECONDS)
    return done


def _write_anew(connection: Any) -> bool:
    """Every row into a new page; False while somebody else writes."""
    cursor = connection.cursor()
    try:
        # What is still there may be more than memory holds. What was deleted does not pass through.
        cursor.execute("PRAGMA temp_store=FILE")
        cursor.execute("VACUUM")
        return True
    except OperationalError:
        return False
    finally:
        cursor.execute(_TEMPORARY)
        cursor.close()


def _cut_off_log(connection: Any) -> bool:
    """False while somebody reads in it."""
    cursor = connection.cursor()
    try:
        # SQLite itself would hold up every writer while it waits for the readers.
        cursor.execute("PRAGMA busy_timeout=0")
        [(busy, _, _)] = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return not busy
    finally:
        cursor.execute(_PATIENCE)
        cursor.close()


def _sqlite(url: URL) -> Engine:
    # Threads wait for SQLite's lock, not for a place in the pool.
    json_as_ours: Mapping[str, Any] = {"json_serializer": _to_json, "json_deserializer": _from_json}
    engine = create_engine(url, hide_parameters=True, pool_size=8, max_overflow=56, **json_as_ours)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _record: Any) -> None:
    # Python's own BEGIN comes too late (before the first write only), so it is turned off.
    connection.isolation_level = None
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}").close()


def _begin(connection: Connection) -> None:
    read = connection.get_execution_options().get(_READ)
    connection.exec_driver_sql("BEGIN" if read else "BEGIN IMMEDIATE")


_to_json = partial(json.dumps, ensure_ascii=False, allow_nan=False)


def _from_json(text: str) -> Any:
    """What JSON in a column stands for; raise `UnreadableRow` when no answer could carry it."""
    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError:
        raise UnreadableRow("its JSON is damaged") from None
    if _MAYBE_HUGE.search(text) and not _is_finite(value):
        raise UnreadableRow("a number in its JSON is out of range")
    return value


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return math.isfinite(value) if isinstance(value, float) else not isinstance(value, int) or abs(value) < 2**63

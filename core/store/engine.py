"""The database: one engine, two kinds of transaction, the same code on SQLite and PostgreSQL.

`writing` takes SQLite's write lock at once (BEGIN IMMEDIATE), so that what a transaction has read stays true until it
commits; on PostgreSQL the rows that a decision rests on are locked instead (`SELECT ... FOR UPDATE`; SQLite drops it).
`reading` is one consistent snapshot on both, and never waits for a writer. Statements never carry their parameters into
an error message: they hold texts. Where the database cannot be used, both raise `StoreUnavailable` (`trouble`).

A SQLite file that is removed or replaced while it is open takes writes as before, and loses them. So its identity is
remembered, no connection ever makes it anew, and no transaction commits to a file that is not at its place any more.
"""

import json
import math
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from sqlite3 import OperationalError
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote
from weakref import WeakKeyDictionary

from pydantic_core import from_json
from sqlalchemy import URL, Connection, Dialect, Engine, Table, create_engine, event, literal_column, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError
from sqlalchemy.sql.elements import ColumnElement

from traitbench.errors import UnreadableRow
from traitbench.settings import SettingInvalid
from traitbench.store.trouble import reason_of, translated, unavailable

_READ = "traitbench_read"
_MAYBE_HUGE = re.compile(r"[eE]\+?\d{3}|\d{19}")
_OF_READERS: Mapping[str, Mapping[str, Any]] = {
    "sqlite": {_READ: True},
    "postgresql": {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
}
_PATIENCE = "PRAGMA busy_timeout=10000"
_TEMPORARY = "PRAGMA temp_store=MEMORY"
_PAUSE_SECONDS = 0.05
_WAIT_FOR_READERS_MS = 2_000
_CONNECT_SECONDS = 10
_SPARE_BYTES = 1 << 20
_STEPS_BETWEEN_LOOKS = 100_000
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
    """The engine of a database; nothing is connected yet. Raise `SettingInvalid` for a URL that cannot be one."""
    url = _parsed(url)
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
        connect_args={"connect_timeout": _CONNECT_SECONDS},
    )


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that may write; committed at the end, rolled back when it raises."""
    with translated(), engine.begin() as connection:
        yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that sees one moment of the database and changes nothing."""
    # Options of the connection, not of the engine: that would be a new engine every time.
    options = _OF_READERS[engine.dialect.name]
    with translated(), engine.connect() as connection, connection.execution_options(**options).begin():
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
    with translated(), closing(engine.raw_connection()) as connection:
        return _insist(partial(_write_anew, connection), end) and _insist(partial(_cut_off_log, connection), end)


def cleanable(engine: Engine, *, patience_s: float) -> bool:
    """Whether `clean` can do its work now: False while others read in SQLite's log for all that time.

    Raise `StoreUnavailable` when the disk has no room for the file to be written anew.
    """
    file = sqlite_file(engine.url)
    if engine.dialect.name != "sqlite" or file is None:
        return True
    end = monotonic() + patience_s
    with translated(), closing(engine.raw_connection()) as connection:
        if not _insist(partial(_cut_off_log, connection), end):
            return False
    # It is written once into the log, and from there into its place.
    if shutil.disk_usage(file.parent).free < file.stat().st_size + _SPARE_BYTES:
        raise unavailable("full")
    return True


def check_file(engine: Engine, *, within_s: float) -> None:
    """Raise `StoreUnavailable` when SQLite finds its file damaged within so many seconds; the rest is not looked at."""
    if engine.dialect.name != "sqlite":
        return
    end = monotonic() + within_s
    with translated(), closing(engine.raw_connection()) as connection:
        connection.set_progress_handler(lambda: monotonic() > end, _STEPS_BETWEEN_LOOKS)
        try:
            found = connection.execute("PRAGMA quick_check(1)").fetchall()
        except OperationalError as error:
            if error.sqlite_errorname != "SQLITE_INTERRUPT":
                raise
            found = [("ok",)]
        finally:
            connection.set_progress_handler(None, 0)
    if found != [("ok",)]:
        raise unavailable("damaged")


def in_place(engine: Engine) -> bool:
    """Whether the file that SQLite has open is still the one at its path; True for another database."""
    file = _files.get(engine)
    return file is None or file.in_place()


def sqlite_file(url: str | URL) -> Path | None:
    """The file behind a SQLite URL; None for another database."""
    url = _parsed(url)
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


def _parsed(url: str | URL) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        # What it says may hold the password.
        raise SettingInvalid(
            "TRAITBENCH_DATABASE_URL cannot be read. Use sqlite:////path/to/file.db or"
            " postgresql://user:password@host:5432/name, and write special characters in it as %XX."
        ) from None


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
    except OperationalError as error:
        if reason_of(error) != "busy":
            raise
        return False
    finally:
        cursor.execute(_TEMPORARY)
        cursor.close()


def _cut_off_log(connection: Any) -> bool:
    """False while somebody reads in it."""
    cursor = connection.cursor()
    try:
        # SQLite waits for those who read already, and lets new ones read past the log meanwhile. Without that wait it
        # would have to meet a moment in which nobody reads, and on a busy service there is none. Writers wait too.
        cursor.execute(f"PRAGMA busy_timeout={_WAIT_FOR_READERS_MS}")
        [(busy, _, _)] = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return not busy
    finally:
        cursor.execute(_PATIENCE)
        cursor.close()


class _File:
    """A SQLite file, and which one it is: another one at its path is another database."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity: tuple[int, int] | None = None

    def connect(self) -> sqlite3.Connection:
        """A connection. Only the first one may make the file."""
        if self._identity is not None:
            self.check()
        mode = "rwc" if self._identity is None else "rw"
        connection = sqlite3.connect(f"file:{quote(str(self._path))}?mode={mode}", uri=True, check_same_thread=False)
        if self._identity is None:
            self._identity = self._look()
        return connection

    def in_place(self) -> bool:
        """Whether the file is still there, or was never opened."""
        return self._identity is None or self._look() == self._identity

    def check(self, *_: object) -> None:
        """Raise `StoreUnavailable` when the file is not there any more."""
        if not self.in_place():
            raise unavailable("gone")

    def _look(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_dev, found.st_ino


_files: WeakKeyDictionary[Engine, _File] = WeakKeyDictionary()


def _sqlite(url: URL) -> Engine:
    path = sqlite_file(url)
    if path is None:
        raise SettingInvalid("TRAITBENCH_DATABASE_URL names no file. Use sqlite:////path/to/file.db.")
    file = _File(path)
    # Threads wait for SQLite's lock, not for a place in the pool.
    json_as_ours: Mapping[str, Any] = {"json_serializer": _to_json, "json_deserializer": _from_json}
    engine = create_engine(
        url, creator=file.connect, hide_parameters=True, pool_size=8, max_overflow=56, **json_as_ours
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    event.listen(engine, "commit", file.check)
    _files[engine] = file
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


def _from_json(stored: str | bytes) -> Any:
    """What JSON in a column stands for; raise `UnreadableRow` when no answer could carry it.

    SQLite gives text, and psycopg gives bytes. SQLAlchemy takes a bare number as it is on a `TypeError`.
    """
    try:
        text = stored.decode() if isinstance(stored, bytes) else stored
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

"""The database: one engine, two kinds of transaction, the same code on SQLite and PostgreSQL.

`writing` takes SQLite's write lock at once (BEGIN IMMEDIATE), so that what a transaction has read stays true until it
commits. On PostgreSQL, the rows that a decision depends on are locked instead (`SELECT ... FOR UPDATE`, which has no
effect on SQLite). `reading` is one consistent snapshot on both, and never waits for a writer. Error messages never
contain the parameters of a statement, because these hold texts. If the database cannot be used, both raise
`StoreUnavailable` (`errors`). Within `as_one`, all transactions are one, so that what a request answers can be stored
with what it did.

Writes to a SQLite file that was removed or replaced while it is open succeed, and are lost. So the identity of the file
is remembered, no connection creates it a second time, and no transaction commits if the file is not in its place.
"""

import json
import math
import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from contextvars import ContextVar
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
from traitbench.store.errors import reason_of, translated, unavailable

_READ = "traitbench_read"
_MAYBE_HUGE = re.compile(r"[eE]\+?\d{3}|\d{19}")
_READ_OPTIONS: Mapping[str, Mapping[str, Any]] = {
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
    # Deleted texts must not pass through temporary files either.
    "temp_store=MEMORY",
    "cache_size=-16000",
)


def open_engine(url: str | URL) -> Engine:
    """The engine of a database, not yet connected; raise `SettingInvalid` for an invalid URL."""
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
    """A transaction that may write; committed at the end, rolled back on an exception."""
    if (one := _one.get()) is not None:
        with one.part(engine) as connection:
            yield connection
        return
    with translated(), engine.begin() as connection:
        yield connection


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A read-only transaction that sees one consistent state of the database."""
    if (connection := uncommitted()) is not None:
        yield connection
        return
    # Options of the connection: those of an engine would create a new engine every time.
    options = _READ_OPTIONS[engine.dialect.name]
    with translated(), engine.connect() as connection, connection.execution_options(**options).begin():
        yield connection


class OneTransaction:
    """The transaction of an `as_one`; `connection` is None until something may be written."""

    def __init__(self, first: Callable[[Connection], None]) -> None:
        self.connection: Connection | None = None
        self._first, self._open, self._then = first, ExitStack(), list[Callable[[], None]]()
        self._failed = False

    @contextmanager
    def part(self, engine: Engine) -> Iterator[Connection]:
        """What would be a transaction of its own; if it fails, nothing can be committed any more."""
        try:
            if self.connection is None:
                self._open.enter_context(translated())
                connection = self._open.enter_context(engine.begin())
                self._first(connection)
                self.connection = connection
            yield self.connection
        except BaseException:
            self._failed = True
            raise

    def __enter__(self) -> "OneTransaction":
        self._token = _one.set(self)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        _one.reset(self._token)
        if error is None and self._failed:
            error = RuntimeError("a part of the transaction failed, so it was rolled back")
        with self._open:
            if error is not None:
                raise error
        for action in self._then:
            action()

    def then(self, action: Callable[[], None]) -> None:
        """Do something after the commit, and not at all if there is none."""
        self._then.append(action)


_one: ContextVar[OneTransaction | None] = ContextVar("traitbench_one_transaction", default=None)


def as_one(first: Callable[[Connection], None]) -> OneTransaction:
    """Make all transactions of the block one, which is committed at its end and rolled back on an exception.

    It begins when something may be written, not before: what takes long before that holds no lock. `first` is the first
    to use it. Transactions of other threads are their own.
    """
    return OneTransaction(first)


def uncommitted() -> Connection | None:
    """The connection of the one transaction (`as_one`) that has begun here; None outside of one."""
    one = _one.get()
    return None if one is None else one.connection


def after_commit(action: Callable[[], None]) -> None:
    """Do something now or, within `as_one`, after the commit."""
    one = _one.get()
    if one is None or one.connection is None:
        action()
    else:
        one.then(action)


def clean(engine: Engine, *, patience_s: float) -> bool:
    """Remove what was deleted from SQLite's file and log; False if that was not possible within `patience_s`.

    `secure_delete` overwrites a row where it is, but not the copies left behind when its page was split or merged, so
    the file is rewritten. Then the log, which holds the old pages, is written back and truncated. Other databases need
    nothing.
    """
    if engine.dialect.name != "sqlite":
        return True
    end = monotonic() + patience_s
    with translated(), closing(engine.raw_connection()) as connection:
        return _retry(partial(_rewrite, connection), end) and _retry(partial(_truncate_log, connection), end)


def cleanable(engine: Engine, *, patience_s: float) -> bool:
    """Whether `clean` can do its work now; False if others are still reading SQLite's log after `patience_s`.

    Raises `StoreUnavailable` if the disk has no room to rewrite the file.
    """
    file = sqlite_file(engine.url)
    if engine.dialect.name != "sqlite" or file is None:
        return True
    end = monotonic() + patience_s
    with translated(), closing(engine.raw_connection()) as connection:
        if not _retry(partial(_truncate_log, connection), end):
            return False
    # The whole file is written to the log first, and from there to its place.
    if shutil.disk_usage(file.parent).free < file.stat().st_size + _SPARE_BYTES:
        raise unavailable("full")
    return True


def check_file(engine: Engine, *, within_s: float) -> None:
    """Raise `StoreUnavailable` if SQLite finds its file damaged; the check stops after `within_s` seconds."""
    if engine.dialect.name != "sqlite":
        return
    end = monotonic() + within_s
    with translated(), closing(engine.raw_connection()) as connection:
        connection.set_progress_handler(lambda: monotonic() > end, _STEPS_BETWEEN_LOOKS)
        try:
            rows = connection.execute("PRAGMA quick_check(1)").fetchall()
        except OperationalError as error:
            if error.sqlite_errorname != "SQLITE_INTERRUPT":
                raise
            rows = [("ok",)]
        finally:
            connection.set_progress_handler(None, 0)
    if rows != [("ok",)]:
        raise unavailable("damaged")


def check_writable(engine: Engine, *, within_s: float) -> None:
    """Raise `StoreUnavailable` if a write cannot begin within `within_s` seconds; it is rolled back.

    On SQLite this takes a new connection, because the others answer from memory when the file is damaged.
    """
    milliseconds, write = round(within_s * 1_000), "UPDATE tb_models SET id = id WHERE id < 0"
    file = _files.get(engine)
    with translated():
        if file is None:
            with engine.connect() as connection:
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = {milliseconds}")
                connection.exec_driver_sql(write)
            return
        with closing(file.connect()) as raw:
            raw.isolation_level = None
            for statement in (f"PRAGMA busy_timeout={milliseconds}", "BEGIN IMMEDIATE", write, "ROLLBACK"):
                raw.execute(statement).close()


def in_place(engine: Engine) -> bool:
    """Whether the file that SQLite has open is still the one at its path; True for other databases."""
    file = _files.get(engine)
    return file is None or file.in_place()


def sqlite_file(url: str | URL) -> Path | None:
    """The file behind a SQLite URL; None for other databases."""
    url = _parsed(url)
    if url.get_backend_name() != "sqlite" or not url.database:
        return None
    return Path(url.database).absolute()


def insert(connection: Connection, table: Table) -> Any:
    """The dialect's INSERT, which supports ON CONFLICT."""
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
        # The original message may contain the password.
        raise SettingInvalid(
            "TRAITBENCH_DATABASE_URL cannot be read. Use sqlite:////path/to/file.db or"
            " postgresql://user:password@host:5432/name, and write special characters in it as %XX."
        ) from None


def _retry(attempt: Callable[[], bool], end: float) -> bool:
    while not (done := attempt()) and monotonic() < end:
        sleep(_PAUSE_SECONDS)
    return done


def _rewrite(connection: Any) -> bool:
    """Write every row to a new page (VACUUM); False while another connection writes."""
    cursor = connection.cursor()
    try:
        # The rows that remain may not fit into memory. Deleted rows do not pass through the temporary file.
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


def _truncate_log(connection: Any) -> bool:
    """Write the log back and truncate it; False while another connection reads it."""
    cursor = connection.cursor()
    try:
        # SQLite waits for current readers, and new ones read past the log meanwhile. Without this wait, it would need a
        # moment without any reader, which a busy service never has. Writers wait too.
        cursor.execute(f"PRAGMA busy_timeout={_WAIT_FOR_READERS_MS}")
        [(busy, _, _)] = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return not busy
    finally:
        cursor.execute(_PATIENCE)
        cursor.close()


class _File:
    """A SQLite file and its identity: another file at the same path is another database."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity: tuple[int, int] | None = None

    def connect(self) -> sqlite3.Connection:
        """A new connection. Only the first one may create the file."""
        if self._identity is not None:
            self.check()
        mode = "rwc" if self._identity is None else "rw"
        connection = sqlite3.connect(f"file:{quote(str(self._path))}?mode={mode}", uri=True, check_same_thread=False)
        if self._identity is None:
            self._identity = self._read_identity()
        return connection

    def in_place(self) -> bool:
        """Whether the file is still in its place, or was never opened."""
        return self._identity is None or self._read_identity() == self._identity

    def check(self, *_: object) -> None:
        """Raise `StoreUnavailable` if the file is no longer in its place."""
        if not self.in_place():
            raise unavailable("gone")

    def _read_identity(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_dev, status.st_ino


_files: WeakKeyDictionary[Engine, _File] = WeakKeyDictionary()


def _sqlite(url: URL) -> Engine:
    path = sqlite_file(url)
    if path is None:
        raise SettingInvalid("TRAITBENCH_DATABASE_URL names no file. Use sqlite:////path/to/file.db.")
    file = _File(path)
    # Threads should wait for SQLite's lock, not for a connection of the pool.
    json_as_ours: Mapping[str, Any] = {"json_serializer": _to_json, "json_deserializer": _from_json}
    engine = create_engine(
        url, creator=file.connect, hide_parameters=True, pool_size=8, max_overflow=56, **json_as_ours
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    # This costs one `stat` per transaction. Without it, a write to a file that was removed would be acknowledged.
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
    # The price of taking the lock before the first read: writers of one file wait for each other. Optimistic row
    # versions would avoid that, but every rule would need retries.
    connection.exec_driver_sql("BEGIN" if read else "BEGIN IMMEDIATE")


_to_json = partial(json.dumps, ensure_ascii=False, allow_nan=False)


def _from_json(stored: str | bytes) -> Any:
    """Decode the JSON of a column; raise `UnreadableRow` if it is damaged or no JSON response can hold a number in it.

    SQLite returns text, and psycopg returns bytes. On a `TypeError` SQLAlchemy falls back to the bare number.
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

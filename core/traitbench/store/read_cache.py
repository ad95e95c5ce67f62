"""A cache of results that is valid until anything is written: every score and every page reads the same rows again.

One cheap check (`data_version`) tells whether any connection to the SQLite file has committed since, in this process or
another. The check costs a hundredth of the queries that it saves, and a result is never older than the check.
PostgreSQL has no such check, so nothing is cached there.
"""

import sqlite3
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import quote

from sqlalchemy import Engine

from traitbench.store.database import sqlite_file, uncommitted

Value = TypeVar("Value")

_MOST = 1_000


class ReadCache:
    """Results by key. Do not cache anything that depends on a clock or on state outside the database."""

    def __init__(self, engine: Engine) -> None:
        self._file = sqlite_file(engine.url)
        self._connection: sqlite3.Connection | None = None
        self._lock = Lock()
        self._version: int | None = None
        self._results: dict[Hashable, Any] = {}
        self._weight = 0

    def get(self, asked: Hashable, read: Callable[[], Value], *, weight: int = 1) -> Value:
        """The cached result or, if there is none or something was written, the result of `read`.

        `weight` is how many small results this one counts for.
        """
        if uncommitted() is not None:
            return read()  # what may yet be rolled back
        with self._lock:
            now = self._check_version()
            if now is not None and asked in self._results:
                result: Value = self._results[asked]
                return result
        # A write from here on changes the version: the result may be newer than its version, never older.
        fresh = read()
        with self._lock:
            if now is not None and now == self._version and self._weight < _MOST:
                self._results[asked] = fresh
                self._weight += weight
        return fresh

    def clear(self) -> None:
        """Drop all results."""
        with self._lock:
            self._drop()

    def close(self) -> None:
        """Drop all results and close the connection."""
        with self._lock:
            self._file = None
            self._drop()
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _check_version(self) -> int | None:
        """The database's version, None if it is not available. Drops the results of an older version."""
        if self._file is None:
            return None
        try:
            if self._connection is None:
                # Never "rwc": a file that was removed must not be created again.
                address = f"file:{quote(str(self._file))}?mode=rw"
                self._connection = sqlite3.connect(
                    address, uri=True, timeout=0, isolation_level=None, check_same_thread=False
                )
            # A time limit would need no query, but a revoked key would work until it has passed.
            version: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        except sqlite3.Error:
            version = -1
        if version != self._version or version < 0 or self._weight >= _MOST:
            self._drop()
        self._version = version
        return None if version < 0 else version

    def _drop(self) -> None:
        self._results.clear()
        self._weight = 0

"""What was read, for as long as nobody has written anything: a score asks the same of the same rows again and again.

SQLite says with one look whether any connection has committed since (`data_version`), this process's own or another's;
the look costs a hundredth of the questions it saves, and what was remembered is never older than the look. PostgreSQL
has no such thing: there nothing is remembered, and everything is asked anew.
"""

import sqlite3
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import quote

from sqlalchemy import Engine

from traitbench.store.engine import sqlite_file

Value = TypeVar("Value")

_MOST = 1_000


class Unchanged:
    """Answers by what was asked. It must not be told anything that a clock or another state decides."""

    def __init__(self, engine: Engine) -> None:
        self._file = sqlite_file(engine.url)
        self._looking: sqlite3.Connection | None = None
        self._lock = Lock()
        self._version: int | None = None
        self._known: dict[Hashable, Any] = {}

    def get(self, asked: Hashable, read: Callable[[], Value]) -> Value:
        """The answer remembered or, when there is none or something was written, the one that `read` gives."""
        with self._lock:
            now = self._look()
            if now is not None and asked in self._known:
                known: Value = self._known[asked]
                return known
        # What is written from here on changes the version: the answer may be newer than it, never older.
        answer = read()
        with self._lock:
            if now is not None and now == self._version and len(self._known) < _MOST:
                self._known[asked] = answer
        return answer

    def forget(self) -> None:
        """Let go of all."""
        with self._lock:
            self._known.clear()

    def close(self) -> None:
        """Let go of the database."""
        with self._lock:
            self._file = None
            self._known.clear()
            if self._looking is not None:
                self._looking.close()
                self._looking = None

    def _look(self) -> int | None:
        """The database's version; None when it cannot be had. What is known is of that version."""
        if self._file is None:
            return None
        try:
            if self._looking is None:
                # Never "rwc": a file that is not there any more must not be made.
                place = f"file:{quote(str(self._file))}?mode=rw"
                self._looking = sqlite3.connect(
                    place, uri=True, timeout=0, isolation_level=None, check_same_thread=False
                )
            found: int = self._looking.execute("PRAGMA data_version").fetchone()[0]
        except sqlite3.Error:
            found = -1
        if found != self._version or found < 0 or len(self._known) >= _MOST:
            self._known.clear()
        self._version = found
        return None if found < 0 else found

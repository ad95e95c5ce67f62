"""The SQLite file of the heaps: texts without labels and the decisions about them, per model and person.

The file is in the home folder with mode 0600 and survives a restart. A heap under zero data retention is in a database
in memory instead, which has the same tables. Decisions belong to a text and a trait. A decision without a sample id is
not saved by the service yet.
"""

import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traitbench.contract.samples import text_hash
from traitbench.local.assistant import HeapText

_TABLES = """
CREATE TABLE IF NOT EXISTS texts (
  id INTEGER PRIMARY KEY, service TEXT, model TEXT, owner TEXT, hash TEXT, text TEXT, source TEXT,
  UNIQUE (service, model, owner, hash)
);
CREATE TABLE IF NOT EXISTS decisions (
  id INTEGER PRIMARY KEY, service TEXT, model TEXT, owner TEXT, trait TEXT, hash TEXT, quality REAL, sample_id INTEGER,
  UNIQUE (service, model, owner, trait, hash)
);
"""
_OWN = "service = ? AND model = ? AND owner = ?"
_PATIENCE_S = 10.0


@dataclass(frozen=True)
class Place:
    """Whose heap it is: the address of the service, the model's handle and the person's id."""

    service: str
    model: str
    owner: str

    @property
    def key(self) -> tuple[str, str, str]:
        """The three values, in the order of the columns."""
        return self.service, self.model, self.owner


@dataclass(frozen=True)
class Decision:
    """What a person decided about a text: a quality from 0 to 1, or None for a skip. `sample_id` is None if unsaved."""

    trait: str
    hash: str
    quality: float | None
    sample_id: int | None = None

    @property
    def pending(self) -> bool:
        """Whether the service has not saved this label yet."""
        return self.quality is not None and self.sample_id is None


class HeapFile:
    """All heaps in one file, or in memory if `path` is None. Safe to use from several threads."""

    def __init__(self, path: Path | None) -> None:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            path.chmod(0o600)
        self._connection = sqlite3.connect(path or ":memory:", timeout=_PATIENCE_S, check_same_thread=False)
        for pragma in ("secure_delete = ON", "temp_store = MEMORY"):
            self._connection.execute(f"PRAGMA {pragma}")
        self._lock = threading.Lock()
        with self._writing() as cursor:
            for statement in _TABLES.split(";"):
                cursor.execute(statement)

    def add(self, place: Place, texts: Iterable[str], source: str) -> int:
        """Add texts that are not there yet, and return their number."""
        rows = [(*place.key, text_hash(text), text, source) for text in texts]
        with self._writing() as cursor:
            before = _count(cursor, place)
            cursor.executemany(
                "INSERT OR IGNORE INTO texts (service, model, owner, hash, text, source) VALUES (?, ?, ?, ?, ?, ?)",
                rows,
            )
            return _count(cursor, place) - before

    def state(self, place: Place) -> tuple[int, int]:
        """Return the number of texts and the newest id: equal as long as the texts are."""
        number, newest = self._read(f"SELECT count(*), coalesce(max(id), 0) FROM texts WHERE {_OWN}", place)[0]
        return number, newest

    def texts(self, place: Place) -> list[HeapText]:
        """Return the texts in the order in which they were added."""
        return [HeapText(*row) for row in self._read(f"SELECT hash, text FROM texts WHERE {_OWN} ORDER BY id", place)]

    def sources(self, place: Place) -> list[tuple[str, int]]:
        """Return where the texts came from, with their numbers."""
        return self._read(f"SELECT source, count(*) FROM texts WHERE {_OWN} GROUP BY source ORDER BY min(id)", place)

    def decisions(self, place: Place) -> list[Decision]:
        """Return the decisions, the oldest first."""
        asked = f"SELECT trait, hash, quality, sample_id FROM decisions WHERE {_OWN} ORDER BY id"
        return [Decision(*row) for row in self._read(asked, place)]

    def decide(self, place: Place, decisions: Sequence[Decision]) -> None:
        """Store decisions; one about the same text and trait replaces the older one."""
        rows = [(*place.key, each.trait, each.hash, each.quality, each.sample_id) for each in decisions]
        with self._writing() as cursor:
            cursor.executemany(
                "INSERT OR REPLACE INTO decisions (service, model, owner, trait, hash, quality, sample_id)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                rows,
            )

    def saved(self, place: Place, decisions: Sequence[Decision]) -> None:
        """Note the sample ids that the service gave."""
        rows = [(each.sample_id, *place.key, each.trait, each.hash) for each in decisions]
        with self._writing() as cursor:
            cursor.executemany(
                f"UPDATE decisions SET sample_id = ? WHERE {_OWN} AND trait = ? AND hash = ?",
                rows,
            )

    def undo(self, place: Place, trait: str, content_hash: str) -> None:
        """Remove a decision."""
        with self._writing() as cursor:
            cursor.execute(
                f"DELETE FROM decisions WHERE {_OWN} AND trait = ? AND hash = ?", (*place.key, trait, content_hash)
            )

    def discard(self, place: Place) -> None:
        """Delete a heap with its decisions."""
        with self._writing() as cursor:
            for table in ("texts", "decisions"):
                cursor.execute(f"DELETE FROM {table} WHERE {_OWN}", place.key)
        self._rewrite()

    def discard_model(self, service: str, model: str) -> None:
        """Delete the heaps of all people for a model."""
        with self._writing() as cursor:
            for table in ("texts", "decisions"):
                cursor.execute(f"DELETE FROM {table} WHERE service = ? AND model = ?", (service, model))
        self._rewrite()

    def _rewrite(self) -> None:
        """Rewrite the file without what was deleted: pages that SQLite split may hold copies of a text."""
        with self._lock:
            self._connection.execute("VACUUM")

    def _read(self, statement: str, place: Place) -> list[Any]:
        with self._lock:
            return self._connection.execute(statement, place.key).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Cursor]:
        """Run statements as one transaction."""
        with self._lock, self._connection:
            yield self._connection.cursor()


def _count(cursor: sqlite3.Cursor, place: Place) -> int:
    number: int = cursor.execute(f"SELECT count(*) FROM texts WHERE {_OWN}", place.key).fetchone()[0]
    return number

"""The pool of a model: texts without labels that a person brought, kept until they are labelled or discarded.

    added = pool.add(handle, texts, source)    # how many were new
    pool.texts(handle)                         # all of them by hash, labelled or not
    pool.discard(handle)

Each person has a pool of their own for each model, in a file of the home folder with mode 0600 that survives a restart.
Under zero data retention it is only in the browser's session, in a database in memory with the same tables, and what
was in the file before is removed. Only a person who may write the model has a pool. Texts leave this machine only as
samples or feedback, when they are labelled. Decisions belong to a text and a trait; one without a sample id is not
saved by the service yet.
"""

import os
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cachetools import LRUCache

from traitbench.contract.models import Model
from traitbench.contract.samples import LONGEST_TEXT, text_hash
from traitbench.local.label_session import LabelSession
from traitbench.settings import read_settings
from traitbench_app.shell import people, session
from traitbench_app.shell.permission import why_read_only
from traitbench_app.shell.service import client
from traitbench_app.workspace.samples import all_samples

MOST_TEXTS = 100_000
"""Texts in one pool."""

FILE = "heaps.db"
"""The file in the home folder; its name is that of earlier versions, so that their texts stay."""

_SESSION = "label.pool"
_TEXTS = "label.pool_texts"
_LOCK = threading.Lock()
_SESSIONS: LRUCache["PoolOwner", LabelSession] = LRUCache(4)
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
class PoolOwner:
    """Whose pool it is: the address of the service, the model's handle and the person's id."""

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


class PoolFile:
    """All pools in one file, or in memory if `path` is None. Safe to use from several threads."""

    def __init__(self, path: Path | None) -> None:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Before SQLite creates it with the mode of the process.
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            path.chmod(0o600)
        self._connection = sqlite3.connect(path or ":memory:", timeout=_PATIENCE_S, check_same_thread=False)
        # What is deleted is overwritten, and no text gets into a temporary file.
        for pragma in ("secure_delete = ON", "temp_store = MEMORY"):
            self._connection.execute(f"PRAGMA {pragma}")
        self._lock = threading.Lock()
        with self._writing() as cursor:
            for statement in _TABLES.split(";"):
                cursor.execute(statement)

    def add(self, owner: PoolOwner, texts: Iterable[str], source: str) -> int:
        """Add texts that are not there yet, and return their number."""
        rows = [(*owner.key, text_hash(text), text, source) for text in texts]
        with self._writing() as cursor:
            before = _count(cursor, owner)
            cursor.executemany(
                "INSERT OR IGNORE INTO texts (service, model, owner, hash, text, source) VALUES (?, ?, ?, ?, ?, ?)",
                rows,
            )
            return _count(cursor, owner) - before

    def state(self, owner: PoolOwner) -> tuple[int, int]:
        """Return the number of texts and the newest id: equal as long as the texts are."""
        number, newest = self._read(f"SELECT count(*), coalesce(max(id), 0) FROM texts WHERE {_OWN}", owner)[0]
        return number, newest

    def texts(self, owner: PoolOwner) -> dict[str, str]:
        """Return the texts by hash, in the order of the hashes: random, and the same every time."""
        return dict(self._read(f"SELECT hash, text FROM texts WHERE {_OWN} ORDER BY hash", owner))

    def sources(self, owner: PoolOwner) -> list[tuple[str, int]]:
        """Return where the texts came from, with their numbers."""
        return self._read(f"SELECT source, count(*) FROM texts WHERE {_OWN} GROUP BY source ORDER BY min(id)", owner)

    def decisions(self, owner: PoolOwner) -> list[Decision]:
        """Return the decisions, the oldest first."""
        asked = f"SELECT trait, hash, quality, sample_id FROM decisions WHERE {_OWN} ORDER BY id"
        return [Decision(*row) for row in self._read(asked, owner)]

    def decide(self, owner: PoolOwner, decisions: Sequence[Decision]) -> None:
        """Store decisions; one about the same text and trait replaces the older one."""
        rows = [(*owner.key, each.trait, each.hash, each.quality, each.sample_id) for each in decisions]
        with self._writing() as cursor:
            cursor.executemany(
                "INSERT OR REPLACE INTO decisions (service, model, owner, trait, hash, quality, sample_id)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                rows,
            )

    def saved(self, owner: PoolOwner, decisions: Sequence[Decision]) -> None:
        """Note the sample ids that the service gave."""
        rows = [(each.sample_id, *owner.key, each.trait, each.hash) for each in decisions]
        with self._writing() as cursor:
            cursor.executemany(
                f"UPDATE decisions SET sample_id = ? WHERE {_OWN} AND trait = ? AND hash = ?",
                rows,
            )

    def undo(self, owner: PoolOwner, trait: str, content_hash: str) -> None:
        """Remove a decision."""
        with self._writing() as cursor:
            cursor.execute(
                f"DELETE FROM decisions WHERE {_OWN} AND trait = ? AND hash = ?", (*owner.key, trait, content_hash)
            )

    def discard(self, owner: PoolOwner) -> None:
        """Delete a pool with its decisions."""
        with self._writing() as cursor:
            for table in ("texts", "decisions"):
                cursor.execute(f"DELETE FROM {table} WHERE {_OWN}", owner.key)
        self._rewrite()

    def models(self, service: str) -> set[str]:
        """Return the models of a service that have a pool."""
        with self._lock:
            asked = "SELECT model FROM {} WHERE service = ?"
            both = " UNION ".join(asked.format(table) for table in ("texts", "decisions"))
            return {model for (model,) in self._connection.execute(both, (service, service))}

    def discard_model(self, service: str, model: str) -> None:
        """Delete the pools of all people for a model."""
        with self._writing() as cursor:
            for table in ("texts", "decisions"):
                cursor.execute(f"DELETE FROM {table} WHERE service = ? AND model = ?", (service, model))
        self._rewrite()

    def _rewrite(self) -> None:
        """Rewrite the file without what was deleted: pages that SQLite split may hold copies of a text."""
        with self._lock:
            self._connection.execute("VACUUM")

    def _read(self, statement: str, owner: PoolOwner) -> list[Any]:
        with self._lock:
            return self._connection.execute(statement, owner.key).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Cursor]:
        """Run statements as one transaction."""
        with self._lock, self._connection:
            yield self._connection.cursor()


def _count(cursor: sqlite3.Cursor, owner: PoolOwner) -> int:
    number: int = cursor.execute(f"SELECT count(*) FROM texts WHERE {_OWN}", owner.key).fetchone()[0]
    return number


class NoPool(Exception):
    """This person cannot have a pool for this model, or it is full; the message says why."""


def add(handle: str, texts: Iterable[str], source: str) -> int:
    """Add texts to the pool and return how many were new.

    Blank texts, texts longer than a sample may be, texts that are in the pool and texts that are samples of every
    trait are left out. `source` is shown to the person, such as the name of a file. Raise `NoPool` if the person may
    not write the model or the pool would have more than `MOST_TEXTS` texts.
    """
    model = client().models.get(handle)
    if reason := why_not(model):
        raise NoPool(reason)
    labelled = _labelled_for_all(model)
    wanted = dict.fromkeys(text for text in map(str.strip, texts) if text and len(text) <= LONGEST_TEXT)
    new = [text for text in wanted if text not in labelled]
    file, owner = _open(model), _owner(handle)
    room = MOST_TEXTS - file.state(owner)[0]
    if len(new) > room:
        # Read only now: all texts of the pool are needed only where it may be full.
        known = {*file.texts(owner).values()}
        new = [text for text in new if text not in known]
    if len(new) > room:
        raise NoPool(f"A pool holds up to {MOST_TEXTS:,} texts, and this one has room for {room:,} more.")
    return file.add(owner, new, source)


def texts(handle: str) -> Mapping[str, str]:
    """Return all texts of the pool by hash; none if the person may not write the model.

    They are in the order of the hashes, and the same object as long as the pool does not change.
    """
    model = client().models.get(handle)
    return {} if why_not(model) else _texts(model)


def discard(handle: str) -> None:
    """Delete the pool of this person with the decisions about it. Samples that were saved stay."""
    _file(read_settings().home / FILE).discard(_owner(handle))
    _session_file().discard(_owner(handle))
    session.store(_TEXTS, None)
    _forget_sessions(client().base_url, handle)


def remove_of(path: Path, handles: Collection[str], *, service: str) -> None:
    """Delete the pools of models of a service in a file, whoever's they are, and end their labelling sessions."""
    if path.exists():
        file = _file(path)
        for handle in file.models(service).intersection(handles):
            file.discard_model(service, handle)
            _forget_sessions(service, handle)


def why_not(model: Model) -> str:
    """Say in Markdown why this person cannot have a pool for the model; "" if they can."""
    if model.state == "archived":
        return "This model was archived, so it takes no labels."
    return why_read_only(model)


# ---- decisions -------------------------------------------------------------------------------------------------------


def decisions(model: Model) -> list[Decision]:
    """Return what this person decided about the texts, the oldest first."""
    return _open(model).decisions(_owner(model.handle))


def decide(model: Model, made: Sequence[Decision]) -> None:
    """Store decisions, so that a reload or a failed save does not lose them."""
    _open(model).decide(_owner(model.handle), made)


def saved(model: Model, made: Sequence[Decision]) -> None:
    """Note the samples that the service made of decisions."""
    _open(model).saved(_owner(model.handle), made)


def undo(model: Model, decision: Decision) -> None:
    """Remove a decision, so that its text is in the queue again."""
    _open(model).undo(_owner(model.handle), decision.trait, decision.hash)


def sources(model: Model) -> list[tuple[str, int]]:
    """Return where the texts came from, with their numbers."""
    return _open(model).sources(_owner(model.handle))


# ---- what is behind the page -----------------------------------------------------------------------------------------


def session_of(handle: str) -> LabelSession:
    """Return the labelling session of this person for a model; of many, the one used longest ago is dropped."""
    owner = _owner(handle)
    with _LOCK:
        if owner not in _SESSIONS:
            _SESSIONS[owner] = LabelSession()
        return _SESSIONS[owner]


def _forget_sessions(service: str, handle: str) -> None:
    """End the sessions of a model and drop their vectors and hints, because its pool is gone."""
    with _LOCK:
        for owner in [each for each in _SESSIONS if (each.service, each.model) == (service, handle)]:
            _SESSIONS.pop(owner).until = 0.0


# ---- where it is kept ------------------------------------------------------------------------------------------------


def _open(model: Model) -> PoolFile:
    """Return the file, or the database in the session's memory under zero data retention."""
    file = _file(read_settings().home / FILE)
    if not model.zero_data_retention:
        return file
    owner = _owner(model.handle)
    if file.state(owner)[0]:
        file.discard_model(owner.service, model.handle)
    return _session_file()


def _session_file() -> PoolFile:
    stored = session.get(_SESSION)
    if not isinstance(stored, PoolFile):
        stored = PoolFile(None)
        session.store(_SESSION, stored)
    return stored


def _file(path: Path) -> PoolFile:
    with _LOCK:
        # Under the lock, because `cache` alone may call the function twice at once.
        return _opened(path)


@cache
def _opened(path: Path) -> PoolFile:
    return PoolFile(path)


def _owner(handle: str) -> PoolOwner:
    return PoolOwner(client().base_url, handle, people.current().id)


def _texts(model: Model) -> Mapping[str, str]:
    file, owner = _open(model), _owner(model.handle)
    state = (owner, model.zero_data_retention, file.state(owner))
    stored = session.get(_TEXTS)
    if stored is None or stored[0] != state:
        stored = (state, file.texts(owner))
        session.store(_TEXTS, stored)
    texts: dict[str, str] = stored[1]
    return texts


def _labelled_for_all(model: Model) -> frozenset[str]:
    """Return the texts that are samples of every trait, test samples included."""
    traits = client().traits.list(model.handle)
    if not traits:
        return frozenset()
    by_text: dict[str, set[str]] = {}
    for sample in all_samples(model.handle, traits):
        by_text.setdefault(sample.text, set()).add(sample.trait)
    return frozenset(text for text, keys in by_text.items() if len(keys) == len(traits))

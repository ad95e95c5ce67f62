"""Texts to label that earlier releases kept in the home folder: read, handed to the service once, and removed.

Each person had texts of their own for each model and service, in `heaps.db`. A decision without a sample id had not
been saved.
"""

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

FILE = "heaps.db"
_OWN = "service = ? AND model = ? AND owner = ?"
_PATIENCE_S = 10.0


@dataclass(frozen=True)
class PoolOwner:
    """Whose texts they are: the address of the service, the model's handle and the person's id."""

    service: str
    model: str
    owner: str


@dataclass(frozen=True)
class EarlierPool:
    """Texts by hash with their sources, and what was decided but not saved, by trait and hash; None is a skip."""

    texts: dict[str, tuple[str, str]]
    undone: dict[tuple[str, str], float | None]


def read(path: Path, owner: PoolOwner) -> EarlierPool | None:
    """Return what a person has in the file; None if that is nothing."""
    if not path.exists():
        return None
    own = (owner.service, owner.model, owner.owner)
    with _opened(path) as database:
        rows = database.execute(f"SELECT hash, text, source FROM texts WHERE {_OWN} ORDER BY id", own).fetchall()
        decided = database.execute(
            f"SELECT trait, hash, quality FROM decisions WHERE {_OWN} AND (quality IS NULL OR sample_id IS NULL)", own
        ).fetchall()
    if not rows:
        return None
    texts = {content_hash: (text, source) for content_hash, text, source in rows}
    return EarlierPool(texts, {(trait, content_hash): quality for trait, content_hash, quality in decided})


def remove(path: Path, owner: PoolOwner) -> None:
    """Remove what a person has in the file, which goes with the last row."""
    _remove(path, _OWN, (owner.service, owner.model, owner.owner))


def remove_of(path: Path, handles: Collection[str], *, service: str) -> None:
    """Remove what all people have of models of a service."""
    for handle in handles if path.exists() else ():
        _remove(path, "service = ? AND model = ?", (service, handle))


def _remove(path: Path, which: str, values: tuple[str, ...]) -> None:
    with _opened(path) as database:
        with database:
            changed = sum(
                database.execute(f"DELETE FROM {table} WHERE {which}", values).rowcount
                for table in ("texts", "decisions")
            )
            left = database.execute("SELECT count(*) FROM texts").fetchone()[0]
        if changed:
            # Pages that SQLite split may hold copies of a text.
            database.execute("VACUUM")
    if not left:
        path.unlink(missing_ok=True)


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, timeout=_PATIENCE_S)) as database:
        for pragma in ("secure_delete = ON", "temp_store = MEMORY"):
            database.execute(f"PRAGMA {pragma}")
        yield database

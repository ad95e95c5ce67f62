"""The file in which earlier releases kept texts to label."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from traitbench.contract.samples import text_hash

_TABLES = (
    "CREATE TABLE IF NOT EXISTS texts (id INTEGER PRIMARY KEY, service TEXT, model TEXT, owner TEXT, hash TEXT,"
    " text TEXT, source TEXT, UNIQUE (service, model, owner, hash))",
    "CREATE TABLE IF NOT EXISTS decisions (id INTEGER PRIMARY KEY, service TEXT, model TEXT, owner TEXT, trait TEXT,"
    " hash TEXT, quality REAL, sample_id INTEGER, UNIQUE (service, model, owner, trait, hash))",
)
Earlier = tuple[str, str, float | None, int | None]
"""A decision: trait, text, quality and sample id."""


def write_earlier(
    path: Path,
    service: str,
    model: str,
    owner: str,
    texts: Sequence[str],
    source: str,
    decided: Sequence[Earlier] = (),
) -> None:
    """Add texts and decisions of a person, as an earlier release did."""
    path.parent.mkdir(parents=True, exist_ok=True)
    own = (service, model, owner)
    with closing(sqlite3.connect(path)) as database, database:
        for table in _TABLES:
            database.execute(table)
        database.executemany(
            "INSERT INTO texts (service, model, owner, hash, text, source) VALUES (?, ?, ?, ?, ?, ?)",
            [(*own, text_hash(text), text, source) for text in texts],
        )
        database.executemany(
            "INSERT INTO decisions (service, model, owner, trait, hash, quality, sample_id)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(*own, trait, text_hash(text), quality, number) for trait, text, quality, number in decided],
        )

"""Vectors kept by text, in a folder of the system's temporary one: a second run encodes nothing."""

import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.encoders.reference import Reference
from traitbench.encoders import FULL, Encoder
from traitbench.encoders.registry import load_encoder
from traitbench.scoring.segments import embed

Vectors = NDArray[np.float32]

FOLDER = Path(tempfile.gettempdir()) / "traitbench-quality"

_SLICE = 1_000


@cache
def encoder(name: str | None = None) -> Encoder:
    """The encoder of that name, the default one when None."""
    FOLDER.mkdir(exist_ok=True)
    return load_encoder(name, cache=FOLDER)


def encoded(pieces: Sequence[str], name: str | None = None, mode: str = FULL) -> Vectors:
    """What the encoder gives, in the shape that the product's own functions ask for."""
    chosen = encoder(name)
    return _kept(f"{chosen.digest} {mode}", partial(chosen.encode, mode=mode), pieces)


def vectors(texts: Sequence[str], name: str | None = None) -> Vectors:
    """As the product embeds a text: the mean over its segments, at length one."""
    return embed(partial(encoded, name=name), texts)


def published(texts: Sequence[str]) -> Vectors:
    """The sentence vectors that MiniLM's authors published: the mean of the last layer over at most 256 tokens."""
    return _kept("published", lambda missing: np.array([_reference().published(text) for text in missing]), texts)


def _kept(kind: str, make: Callable[[Sequence[str]], Vectors], texts: Sequence[str]) -> Vectors:
    known = _memory(kind)
    missing = list(dict.fromkeys(text for text in texts if text not in known))
    for first in range(0, len(missing), _SLICE):
        made = dict(zip(own := missing[first : first + _SLICE], make(own), strict=True))
        known.update(made)
        with _store() as store:
            rows = [(kind, text, row.astype(np.float32).tobytes()) for text, row in made.items()]
            store.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
    return np.array([known[text] for text in texts])


@cache
def _memory(kind: str) -> dict[str, Vectors]:
    result = _store().execute("SELECT text, vector FROM vectors WHERE kind = ?", (kind,))
    return {text: np.frombuffer(vector, np.float32) for text, vector in result}


@cache
def _store() -> sqlite3.Connection:
    FOLDER.mkdir(exist_ok=True)
    store = sqlite3.connect(FOLDER / "vectors.db", timeout=60)
    store.execute("CREATE TABLE IF NOT EXISTS vectors (kind TEXT, text TEXT, vector BLOB, PRIMARY KEY (kind, text))")
    return store


@cache
def _reference() -> Reference:
    return Reference()

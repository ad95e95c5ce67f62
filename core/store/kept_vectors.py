"""The vectors of texts that batches have scored, and that are samples of nothing: so that the next batch is quick.

They are as the encoder made them, and found by the hash of the text. A hash tells nobody the text, but tells who has
the text already that it was scored here; so they go with their model, and when zero retention comes. There is a bound
to all of them together: those used longest ago leave first.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, delete, func, select, update

from traitbench.store import tables
from traitbench.store.engine import insert

_KEPT = tables.kept_vectors.c
_STORED = np.dtype("<f4")
_AT_ONCE = 500
_BESIDES = 250  # bytes of a row, and of its places in the indexes, that are not its vector
_NOTED_EVERY = timedelta(hours=1)
_ROOM = 0.9  # how full it is once something had to leave

Vector = NDArray[np.float32]
Hash = bytes


@dataclass(frozen=True)
class Shelf:
    """Whose vectors, and which: a model, an encoder's digest, a mode."""

    model_id: int
    encoder_digest: str
    mode: str


@dataclass(frozen=True)
class Encoded:
    """A piece as scoring needs it; `tokens` is None where nobody has counted them. `alone` says that it is a whole text
    which is encoded in one piece, as far as that is known."""

    vector: Vector
    tokens: int | None
    alone: bool = False


_OF_SHELF = (
    _KEPT.model_id == bindparam("model_id"),
    _KEPT.encoder_digest == bindparam("encoder_digest"),
    _KEPT.mode == bindparam("mode"),
)
# By place alone: of two indexes SQLite might take the one over models, and read all that a model has.
_SOME = select(_KEPT.text_hash, _KEPT.tokens, _KEPT.alone, _KEPT.vector).where(
    _KEPT.place.in_(bindparam("places", expanding=True))
)
_ANY = select(_KEPT.id).where(*_OF_SHELF).limit(1)


def some(connection: Connection, shelf: Shelf) -> bool:
    """Whether anything is kept there."""
    return connection.execute(_ANY, vars(shelf)).first() is not None


def read(connection: Connection, shelf: Shelf, hashes: Sequence[Hash]) -> dict[Hash, Encoded]:
    """Those of the vectors that are kept, by hash."""
    found = {}
    for first in range(0, len(hashes), _AT_ONCE):
        places = [_place(shelf, digest) for digest in hashes[first : first + _AT_ONCE]]
        for digest, tokens, alone, vector in connection.execute(_SOME, {"places": places}):
            found[bytes(digest)] = Encoded(np.frombuffer(vector, _STORED), tokens, alone)
    return found


def keep(connection: Connection, shelf: Shelf, encoded: Mapping[Hash, Encoded], *, now: datetime) -> None:
    """Keep vectors; what is there already stays as it is."""
    rows = [
        {
            **vars(shelf),
            "place": _place(shelf, digest),
            "text_hash": digest,
            "tokens": each.tokens,
            "alone": each.alone,
            "size": each.vector.nbytes + _BESIDES,
            "used_at": now,
            "vector": each.vector.astype(_STORED).tobytes(),
        }
        for digest, each in encoded.items()
    ]
    connection.execute(insert(connection, tables.kept_vectors).on_conflict_do_nothing(), rows)


def used(connection: Connection, shelf: Shelf, hashes: Iterable[Hash], *, now: datetime) -> None:
    """Vectors were of use, if it was not noted lately: others leave before them."""
    places, since = [_place(shelf, digest) for digest in hashes], now - _NOTED_EVERY
    for first in range(0, len(places), _AT_ONCE):
        these = (_KEPT.place.in_(places[first : first + _AT_ONCE]), _KEPT.used_at < since)
        connection.execute(update(tables.kept_vectors).where(*these).values(used_at=now))


def trim(connection: Connection, limit_bytes: int) -> None:
    """Let go of those used longest ago, when all together are more than this."""
    total = connection.execute(select(func.sum(_KEPT.size))).scalar_one() or 0
    if total <= limit_bytes:
        return
    leaving, excess = [], total - _ROOM * limit_bytes
    for row_id, size in connection.execute(select(_KEPT.id, _KEPT.size).order_by(_KEPT.used_at, _KEPT.id)):
        if excess <= 0:
            break
        leaving.append(row_id)
        excess -= size
    for first in range(0, len(leaving), _AT_ONCE):
        connection.execute(delete(tables.kept_vectors).where(_KEPT.id.in_(leaving[first : first + _AT_ONCE])))


def forget(connection: Connection, model_id: int) -> None:
    """Delete all that is a model's."""
    connection.execute(delete(tables.kept_vectors).where(_KEPT.model_id == model_id))


def _place(shelf: Shelf, digest: Hash) -> int:
    """Where the vector of a text stands: 64 bits of a hash over shelf and text."""
    whole = hashlib.sha256(f"{shelf.model_id} {shelf.encoder_digest} {shelf.mode} ".encode() + digest).digest()
    return int.from_bytes(whole[:8], signed=True)

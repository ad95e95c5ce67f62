"""Stored vectors of texts that batches have scored and that are not samples: they make the next batch faster.

A vector is stored as the encoder made it, under the hash of its text. The hash does not reveal the text, but anyone who
has the text could tell that it was scored here. So vectors are deleted with their model, and when zero retention is
switched on. Their total size is limited; the least recently used are deleted first.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, bindparam, delete, func, select, update

from traitbench.store import tables
from traitbench.store.database import insert

_VECTORS = tables.kept_vectors.c
# Half precision would halve the 4.6 kB of a text, but a stored vector would give another score than a new one.
_STORED = np.dtype("<f4")
_AT_ONCE = 500
_OVERHEAD = 250  # bytes of a row and its index entries, besides its vector
_RECORD_EVERY = timedelta(hours=1)
# Dropping the least recently used has a price: if more texts than fit are scored again in the same order, none is
# found.
_FILL = 0.9  # fraction of the limit to keep when vectors are deleted

Vector = NDArray[np.float32]
Hash = bytes


@dataclass(frozen=True)
class VectorKey:
    """What vectors belong to: a model, an encoder's digest and a mode."""

    model_id: int
    encoder_digest: str
    mode: str


@dataclass(frozen=True)
class Encoded:
    """An encoded piece of text; `tokens` is None if they were not counted.

    `is_single_segment` is True if the piece is known to be a whole text that is encoded as one segment.
    """

    vector: Vector
    tokens: int | None
    is_single_segment: bool = False


_BY_VECTOR_KEY = (
    _VECTORS.model_id == bindparam("model_id"),
    _VECTORS.encoder_digest == bindparam("encoder_digest"),
    _VECTORS.mode == bindparam("mode"),
)
# By place only: with more conditions, SQLite might use the index on models and read all rows of a model.
_BY_KEYS = select(_VECTORS.text_hash, _VECTORS.tokens, _VECTORS.alone, _VECTORS.vector).where(
    _VECTORS.place.in_(bindparam("places", expanding=True))
)
_ANY = select(_VECTORS.id).where(*_BY_VECTOR_KEY).limit(1)


def some(connection: Connection, vector_key: VectorKey) -> bool:
    """Whether any vector is stored for this model, encoder and mode."""
    return connection.execute(_ANY, vars(vector_key)).first() is not None


def read(connection: Connection, vector_key: VectorKey, hashes: Sequence[Hash]) -> dict[Hash, Encoded]:
    """The stored vectors by text hash; missing ones are left out."""
    encoded = {}
    for first in range(0, len(hashes), _AT_ONCE):
        keys = [_key(vector_key, digest) for digest in hashes[first : first + _AT_ONCE]]
        for digest, tokens, is_single_segment, vector in connection.execute(_BY_KEYS, {"places": keys}):
            encoded[bytes(digest)] = Encoded(np.frombuffer(vector, _STORED), tokens, is_single_segment)
    return encoded


def store(connection: Connection, vector_key: VectorKey, encoded: Mapping[Hash, Encoded], *, now: datetime) -> None:
    """Store vectors; existing ones are not changed."""
    rows = [
        {
            **vars(vector_key),
            "place": _key(vector_key, digest),
            "text_hash": digest,
            "tokens": each.tokens,
            "alone": each.is_single_segment,
            "size": each.vector.nbytes + _OVERHEAD,
            "used_at": now,
            "vector": each.vector.astype(_STORED).tobytes(),
        }
        for digest, each in encoded.items()
    ]
    connection.execute(insert(connection, tables.kept_vectors).on_conflict_do_nothing(), rows)


def used(connection: Connection, vector_key: VectorKey, hashes: Iterable[Hash], *, now: datetime) -> None:
    """Record that vectors were used, unless that was recorded recently; the least recently used are deleted first."""
    keys, since = [_key(vector_key, digest) for digest in hashes], now - _RECORD_EVERY
    for first in range(0, len(keys), _AT_ONCE):
        these = (_VECTORS.place.in_(keys[first : first + _AT_ONCE]), _VECTORS.used_at < since)
        connection.execute(update(tables.kept_vectors).where(*these).values(used_at=now))


def trim(connection: Connection, limit_bytes: int) -> None:
    """If all vectors together exceed the limit, delete the least recently used ones."""
    total = connection.execute(select(func.sum(_VECTORS.size))).scalar_one() or 0
    if total <= limit_bytes:
        return
    leaving, excess = [], total - _FILL * limit_bytes
    for row_id, size in connection.execute(select(_VECTORS.id, _VECTORS.size).order_by(_VECTORS.used_at, _VECTORS.id)):
        if excess <= 0:
            break
        leaving.append(row_id)
        excess -= size
    for first in range(0, len(leaving), _AT_ONCE):
        connection.execute(delete(tables.kept_vectors).where(_VECTORS.id.in_(leaving[first : first + _AT_ONCE])))


def forget(connection: Connection, model_id: int) -> None:
    """Delete all vectors of a model."""
    connection.execute(delete(tables.kept_vectors).where(_VECTORS.model_id == model_id))


def _key(vector_key: VectorKey, digest: Hash) -> int:
    """The place of a text's vector: 64 bits of a hash of model, encoder, mode and text."""
    whole = hashlib.sha256(
        f"{vector_key.model_id} {vector_key.encoder_digest} {vector_key.mode} ".encode() + digest
    ).digest()
    return int.from_bytes(whole[:8], signed=True)

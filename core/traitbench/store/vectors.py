"""The vectors of samples, stored by encoder: a text is encoded once, and its vector is deleted with the sample.

They are stored as the encoder made them (float32), so a training has the same result with stored vectors as with new
ones.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from traitbench.store import tables
from traitbench.store.database import insert

_VECTORS = tables.vectors.c
_STORED = np.dtype("<f4")
_KEEPING = select(tables.models.c.id).where(~tables.models.c.zero_data_retention)

Vector = NDArray[np.float32]


def read(connection: Connection, model_id: int, encoder_digest: str) -> dict[int, Vector]:
    """The vectors of a model's samples, by the sample's id; samples that were never encoded are missing."""
    statement = (
        select(_VECTORS.sample_id, _VECTORS.vector)
        .join(tables.samples, tables.samples.c.id == _VECTORS.sample_id)
        .where(tables.samples.c.model_id == model_id, _VECTORS.encoder_digest == encoder_digest)
    )
    return {row.sample_id: np.frombuffer(row.vector, dtype=_STORED) for row in connection.execute(statement)}


def store(connection: Connection, encoder_digest: str, vectors: Mapping[int, Vector]) -> None:
    """Store the vectors of samples that still exist."""
    existing = _existing(connection, list(vectors))
    rows = [
        {"sample_id": sample_id, "encoder_digest": encoder_digest, "vector": vector.astype(_STORED).tobytes()}
        for sample_id, vector in vectors.items()
        if sample_id in existing
    ]
    if rows:
        connection.execute(insert(connection, tables.vectors).on_conflict_do_nothing(), rows)


def adopt(connection: Connection, encoder_digest: str, vectors: Mapping[int, tuple[str, Vector]]) -> None:
    """Store vectors by sample id, each with the hash of its text, for samples that still have this text.

    Samples of models under zero retention are left out.
    """
    locked = select(tables.samples.c.id, tables.samples.c.content_sha256).where(
        tables.samples.c.id.in_(list(vectors)), tables.samples.c.model_id.in_(_KEEPING)
    )
    hashes = {row.id: row.content_sha256 for row in connection.execute(locked.with_for_update())}
    store(
        connection,
        encoder_digest,
        {sample_id: vector for sample_id, (digest, vector) in vectors.items() if hashes.get(sample_id) == digest},
    )


def _existing(connection: Connection, sample_ids: Sequence[int]) -> set[int]:
    rows = connection.execute(select(tables.samples.c.id).where(tables.samples.c.id.in_(sample_ids)).with_for_update())
    return set(rows.scalars())

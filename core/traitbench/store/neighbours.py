"""Queries on the samples that a version was trained with, and their vectors. Results are streamed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from traitbench.store import activations, tables, version_samples
from traitbench.store.version_samples import Records, number

_SAMPLES = tables.samples.c
_VECTORS = tables.vectors.c
_VERSIONS = tables.versions.c
_MODELS = tables.models.c
_TRAITS = tables.traits.c
_AT_ONCE = 500
_STORED = np.dtype("<f4")
_BY_ID = (
    select(_SAMPLES.id, _SAMPLES.trait_id, _SAMPLES.quality, _SAMPLES.content_sha256, _TRAITS.key)
    .join(tables.traits, _TRAITS.id == _SAMPLES.trait_id)
    .order_by(_SAMPLES.id)
    .execution_options(yield_per=_AT_ONCE)
)

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class TrainingSample:
    """A sample without its text; equal texts have equal hashes."""

    id: int
    trait_id: int
    quality: float
    content_sha256: str


def training_samples(connection: Connection, model_id: int, version_no: int) -> Iterator[TrainingSample]:
    """The samples that a version was trained with, by id, as far as the model still has them.

    They are the recorded ones. A version from before samples were recorded was trained with the first `sample_count`
    samples that were created by its time, or by that of the model, if it was imported. A promotion has replaced those.
    """
    version = connection.execute(
        select(_VERSIONS.id, _VERSIONS.sample_count, _VERSIONS.created_at, _MODELS.created_at)
        .join(tables.models, _MODELS.id == _VERSIONS.model_id)
        .where(_VERSIONS.model_id == model_id, _VERSIONS.version_no == version_no)
    ).one_or_none()
    if version is None:
        return
    version_id, count, made_at, born_at = version
    record = version_samples.read(connection, version_id)
    if record is not None:
        yield from _recorded(connection, model_id, record)
    elif not activations.promoted_after(connection, model_id, version_no):
        until = _SAMPLES.created_at <= max(made_at, born_at)
        first = _BY_ID.where(_SAMPLES.model_id == model_id, until, ~_SAMPLES.held_out).limit(count)
        yield from (TrainingSample(*row[:-1]) for row in connection.execute(first))


def _recorded(connection: Connection, model_id: int, record: Records) -> Iterator[TrainingSample]:
    used = record[~record["held_out"]]
    known = set(zip(used["sample"].tolist(), used["quality"].tolist(), strict=True))
    for *fields, key in connection.execute(_BY_ID.where(_SAMPLES.model_id == model_id)):
        sample = TrainingSample(*fields)
        if (number(key, sample.content_sha256), float(np.float32(sample.quality))) in known:
            yield sample


def vectors(connection: Connection, model_id: int, encoder_digest: str) -> Iterator[tuple[Sequence[str], Vectors]]:
    """The vectors of a model's texts, a chunk at a time: hashes of texts and their vectors (n_texts, d)."""
    statement = (
        select(_SAMPLES.content_sha256, _VECTORS.vector)
        .join(tables.samples, _SAMPLES.id == _VECTORS.sample_id)
        .where(_SAMPLES.model_id == model_id, _VECTORS.encoder_digest == encoder_digest)
        .execution_options(yield_per=_AT_ONCE)
    )
    for rows in connection.execute(statement).partitions():
        arrays = [np.frombuffer(row.vector, dtype=_STORED) for row in rows]
        yield [row.content_sha256 for row in rows], np.array(arrays, np.float32)

"""Queries on the samples that a version was trained with, and their vectors. Results are streamed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from traitbench.store import tables

_SAMPLES = tables.samples.c
_VECTORS = tables.vectors.c
_VERSIONS = tables.versions.c
_AT_ONCE = 500
_STORED = np.dtype("<f4")

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class SampleCutoff:
    """The samples of a training: the first `count` samples of the model that were created by `until`."""

    count: int
    until: datetime


@dataclass(frozen=True)
class TrainingSample:
    """A sample without its text; equal texts have equal hashes."""

    id: int
    trait_id: int
    quality: float
    content_sha256: str


def sample_cutoff(connection: Connection, model_id: int, version_no: int) -> SampleCutoff | None:
    """Which samples a version was trained with; None if the version is gone.

    Once a model has a version, samples are only added, or all are purged. The samples of an imported model came with
    it, whenever its versions were made.
    """
    statement = (
        select(_VERSIONS.sample_count, _VERSIONS.created_at, tables.models.c.created_at)
        .join(tables.models, tables.models.c.id == _VERSIONS.model_id)
        .where(_VERSIONS.model_id == model_id, _VERSIONS.version_no == version_no)
    )
    row = connection.execute(statement).one_or_none()
    return None if row is None else SampleCutoff(row[0], max(row[1], row[2]))


def training_samples(connection: Connection, model_id: int, cutoff: SampleCutoff) -> Iterator[TrainingSample]:
    """The samples of a training, by id."""
    statement = (
        select(_SAMPLES.id, _SAMPLES.trait_id, _SAMPLES.quality, _SAMPLES.content_sha256)
        .where(_SAMPLES.model_id == model_id, _SAMPLES.created_at <= cutoff.until, ~_SAMPLES.held_out)
        .order_by(_SAMPLES.id)
        .limit(cutoff.count)
        .execution_options(yield_per=_AT_ONCE)
    )
    return (TrainingSample(*row) for row in connection.execute(statement))


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

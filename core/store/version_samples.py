"""The samples of a model when a version was trained, without their texts.

So two versions can be compared by what they were trained with and measured on, even if the samples have changed since.
A sample is recorded as numbers: a part of a hash of its trait and text, its quality, and whether it was held out.
"""

import hashlib
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, select
from sqlalchemy import insert as insert_into

from traitbench.store import tables

RECORD = np.dtype([("sample", "<u8"), ("quality", "<f4"), ("held_out", "?"), ("must_pass", "?")])
"""One sample: the number of its trait and text (`number`), its quality, and whether it is a test sample."""

Records = NDArray[Any]

_SAMPLES = tables.version_samples.c
_VERSIONS = tables.versions.c


class Recorded(Protocol):
    """The fields of a sample that are recorded."""

    @property
    def trait(self) -> str:
        """The key of its trait."""
        ...

    @property
    def content_sha256(self) -> str:
        """The SHA-256 of its text."""
        ...

    @property
    def quality(self) -> float:
        """Its quality, 0-1."""
        ...

    @property
    def held_out(self) -> bool:
        """Whether it is a test sample."""
        ...

    @property
    def must_pass(self) -> bool:
        """Whether its score has to be on its pole's side."""
        ...


def number(trait: str, content_sha256: str) -> int:
    """The first 64 bits of SHA-256 over a trait's key and a text's hash; equal for equal samples of two models."""
    return int.from_bytes(hashlib.sha256(f"{trait}\0{content_sha256}".encode()).digest()[:8], "little")


def records(samples: Iterable[Recorded]) -> Records:
    """(n,) of `RECORD`, sorted by all fields, so that equal samples give equal bytes in any order."""
    rows = [(number(each.trait, each.content_sha256), each.quality, each.held_out, each.must_pass) for each in samples]
    return np.sort(np.array(rows, RECORD))


def add(connection: Connection, version_id: int, samples: Iterable[Recorded]) -> None:
    """Record the samples of a version."""
    fields = {"version_id": version_id, "samples": records(samples).tobytes()}
    connection.execute(insert_into(tables.version_samples).values(**fields))


def read(connection: Connection, version_id: int) -> Records | None:
    """The recorded samples of a version; None if there is no record: an older release, an import or a purge."""
    statement = select(_SAMPLES.samples).where(_SAMPLES.version_id == version_id)
    stored: bytes | None = connection.execute(statement).scalar_one_or_none()
    return None if stored is None or len(stored) % RECORD.itemsize else np.frombuffer(stored, RECORD)


def purge(connection: Connection, model_id: int) -> None:
    """Delete the records of all versions of a model."""
    mine = select(_VERSIONS.id).where(_VERSIONS.model_id == model_id)
    connection.execute(delete(tables.version_samples).where(_SAMPLES.version_id.in_(mine)))

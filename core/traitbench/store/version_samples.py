"""The samples of a model when a version was trained, without their texts.

So two versions can be compared by what they were trained with and measured on, even if the samples have changed since.
A sample is recorded as numbers: a part of a hash of its trait and text, its quality, and whether it was held out.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BigInteger, Connection, delete, func, literal, select, type_coerce
from sqlalchemy import insert as insert_into

from traitbench.store import tables
from traitbench.store.samples import Label

RECORD = np.dtype([("sample", "<u8"), ("quality", "<f4"), ("held_out", "?"), ("must_pass", "?")])
"""One sample: the number of its trait and text (`number`), its quality, and whether it is a test sample."""

Records = NDArray[Any]

_SAMPLES = tables.version_samples.c
_VERSIONS = tables.versions.c
_MODELS = tables.models.c
_AT_ONCE = 1_000
_IDENTITY = ("sample", "quality", "held_out")


def number(trait: str, content_sha256: str) -> int:
    """The first 64 bits of SHA-256 over a trait's key and a text's hash; equal for equal samples of two models."""
    return int.from_bytes(hashlib.sha256(f"{trait}\0{content_sha256}".encode()).digest()[:8], "little")


def records(samples: Iterable[Label]) -> Records:
    """(n,) of `RECORD`, sorted by all fields, so that equal samples give equal bytes in any order."""
    rows = [(number(each.trait, each.content_sha256), each.quality, each.held_out, each.must_pass) for each in samples]
    return np.sort(np.array(rows, RECORD))


def add(connection: Connection, version_id: int, samples: Iterable[Label]) -> None:
    """Record the samples of a version."""
    fields = {"version_id": version_id, "samples": records(samples).tobytes()}
    connection.execute(insert_into(tables.version_samples).values(**fields))


def copy(connection: Connection, version_id: int, *, to: int) -> None:
    """Give another version the record of a version, if there is one."""
    source = select(literal(to), _SAMPLES.samples).where(_SAMPLES.version_id == version_id)
    connection.execute(insert_into(tables.version_samples).from_select(["version_id", "samples"], source))


def read(connection: Connection, version_id: int) -> Records | None:
    """The recorded samples of a version; None if there is no record: an older release, an import or a purge."""
    statement = select(_SAMPLES.samples).where(_SAMPLES.version_id == version_id)
    stored: bytes | None = connection.execute(statement).scalar_one_or_none()
    return None if stored is None or len(stored) % RECORD.itemsize else np.frombuffer(stored, RECORD)


def stored(connection: Connection, model_id: int, *, most_bytes: int) -> dict[int, bytes]:
    """The records of a model's versions as they are stored, by version id: the newest, at most so many bytes."""
    size = func.length(_SAMPLES.samples)
    statement = select(_SAMPLES.version_id, size).join(tables.versions, _VERSIONS.id == _SAMPLES.version_id)
    by_version: dict[int, bytes] = {}
    for version_id, length in connection.execute(
        statement.where(_VERSIONS.model_id == model_id).order_by(_VERSIONS.version_no.desc())
    ).all():
        most_bytes -= length
        if most_bytes < 0:
            break
        one = select(_SAMPLES.samples).where(_SAMPLES.version_id == version_id)
        by_version[version_id] = bytes(connection.execute(one).scalar_one())
    return by_version


def store(connection: Connection, version_id: int, packed: bytes) -> None:
    """Give a version a record as `stored` returns it."""
    connection.execute(insert_into(tables.version_samples).values(version_id=version_id, samples=packed))


def unpacked(packed: bytes) -> Records:
    """The records in these bytes; raise `ValueError` unless `records` could have made them."""
    if not packed:
        return np.empty(0, RECORD)
    read = np.frombuffer(packed, RECORD)
    flags = np.frombuffer(packed, np.uint8).reshape(len(read), RECORD.itemsize)[:, -2:]
    sound = (
        (flags <= 1).all()
        and np.isfinite(read["quality"]).all()
        and ((read["quality"] >= 0) & (read["quality"] <= 1)).all()
        and (read["held_out"] | ~read["must_pass"]).all()
        and np.sort(read).tobytes() == packed
    )
    if not sound:
        raise ValueError
    return read


def recorded(connection: Connection, version_id: int) -> bool:
    """Whether the samples of a version are recorded, see `read`."""
    return connection.execute(select(_SAMPLES.version_id).where(_SAMPLES.version_id == version_id)).first() is not None


def purge(connection: Connection, model_id: int) -> None:
    """Delete the records of all versions of a model."""
    mine = select(_VERSIONS.id).where(_VERSIONS.model_id == model_id)
    connection.execute(delete(tables.version_samples).where(_SAMPLES.version_id.in_(mine)))


def add_missing(connection: Connection, model_id: int) -> None:
    """Record the samples of versions from before samples were recorded, as long as that can be told.

    Until the samples of a model are replaced, a version was trained with the first `sample_count` of them, created by
    its time.
    """
    recorded = select(_SAMPLES.version_id)
    columns = (_VERSIONS.id, _VERSIONS.sample_count, type_coerce(_VERSIONS.created_at, BigInteger))
    missing = select(*columns).where(_VERSIONS.model_id == model_id, _VERSIONS.id.not_in(recorded))
    rows = connection.execute(missing).all()
    if not rows:
        return
    born = connection.execute(
        select(type_coerce(_MODELS.created_at, BigInteger)).where(_MODELS.id == model_id)
    ).scalar()
    created_at, existing = _existing(connection, model_id)
    for version_id, count, made_at in rows:
        used = existing[created_at <= max(made_at or 0, born or 0)][:count]
        if len(used) == count:
            fields = {"version_id": version_id, "samples": np.sort(used).tobytes()}
            connection.execute(insert_into(tables.version_samples).values(**fields))


def _existing(connection: Connection, model_id: int) -> tuple[NDArray[np.int64], Records]:
    """The samples that a model is trained with, by id: their times (n,) and their records (n,)."""
    samples, traits = tables.samples.c, tables.traits.c
    statement = (
        select(type_coerce(samples.created_at, BigInteger), traits.key, samples.content_sha256, samples.quality)
        .join(tables.traits, traits.id == samples.trait_id)
        .where(samples.model_id == model_id, ~samples.held_out)
        .order_by(samples.id)
        .execution_options(yield_per=_AT_ONCE)
    )
    times, chunks = [np.empty(0, np.int64)], [np.empty(0, RECORD)]
    for rows in connection.execute(statement).partitions():
        times.append(np.array([row[0] for row in rows], np.int64))
        chunks.append(
            np.array([(number(key, digest), quality, False, False) for _, key, digest, quality in rows], RECORD)
        )
    return np.concatenate(times), np.concatenate(chunks)


def recorded_of(record: Records, labels: Iterable[Label]) -> Iterator[Label]:
    """The labels that a record is of, in their order; of equal ones the first."""
    left = Counter(zip(*(record[name].tolist() for name in _IDENTITY), strict=True))
    for label in labels:
        own = (number(label.trait, label.content_sha256), float(np.float32(label.quality)), label.held_out)
        if left[own] > 0:
            left[own] -= 1
            yield label


def changes(a: Records, b: Records) -> tuple[int, int, int]:
    """How many samples were added, removed and relabelled from a to b; equal texts of a trait count each."""
    had, has = (Counter(zip(each["sample"].tolist(), each["quality"].tolist(), strict=True)) for each in (a, b))
    lost, gained = _by_sample(had - has), _by_sample(has - had)
    relabelled = sum(min(count, gained[sample]) for sample, count in lost.items())
    return gained.total() - relabelled, lost.total() - relabelled, relabelled


def _by_sample(counts: Counter[tuple[int, float]]) -> Counter[int]:
    """The counts without regard to the quality."""
    by_sample: Counter[int] = Counter()
    for (sample, _), count in counts.items():
        by_sample[sample] += count
    return by_sample

"""The position of each sample of a version when it was held out, stored with the version.

The position of a training sample is from the fit that did not see it, and that of a test sample from the version. A
version has them from its training, from a bundle, or from a request (`ask`) that a worker answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, func, select, update

from traitbench.store import tables
from traitbench.store.database import insert
from traitbench.store.rows import readable

RECORD = np.dtype([("sample", "<i8"), ("position", "<f8"), ("trait", "<u2"), ("side", "i1"), ("held_out", "?")])
"""One sample: its id; its position in 0..1, NaN if it was not held out; the index of its trait in the snapshot; the
side of its label, 1 or -1, or 0 for a label in the middle; and whether it is a test sample."""

Records = NDArray[Any]

_POSITIONS = tables.version_positions.c
_ASKED = tables.asked_positions.c
_VERSIONS = tables.versions.c
_OLDEST = 100


@dataclass(frozen=True, eq=False)
class Positions:
    """The samples (n,) of a version, by rising id, and the keys of its traits in the order of the snapshot."""

    traits: Sequence[str]
    samples: Records


@dataclass(frozen=True)
class PositionsRequest:
    """How often a worker has begun to find the positions of a version, and why there will be none, if that is so."""

    attempts: int
    refusal: str | None


@dataclass(frozen=True)
class Asked:
    """A version whose positions a worker has to find, and how often one has begun."""

    version_id: int
    model_id: int
    attempts: int


def records(rows: Sequence[tuple[int, float, int, float, bool]]) -> Records:
    """(n,) of `RECORD`, sorted; a row is a sample's id, position, trait index, quality, and whether it is a test."""
    made = [
        (sample_id, position, trait, (quality > 0.5) - (quality < 0.5), held_out)
        for sample_id, position, trait, quality, held_out in rows
    ]
    return np.sort(np.array(made, RECORD), order="sample")


def add(connection: Connection, version_id: int, positions: Positions) -> None:
    """Store the positions of a version, which answers a request for them."""
    for table in (tables.version_positions, tables.asked_positions):
        connection.execute(delete(table).where(table.c.version_id == version_id))
    fields = {"traits": list(positions.traits), "samples": positions.samples.tobytes()}
    connection.execute(insert(connection, tables.version_positions).values(version_id=version_id, **fields))


def read(connection: Connection, version_id: int) -> Positions | None:
    """The positions of a version; None if it has none, or none that can be read."""
    statement = select(_POSITIONS.traits, _POSITIONS.samples).where(_POSITIONS.version_id == version_id)
    row = readable(connection.execute(statement).one_or_none)
    if row is None or len(row.samples) % RECORD.itemsize:
        return None
    samples = np.frombuffer(row.samples, RECORD)
    sound = isinstance(row.traits, list) and all(isinstance(key, str) for key in row.traits)
    return Positions(row.traits, samples) if sound and (samples["trait"] < len(row.traits)).all() else None


def copy(connection: Connection, version_id: int, ids: Mapping[int, int], *, to: int) -> None:
    """Give another version the positions of a version; `ids` are those of its samples there, others are left out."""
    stored = read(connection, version_id)
    if stored is not None:
        add(connection, to, Positions(stored.traits, renumbered(stored.samples, ids)))


def renumbered(samples: Records, ids: Mapping[int, int]) -> Records:
    """The samples that have another id in `ids`, with it."""
    own = samples[[each in ids for each in samples["sample"].tolist()]].copy()
    own["sample"] = [ids[each] for each in own["sample"].tolist()]
    return np.sort(own, order="sample")


def newest(connection: Connection, model_id: int, *, most_bytes: int) -> set[int]:
    """The newest versions of a model whose positions take at most so many bytes, by id."""
    size = func.length(_POSITIONS.samples)
    statement = select(_POSITIONS.version_id, size).join(tables.versions, _VERSIONS.id == _POSITIONS.version_id)
    mine = statement.where(_VERSIONS.model_id == model_id).order_by(_VERSIONS.version_no.desc())
    chosen = set()
    for version_id, length in connection.execute(mine).all():
        most_bytes -= length
        if most_bytes < 0:
            break
        chosen.add(version_id)
    return chosen


def unpacked(packed: bytes, *, samples: int, traits: int) -> Records:
    """The records in these bytes; raise `ValueError` unless they are of so many samples and traits, counted from 0."""
    read = np.frombuffer(packed, RECORD) if packed else np.empty(0, RECORD)
    flags = np.frombuffer(packed, np.uint8).reshape(len(read), RECORD.itemsize)[:, -1:]
    position, own = read["position"], read["sample"]
    sound = (
        (flags <= 1).all()
        and (np.isnan(position) | ((position >= 0) & (position <= 1))).all()
        and (np.abs(read["side"].astype(int)) <= 1).all()
        and (read["trait"] < traits).all()
        and (np.diff(own) > 0).all()
        and (not len(own) or (own[0] >= 0 and own[-1] < samples))
    )
    if not sound:
        raise ValueError
    return read


def purge(connection: Connection, model_id: int) -> None:
    """Delete the positions of all versions of a model, and the requests for them."""
    mine = select(_VERSIONS.id).where(_VERSIONS.model_id == model_id)
    for table in (tables.version_positions, tables.asked_positions):
        connection.execute(delete(table).where(table.c.version_id.in_(mine)))


# ---- requests --------------------------------------------------------------------------------------------------------


def ask(connection: Connection, version_id: int) -> None:
    """Let a worker find the positions of a version, unless that was asked before."""
    statement = insert(connection, tables.asked_positions).values(version_id=version_id)
    connection.execute(statement.on_conflict_do_nothing(index_elements=["version_id"]))


def request(connection: Connection, version_id: int) -> PositionsRequest | None:
    """The request for the positions of a version; None if there is none."""
    statement = select(_ASKED.attempts, _ASKED.refusal).where(_ASKED.version_id == version_id)
    row = connection.execute(statement).one_or_none()
    return None if row is None else PositionsRequest(*row)


def asked(connection: Connection) -> list[Asked]:
    """The oldest requests that are not answered."""
    statement = select(_ASKED.version_id, _VERSIONS.model_id, _ASKED.attempts)
    statement = statement.join(tables.versions, _VERSIONS.id == _ASKED.version_id).where(_ASKED.refusal.is_(None))
    return [Asked(*row) for row in connection.execute(statement.order_by(_ASKED.version_id).limit(_OLDEST))]


def attempt(connection: Connection, version_id: int) -> None:
    """Count an attempt to answer a request."""
    mine = update(tables.asked_positions).where(_ASKED.version_id == version_id)
    connection.execute(mine.values(attempts=_ASKED.attempts + 1))


def refuse(connection: Connection, version_id: int, reason: str) -> None:
    """Answer a request with the reason why there will be no positions."""
    mine = update(tables.asked_positions).where(_ASKED.version_id == version_id)
    connection.execute(mine.values(refusal=reason))

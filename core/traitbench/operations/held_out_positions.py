"""Find the positions of a version's samples when they were held out, for a version that has none.

A training stores them. A version from before, or from a bundle without them, gets them once, when they are asked for:
its traits are fitted again with the settings that it chose, in the worker but not as a run, so no model is busy. They
are those of its training only if its samples are the same, and then the fit gives the version's axes again, but for
rounding.

A worker that is killed begins again. Every attempt is counted, so that a version that brings the worker down is given
up. Several workers may find the same positions; the first to finish stores them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Engine

from traitbench.contract.metrics import Metrics
from traitbench.contract.versions import Version
from traitbench.encoders import Encoder, EncoderUnavailable, Vectors
from traitbench.encoders.registry import load_encoder_of
from traitbench.errors import UnreadableRow
from traitbench.fitting.collect import collect
from traitbench.fitting.fit import EncoderIdentity, out_of_fold
from traitbench.local.training import effort_of, label_axes
from traitbench.operations import sample_vectors
from traitbench.operations.training import positions_of
from traitbench.scoring import card
from traitbench.scoring.segments import embed
from traitbench.scoring.snapshot import Snapshot, SnapshotInvalid
from traitbench.settings import Settings
from traitbench.store import models, neighbours, samples, traits, vectors, version_positions, version_samples, versions
from traitbench.store.database import reading, writing
from traitbench.store.samples import Label
from traitbench.store.traits import TraitRow
from traitbench.store.vectors import Vector
from traitbench.store.version_positions import Asked, Positions
from traitbench.store.version_samples import Records

_MOST_ATTEMPTS = 5
_ROUNDING = 1e-4  # of the largest number of an axis
_AT_ONCE = 16  # texts, so that a run beside them does not wait long


class _Impossible(Exception):
    """The positions can never be found; the argument is the reason, as `version_positions.refuse` stores it."""


def answer(engine: Engine, settings: Settings, asked: Asked) -> None:
    """Store the positions that were asked for, or the reason why there are none."""
    with writing(engine) as connection:
        if asked.attempts >= _MOST_ATTEMPTS:
            version_positions.refuse(connection, asked.version_id, "failed")
            return
        version_positions.attempt(connection, asked.version_id)
    try:
        positions = _work_out(engine, settings, asked)
    except _Impossible as reason:
        with writing(engine) as connection:
            version_positions.refuse(connection, asked.version_id, str(reason))
        return
    with writing(engine) as connection:
        # Locked, so that a purge deletes what is written here or is seen here.
        model = models.hold_by_id(connection, asked.model_id)
        is_there = versions.by_id(connection, asked.version_id) is not None
        if model is not None and is_there and not model.zero_data_retention:
            version_positions.add(connection, asked.version_id, positions)


@dataclass(frozen=True, eq=False)
class _Inputs:
    """A version with the samples that it was trained with and measured on, and their vectors by hash as stored.

    `is_recorded` says whether a record of the version's training names these samples.
    """

    snapshot: Snapshot
    metrics: Metrics
    traits: Sequence[TraitRow]
    trained: Sequence[Label]
    tests: Sequence[Label]
    is_recorded: bool
    known: dict[str, Vector]


def _work_out(engine: Engine, settings: Settings, asked: Asked) -> Positions:
    with reading(engine) as connection:
        inputs = _read(connection, asked)
    try:
        encoder = load_encoder_of(inputs.snapshot.encoder, configured=settings.encoder, cache=settings.cache)
    except EncoderUnavailable:
        raise _Impossible("encoder") from None
    with reading(engine) as connection:
        stored = vectors.read(connection, asked.model_id, encoder.digest)
    every = [*inputs.trained, *inputs.tests]
    inputs.known.update({label.content_sha256: stored[label.id] for label in every if label.id in stored})
    _encode(engine, encoder, every, inputs.known)
    positions = _positions(encoder, settings, inputs)
    of_tests = _of_tests(engine, encoder, inputs)
    return positions_of(inputs.snapshot, inputs.trained, positions, inputs.tests, of_tests)


def _read(connection: Connection, asked: Asked) -> _Inputs:
    try:
        version = versions.read(connection, asked.version_id)
        snapshot = Snapshot.from_json(versions.snapshot(connection, asked.version_id))
    except (UnreadableRow, SnapshotInvalid, LookupError):
        raise _Impossible("damaged") from None
    rows = {row.key: row for row in traits.rows(connection, asked.model_id)}
    if not rows.keys() >= {trait.key for trait in snapshot.traits}:
        raise _Impossible("changed")
    record = version_samples.read(connection, asked.version_id)
    trained, tests = _samples(connection, asked, record, version)
    own = [rows[trait.key] for trait in snapshot.traits if rows[trait.key].kind == "extrinsic"]
    return _Inputs(snapshot, version.metrics, own, trained, tests, record is not None, {})


def _samples(
    connection: Connection, asked: Asked, record: Records | None, version: Version
) -> tuple[list[Label], list[Label]]:
    """The samples that the version was trained with and measured on, if the model still has all of them."""
    every = samples.all_labels(connection, asked.model_id)
    if record is not None:
        own = list(version_samples.recorded_of(record, every))
        if len(own) < len(record):
            raise _Impossible("changed")
        return [each for each in own if not each.held_out], [each for each in own if each.held_out]
    ids = {each.id for each in neighbours.training_samples(connection, asked.model_id, version.version_no)}
    if len(ids) != version.sample_count:
        raise _Impossible("changed")
    return [each for each in every if each.id in ids], [each for each in every if each.held_out]


def _encode(engine: Engine, encoder: Encoder, labels: Sequence[Label], known: dict[str, Vector]) -> None:
    """Encode the texts without a vector, and store their vectors: another attempt goes on from there."""
    missing = list({each.content_sha256: each for each in labels if each.content_sha256 not in known}.values())
    for some in _chunks(missing):
        with reading(engine) as connection:
            texts = samples.texts(connection, [label.id for label in some])
        if len(texts) < len(some):
            raise _Impossible("changed")
        rows = embed(encoder.encode, [texts[label.id] for label in some])
        known |= {label.content_sha256: row for label, row in zip(some, rows, strict=True)}
        digests = {label.id: (label.content_sha256, row) for label, row in zip(some, rows, strict=True)}
        sample_vectors.adopt(engine, encoder.digest, digests)


def _positions(encoder: Encoder, settings: Settings, inputs: _Inputs) -> dict[str, NDArray[np.float64]]:
    """The out-of-fold positions (n,) by trait key."""
    uses_labels = inputs.metrics.use_labels is not False
    label_axis: Callable[[TraitRow], Vector | None] = (
        label_axes(encoder, settings.cache).of if uses_labels else lambda _: None
    )
    # Spellings decide about resemblance only.
    collected = collect(inputs.traits, inputs.trained, inputs.known, spellings={}, axes={}, label_axis=label_axis)
    chosen: dict[str, Any] = {
        key: each.model_dump(include={"shares", "parameters"}) for key, each in inputs.metrics.traits.items()
    }
    fitted = out_of_fold(
        collected,
        encoder=EncoderIdentity.of(encoder),
        effort=effort_of(inputs.metrics.effort),
        fixed=chosen,
        modes=encoder.modes,
    )
    axes = {axis.key: axis.vector for axis in inputs.snapshot.traits}
    if not all(_is_same(result.vector, axes[key], inputs.is_recorded) for key, result in fitted.items()):
        raise _Impossible("changed")
    return {key: result.positions for key, result in fitted.items()}


def _is_same(vector: Vector, axis: Vector, is_recorded: bool) -> bool:
    """Whether a fit gave the axis of the version, to the bit unless a record says that the samples are the same."""
    # Another kind of processor rounds otherwise.
    most = _ROUNDING * float(np.abs(axis).max(initial=0)) if is_recorded else 0.0
    return vector.shape == axis.shape and float(np.abs(vector - axis).max(initial=0)) <= most


def _of_tests(engine: Engine, encoder: Encoder, inputs: _Inputs) -> NDArray[np.float64]:
    """(n_tests, n_traits): the positions of the test samples by the version."""
    rows = [np.empty((0, len(inputs.snapshot.traits)))]
    for some in _chunks(inputs.tests):
        own: Vectors = np.array([inputs.known[label.content_sha256] for label in some], np.float32)
        if card.is_scored_whole(inputs.snapshot):
            rows.append(card.of_vectors(inputs.snapshot, own))
            continue
        with reading(engine) as connection:
            texts = samples.texts(connection, [label.id for label in some])
        if len(texts) < len(some):
            raise _Impossible("changed")
        rows.append(card.positions(inputs.snapshot, encoder.encode, [texts[label.id] for label in some], own))
    return np.concatenate(rows)


def _chunks(labels: Sequence[Label]) -> Iterator[Sequence[Label]]:
    for first in range(0, len(labels), _AT_ONCE):
        yield labels[first : first + _AT_ONCE]

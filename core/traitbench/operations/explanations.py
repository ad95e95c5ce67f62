"""Explain a score: what its sentences contribute, and which samples are most similar to the text.

The samples are those that the version was trained with, as far as they still exist; none under zero retention. Every
caller who may score sees their ids and similarities. Only a caller who may list the model's samples sees their texts. A
similarity has two decimals: enough to judge by, too few to reconstruct a text by trial and error.
"""

from bisect import insort
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from traitbench.contract import operations
from traitbench.contract.explanations import Explanation, Nearest, Neighbour
from traitbench.encoders import leave_one_out_of
from traitbench.encoders.scheduler import SCHEDULER
from traitbench.errors import InsufficientScope, ModelNotFound, NamespaceForbidden
from traitbench.operations import access, serving
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.operations.serving import Served, encoding
from traitbench.scoring.explain import Explained, Reasons, explain
from traitbench.scoring.snapshot import Snapshot
from traitbench.store import models, neighbours, samples, traits
from traitbench.store.database import reading

_NEAREST = 3
_RETENTION = "The model is under zero data retention: there are no samples to compare with."
_GONE = "The samples that this version was trained with no longer exist, so no similar samples are shown."
_NO_VECTORS = "The samples have no vectors from the encoder {encoder}, so no similar samples are shown."
_NO_TOKEN = "The encoder knows no word of the text, so no similar samples are shown."
_NO_TEXTS = "This key may not list the model's samples, so their texts are left out."


def explained(
    context: Context, caller: Caller, handle: str, served: Served, text: str, keys: Collection[str], *, quote: bool
) -> dict[str, Explanation]:
    """Explanations by trait key, for the traits in `keys`; `quote` includes the text of each part."""
    encoder = serving.of_version(context, served.snapshot)
    with SCHEDULER.interactive():
        # Texts made only for the explanation are not worth caching.
        encode, leave_one_out = encoding(context, served).encode, leave_one_out_of(encoder)
        result = explain(served.snapshot, encode, text, look=encoder.encode, leave_one_out=leave_one_out)
    near = _neighbourhood(context, served, result, keys, may_read=_may_read(context, caller, handle))
    return {
        key: _explanation(reasons, near.nearest.get(key), near.note, text if quote else None)
        for key, reasons in result.traits.items()
        if key in keys
    }


def _may_read(context: Context, caller: Caller, handle: str) -> bool:
    try:
        access.permit(context, caller, operations.SAMPLES_LIST, handle)
    except (InsufficientScope, NamespaceForbidden, ModelNotFound):
        return False
    return True


def _explanation(reasons: Reasons, nearest: Nearest | None, note: str | None, text: str | None) -> Explanation:
    fields = reasons.to_wire()
    if text is not None:
        fields["parts"] = [part | {"text": text[part["start"] : part["end"]]} for part in fields["parts"]]
    return Explanation.model_validate(fields | {"nearest": nearest, "note": note})


# ---- samples like the text -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Neighbourhood:
    """The nearest samples by trait, and a note on what is missing."""

    nearest: Mapping[str, Nearest]
    note: str | None


@dataclass(frozen=True)
class _Similarities:
    """By the hash of a sample's text: its cosine to the text and, for intrinsic traits, its position on the axis."""

    cosines: dict[str, float] = field(default_factory=dict)
    positions: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))


@dataclass(frozen=True, order=True)
class _Near:
    """A sample, ordered by distance and then by id, so that the oldest of equally near ones comes first."""

    distance: float
    id: int
    quality: float | None
    content_sha256: str


class _Pole:
    """The nearest samples at one pole of a trait; a text shared by several samples counts once, for the oldest."""

    def __init__(self) -> None:
        self.nearest: list[_Near] = []

    def add(self, near: _Near) -> None:
        """Add a sample if it is near enough; call in the order of ids."""
        if near.content_sha256 not in {each.content_sha256 for each in self.nearest}:
            insort(self.nearest, near)
            del self.nearest[_NEAREST:]


def _neighbourhood(
    context: Context, served: Served, result: Explained, keys: Collection[str], *, may_read: bool
) -> _Neighbourhood:
    if not result.vector.any():
        return _Neighbourhood({}, _NO_TOKEN)
    with reading(context.engine) as connection:
        # Read again: zero retention may have been switched on since the model was looked up.
        model = models.find_by_id(connection, served.model.id)
        if model is None or model.zero_data_retention:
            return _Neighbourhood({}, _RETENTION)
        rows = [row for row in traits.rows(connection, model.id) if row.key in keys]
        similar = _similarities(connection, model.id, served.snapshot, result.vector, rows)
        count, sides = _nearest_by_pole(connection, served, rows, similar)
        if not count or not similar.cosines:
            encoder = served.snapshot.encoder.id
            return _Neighbourhood({}, _NO_VECTORS.format(encoder=encoder) if count else _GONE)
        ids = [near.id for side in sides.values() for near in side.nearest]
        texts = samples.texts(connection, ids) if may_read else {}
    nearest = {
        row.key: Nearest(
            positive=[_neighbour(near, texts) for near in sides[row.id, True].nearest],
            negative=[_neighbour(near, texts) for near in sides[row.id, False].nearest],
        )
        for row in rows
    }
    return _Neighbourhood(nearest, None if may_read else _NO_TEXTS)


def _similarities(
    connection: Connection,
    model_id: int,
    snapshot: Snapshot,
    vector: NDArray[np.float32],
    rows: Sequence[traits.TraitRow],
) -> _Similarities:
    similar = _Similarities()
    unlabelled = {row.key for row in rows if row.kind == "intrinsic"}
    axes = [axis for axis in snapshot.traits if axis.key in unlabelled]
    for hashes, vectors in neighbours.vectors(connection, model_id, snapshot.encoder.digest):
        similar.cosines.update(zip(hashes, map(float, _dots(vectors, vector)), strict=True))
        for axis in axes:
            positions = _dots(vectors, axis.vector) + axis.offset
            similar.positions[axis.key].update(zip(hashes, map(float, positions), strict=True))
    return similar


def _dots(rows: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float64]:
    """Dot products (n_texts,), row by row: the rounding of a matrix product depends on its shape."""
    dots: NDArray[np.float64] = (rows * vector).sum(axis=1, dtype=np.float64)
    return dots


def _nearest_by_pole(
    connection: Connection, served: Served, rows: Sequence[traits.TraitRow], similar: _Similarities
) -> tuple[int, Mapping[tuple[int, bool], _Pole]]:
    """The number of training samples, and the nearest ones by trait id and whether the pole is the positive one."""
    sides = {(row.id, above): _Pole() for row in rows for above in (True, False)}
    count = 0
    for sample in neighbours.training_samples(connection, served.model.id, served.version_no):
        count += 1
        cosine = similar.cosines.get(sample.content_sha256)
        for row in rows if cosine is not None else ():
            own = sample.trait_id == row.id
            position = sample.quality - 0.5 if own else similar.positions[row.key].get(sample.content_sha256, 0.0)
            if position and cosine is not None:
                quality = sample.quality if own else None
                sides[row.id, position > 0].add(_Near(-cosine, sample.id, quality, sample.content_sha256))
    return count, sides


def _neighbour(near: _Near, texts: Mapping[int, str]) -> Neighbour:
    # Adding 0 turns -0.0 into 0.0.
    similarity = round(-near.distance, 2) + 0.0
    return Neighbour(id=near.id, quality=near.quality, similarity=similarity, text=texts.get(near.id))

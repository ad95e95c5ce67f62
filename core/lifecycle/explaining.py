"""The reasons of a score: what its sentences add up to, and which samples are like the text.

The samples are those that the version learnt from, as far as they are here; none under zero retention. Which they are,
and how near, everybody learns who may score; what they say, only who may list the model's samples. A similarity has two
decimals: enough to judge by, too few to feel one's way to a text that one may not read.
"""

from bisect import insort
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from traitbench.contract.explanations import Explanation, Nearest, Neighbour
from traitbench.encoders.lanes import LANES
from traitbench.errors import InsufficientScope, ModelNotFound, NamespaceForbidden
from traitbench.lifecycle import access, encoders
from traitbench.lifecycle.bench import Bench
from traitbench.lifecycle.callers import Caller
from traitbench.lifecycle.serving import Served, encoding
from traitbench.scoring.explain import Explained, Reasons, explain
from traitbench.scoring.snapshot import Snapshot
from traitbench.store import models, neighbours, samples, traits
from traitbench.store.engine import reading

_NEAREST = 3
_RETENTION = "The model is under zero data retention: there are no samples to compare with."
_GONE = "The samples that this version learnt from are not here any more, so none are compared."
_NO_VECTORS = "The samples have no vectors of the encoder {encoder} here, so none are compared."
_NO_TOKEN = "The text has no word that the encoder knows, so no sample is near."
_UNTOLD = "This key may not list the model's samples, so their texts are left out."


def explained(
    bench: Bench, caller: Caller, handle: str, served: Served, text: str, keys: Collection[str], *, quote: bool
) -> dict[str, Explanation]:
    """The reasons of the traits of these keys; `quote` puts the text of each part beside it."""
    encoder = encoders.of_version(bench, served.snapshot)
    with LANES.call():
        # Texts that are made for the explanation alone are not worth a place in the cache.
        found = explain(served.snapshot, encoding(bench, served).encode, text, look=encoder.encode)
    near = _neighbourhood(bench, served, found, keys, may_read=_may_read(bench, caller, handle))
    return {
        key: _told(reasons, near.nearest.get(key), near.note, text if quote else None)
        for key, reasons in found.traits.items()
        if key in keys
    }


def _may_read(bench: Bench, caller: Caller, handle: str) -> bool:
    try:
        access.permit(bench, caller, "samples.list", handle)
    except (InsufficientScope, NamespaceForbidden, ModelNotFound):
        return False
    return True


def _told(reasons: Reasons, nearest: Nearest | None, note: str | None, text: str | None) -> Explanation:
    told = reasons.to_wire()
    if text is not None:
        told["parts"] = [part | {"text": text[part["start"] : part["end"]]} for part in told["parts"]]
    return Explanation.model_validate(told | {"nearest": nearest, "note": note})


# ---- samples like the text -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Neighbourhood:
    """The nearest samples by trait, and what is to be said of them."""

    nearest: Mapping[str, Nearest]
    note: str | None


@dataclass(frozen=True)
class _Likeness:
    """By the hash of a sample's text: its cosine to the text and, for traits that have no labels, where it lies."""

    cosines: dict[str, float] = field(default_factory=dict)
    positions: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))


@dataclass(frozen=True, order=True)
class _Near:
    """A sample; the nearest is the least, of equally near ones the oldest."""

    distance: float
    id: int
    quality: float | None
    content_sha256: str


class _Side:
    """The nearest of one side of a trait; a text that several samples have stands there once, by the oldest."""

    def __init__(self) -> None:
        self.nearest: list[_Near] = []

    def meet(self, near: _Near) -> None:
        """Take it in, if it is near enough; samples come by id."""
        if near.content_sha256 not in {each.content_sha256 for each in self.nearest}:
            insort(self.nearest, near)
            del self.nearest[_NEAREST:]


def _neighbourhood(
    bench: Bench, served: Served, found: Explained, keys: Collection[str], *, may_read: bool
) -> _Neighbourhood:
    if not found.vector.any():
        return _Neighbourhood({}, _NO_TOKEN)
    with reading(bench.engine) as connection:
        # As it is now: retention may have been switched on since the model was looked up.
        model = models.find_by_id(connection, served.model.id)
        if model is None or model.zero_data_retention:
            return _Neighbourhood({}, _RETENTION)
        rows = [row for row in traits.rows(connection, model.id) if row.key in keys]
        alike = _likeness(connection, model.id, served.snapshot, found.vector, rows)
        met, sides = _meet(connection, served, rows, alike)
        if not met or not alike.cosines:
            encoder = served.snapshot.encoder.id
            return _Neighbourhood({}, _NO_VECTORS.format(encoder=encoder) if met else _GONE)
        ids = [near.id for side in sides.values() for near in side.nearest]
        texts = samples.texts(connection, ids) if may_read else {}
    nearest = {
        row.key: Nearest(
            positive=[_neighbour(near, texts) for near in sides[row.id, True].nearest],
            negative=[_neighbour(near, texts) for near in sides[row.id, False].nearest],
        )
        for row in rows
    }
    return _Neighbourhood(nearest, None if may_read else _UNTOLD)


def _likeness(
    connection: Connection,
    model_id: int,
    snapshot: Snapshot,
    vector: NDArray[np.float32],
    rows: Sequence[traits.TraitRow],
) -> _Likeness:
    alike = _Likeness()
    unlabelled = {row.key for row in rows if row.kind == "intrinsic"}
    axes = [axis for axis in snapshot.traits if axis.key in unlabelled]
    for hashes, vectors in neighbours.vectors(connection, model_id, snapshot.encoder.digest):
        alike.cosines.update(zip(hashes, map(float, _dots(vectors, vector)), strict=True))
        for axis in axes:
            lies = _dots(vectors, axis.vector) + axis.offset
            alike.positions[axis.key].update(zip(hashes, map(float, lies), strict=True))
    return alike


def _dots(rows: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float64]:
    """(n_texts,), row by row: a matrix product would round by the shape of what it is given."""
    dots: NDArray[np.float64] = (rows * vector).sum(axis=1, dtype=np.float64)
    return dots


def _meet(
    connection: Connection, served: Served, rows: Sequence[traits.TraitRow], alike: _Likeness
) -> tuple[int, Mapping[tuple[int, bool], _Side]]:
    """How many samples there are, and the sides of the traits, by id and whether it is the positive one."""
    sides = {(row.id, above): _Side() for row in rows for above in (True, False)}
    lesson = neighbours.lesson(connection, served.model.id, served.version_no)
    met = 0
    for sample in neighbours.taught(connection, served.model.id, lesson) if lesson else ():
        met += 1
        cosine = alike.cosines.get(sample.content_sha256)
        for row in rows if cosine is not None else ():
            own = sample.trait_id == row.id
            lies = sample.quality - 0.5 if own else alike.positions[row.key].get(sample.content_sha256, 0.0)
            if lies and cosine is not None:
                quality = sample.quality if own else None
                sides[row.id, lies > 0].meet(_Near(-cosine, sample.id, quality, sample.content_sha256))
    return met, sides


def _neighbour(near: _Near, texts: Mapping[int, str]) -> Neighbour:
    similarity = round(-near.distance, 2) + 0.0
    return Neighbour(id=near.id, quality=near.quality, similarity=similarity, text=texts.get(near.id))

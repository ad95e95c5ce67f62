"""Copy a model's traits, samples and vectors to another model, inside the database.

A copied sample gets a new id. Samples are copied in the order of their ids. So the new ids ascend in the same order and
the n-th sample of one model is the n-th of the other. Only ids are in memory, never a text or a vector.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    String,
    bindparam,
    cast,
    column,
    delete,
    false,
    literal,
    select,
    type_coerce,
    update,
    values,
)
from sqlalchemy import insert as insert_into

from traitbench.store import replaced_samples, samples, tables, traits
from traitbench.store.database import insert

_MODELS = tables.models.c
_TRAITS = tables.traits.c
_SAMPLES = tables.samples.c
_VECTORS = tables.vectors.c
_AT_ONCE = 500

_OWN_OF_MODEL = (
    *("id", "handle", "namespace", "state", "created_at", "updated_at", "versions_made", "active_version_id", "run_id"),
    *("unsettled_purge", "held_version_id", "held_up_to"),
    *("forked_from", "forked_from_version_no", "forked_after_version_no", "forked_up_to"),
    *("archived_at", "archived_from"),
)
_OWN_OF_TRAIT = ("id", "model_id", "anchor_sample_ids", "origin_run_id", "rank")
_OWN_OF_SAMPLE = (
    *("id", "model_id", "trait_id", "pending", "seed_sample_id", "origin_run_id"),
    *("revision", "changed_by"),
)

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Copied:
    """The ids of samples and of their copies, both ascending."""

    ids: Ids
    copies: Ids

    def copy_of(self, sample_id: int) -> int | None:
        """The id of the copy of a sample; None if the sample was not copied."""
        position = int(np.searchsorted(self.ids, sample_id))
        is_copied = position < len(self.ids) and self.ids[position] == sample_id
        return int(self.copies[position]) if is_copied else None

    def by_id(self) -> dict[int, int]:
        """The id of each copy, by that of its sample."""
        return dict(zip(self.ids.tolist(), self.copies.tolist(), strict=True))


@dataclass(frozen=True)
class Replaced:
    """The copies, how much feedback was carried along, and how much was dropped because its trait is gone."""

    copied: Copied
    carried: int
    dropped: int


_NOTHING = Copied(np.empty(0, np.int64), np.empty(0, np.int64))


def add_model(connection: Connection, source_id: int, *, handle: str, fields: Mapping[str, Any]) -> int | None:
    """Insert a model with the settings of another one; return its id, or None if the handle is taken."""
    settings = [column for column in tables.models.columns if column.name not in _OWN_OF_MODEL]
    own = {name: literal(value, _MODELS[name].type) for name, value in {"handle": handle, **fields}.items()}
    source = select(*settings, *own.values()).where(_MODELS.id == source_id)
    names = [*(column.name for column in settings), *own]
    statement = insert(connection, tables.models).from_select(names, source, include_defaults=False)
    added = connection.execute(statement.on_conflict_do_nothing(index_elements=["handle"]).returning(_MODELS.id))
    model_id: int | None = added.scalar_one_or_none()
    return model_id


def add_traits(connection: Connection, source_id: int, model_id: int) -> None:
    """Copy the traits of a model, without their anchors, in their order. The other model has none with these keys."""
    copied = [column for column in tables.traits.columns if column.name not in _OWN_OF_TRAIT]
    listed = (_TRAITS.model_id == source_id, tables.LISTED_TRAIT)
    source = select(literal(model_id), *copied).where(*listed).order_by(tables.TRAIT_ORDER)
    names = ["model_id", *(column.name for column in copied)]
    connection.execute(insert_into(tables.traits).from_select(names, source, include_defaults=False))


def add_samples(connection: Connection, source_id: int, model_id: int, *, keep_pending: bool) -> Copied:
    """Copy the samples of a model with their vectors and seeds, and the anchors of its traits.

    The other model has traits with the same keys. `keep_pending` copies feedback that waits as such.
    """
    before = samples.last_id(connection, model_id)
    connection.execute(_samples(source_id, model_id, keep_pending=keep_pending))
    copied = Copied(_ids(connection, source_id), _ids(connection, model_id, after=before))
    if not len(copied.ids):
        return _NOTHING
    _add_vectors(connection, copied)
    _add_seeds(connection, source_id, copied)
    _add_anchors(connection, source_id, model_id, copied)
    return copied


def replace(
    connection: Connection,
    source_id: int,
    model_id: int,
    *,
    with_samples: bool,
    feedback_after: int | None,
    last_version_no: int,
    learned: int,
) -> Replaced:
    """Replace the traits and samples of a model with copies of another one's.

    Feedback that the model got meanwhile is carried along and waits again, unless the other model lacks its trait or
    has the same feedback. It is feedback with an id greater than `feedback_after`; if that is None, feedback that
    waits. Without `with_samples`, the model has no other samples afterwards. Those that are replaced stay with the
    versions up to `last_version_no`; `learned` is the id up to which feedback that waits was used by one of them.
    """
    old = {row.id: row.key for row in traits.rows(connection, model_id)}
    meanwhile = _meanwhile(connection, source_id, model_id, feedback_after)
    # A key names one trait of a model. No key contains "!".
    aside = literal("!") + cast(_TRAITS.id, String)
    connection.execute(update(tables.traits).where(_TRAITS.model_id == model_id).values(key=aside))
    add_traits(connection, source_id, model_id)
    new = {row.key: row.id for row in traits.rows(connection, model_id)}
    carried = [
        {"own_id": sample_id, "new_trait_id": new[old[trait_id]]}
        for sample_id, trait_id in meanwhile
        if old[trait_id] in new
    ]
    if carried:
        change = update(tables.samples).where(_SAMPLES.id == bindparam("own_id"))
        connection.execute(change.values(trait_id=bindparam("new_trait_id"), pending=True), carried)
    if with_samples:
        theirs = replaced_samples.versions_before(connection, model_id, last_version_no)
        replaced_samples.keep(connection, old, theirs, learned=learned)
    connection.execute(delete(tables.traits).where(_TRAITS.id.in_(old)))
    copied = add_samples(connection, source_id, model_id, keep_pending=True) if with_samples else _NOTHING
    return Replaced(copied, len(carried), len(meanwhile) - len(carried))


def _meanwhile(connection: Connection, source_id: int, model_id: int, after: int | None) -> list[tuple[int, int]]:
    """The feedback that a model got since an id and the other one does not have: ids of samples and of their traits.

    A copy has the text, quality and time of its original.
    """
    same = (_SAMPLES.content_sha256, _SAMPLES.quality, type_coerce(_SAMPLES.created_at, BigInteger))
    feedback = _SAMPLES.provenance == "score_feedback"
    known = {tuple(row) for row in connection.execute(select(*same).where(_SAMPLES.model_id == source_id, feedback))}
    since = _SAMPLES.pending if after is None else _SAMPLES.id > after
    statement = select(_SAMPLES.id, _SAMPLES.trait_id, *same).where(_SAMPLES.model_id == model_id, feedback, since)
    rows = connection.execute(statement.order_by(_SAMPLES.id)).all()
    return [(row[0], row[1]) for row in rows if tuple(row[2:]) not in known]


def _samples(source_id: int, model_id: int, *, keep_pending: bool) -> Any:
    copied = [column for column in tables.samples.columns if column.name not in _OWN_OF_SAMPLE]
    own = tables.traits.alias("own")
    pending: ColumnElement[bool] = _SAMPLES.pending if keep_pending else false()
    source = (
        select(literal(model_id), own.c.id, pending, *copied)
        .join(tables.traits, _TRAITS.id == _SAMPLES.trait_id)
        .join(own, (own.c.model_id == model_id) & (own.c.key == _TRAITS.key))
        .where(_SAMPLES.model_id == source_id)
        .order_by(_SAMPLES.id)
    )
    names = ["model_id", "trait_id", "pending", *(column.name for column in copied)]
    return insert_into(tables.samples).from_select(names, source, include_defaults=False)


def _add_vectors(connection: Connection, copied: Copied) -> None:
    for first in range(0, len(copied.ids), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        pairs = list(zip(copied.ids[part].tolist(), copied.copies[part].tolist(), strict=True))
        # SQLite has no quick way to join the two models' samples by their places.
        copies = values(column("id", BigInteger), column("copy_id", BigInteger), name="copies").data(pairs).cte()
        source = select(copies.c.copy_id, _VECTORS.encoder_digest, _VECTORS.vector)
        source = source.join(copies, copies.c.id == _VECTORS.sample_id)
        connection.execute(insert_into(tables.vectors).from_select(["sample_id", "encoder_digest", "vector"], source))


def _ids(connection: Connection, model_id: int, *, after: int = 0) -> Ids:
    statement = (
        select(_SAMPLES.id)
        .where(_SAMPLES.model_id == model_id, _SAMPLES.id > after)
        .order_by(_SAMPLES.id)
        .execution_options(yield_per=_AT_ONCE)
    )
    return np.fromiter(connection.execute(statement).scalars(), np.int64)


def _add_seeds(connection: Connection, source_id: int, copied: Copied) -> None:
    """Let each copy name the copy of its seed; a seed that is gone is left out."""
    statement = (
        select(_SAMPLES.id, _SAMPLES.seed_sample_id)
        .where(_SAMPLES.model_id == source_id, _SAMPLES.seed_sample_id.is_not(None))
        .order_by(_SAMPLES.id)
        .limit(_AT_ONCE)
    )
    change = update(tables.samples).where(_SAMPLES.id == bindparam("own_id"))
    change = change.values(seed_sample_id=bindparam("seed_id"))
    last = 0
    while rows := connection.execute(statement.where(_SAMPLES.id > last)).all():
        pairs = [{"own_id": copied.copy_of(row[0]), "seed_id": copied.copy_of(row[1])} for row in rows]
        if seeded := [pair for pair in pairs if pair["seed_id"] is not None]:
            connection.execute(change, seeded)
        last = rows[-1][0]


def _add_anchors(connection: Connection, source_id: int, model_id: int, copied: Copied) -> None:
    own = {row.key: row.id for row in traits.rows(connection, model_id)}
    statement = select(_TRAITS.key, _TRAITS.anchor_sample_ids)
    listed = (_TRAITS.model_id == source_id, tables.LISTED_TRAIT)
    statement = statement.where(*listed, _TRAITS.anchor_sample_ids.is_not(None))
    for key, anchors in connection.execute(statement).all():
        mapped = {pole: _copies(copied, ids) for pole, ids in anchors.items()}
        traits.change(connection, own[key], {"anchor_sample_ids": mapped})


def _copies(copied: Copied, ids: Sequence[int]) -> list[int]:
    copies = (copied.copy_of(each) for each in ids)
    return [each for each in copies if each is not None]

"""Read a whole model from the store, and write one to it, as the parts of a bundle.

A bundle holds no ids: samples are referenced by their position in it.
"""

import base64
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select, update

from traitbench.contract.bundles import (
    LONGEST_KEY_NAME,
    Anchors,
    Bundle,
    BundledActivation,
    BundledOrigin,
    BundledReplaced,
    BundledSample,
    BundledTrait,
    BundledVersion,
    Intrinsic,
    Streamed,
)
from traitbench.contract.models import ModelUpdate
from traitbench.contract.samples import text_hash
from traitbench.contract.traits import TraitInput
from traitbench.store import (
    activations,
    models,
    replaced_samples,
    samples,
    tables,
    traits,
    version_positions,
    version_samples,
    versions,
)
from traitbench.store.version_positions import Positions as StoredPositions

_SAMPLES = tables.samples.c
_TRAITS = tables.traits.c
_VERSIONS = tables.versions.c

Positions = Mapping[int, int]

_AT_ONCE = 1_000
_MOST_RECORDS = 32 * 2**20
"""Bytes of the versions' recorded samples, and of positions: a bundle must not become too large to be imported."""
_MOST_REPLACED = 32 * 2**20  # characters


def read_model(connection: Connection, model_id: int) -> ModelUpdate:
    """The settable fields of a model."""
    shown = models.read(connection, model_id)
    fields = {name: getattr(shown, name) for name in ModelUpdate.model_fields}
    # Left out if there are none, so that earlier releases can import the model. A permission to send texts is never
    # exported: the language model of another service is another one.
    return ModelUpdate.model_validate(fields | {"demo_texts": shown.demo_texts or None, "language_model_allowed": None})


def read_origin(connection: Connection, model_id: int) -> BundledOrigin | None:
    """What a model was forked from, if it is a fork."""
    lineage = models.lineage(connection, model_id)
    if lineage.forked_from is None:
        return None
    return BundledOrigin(handle=lineage.forked_from, version_no=lineage.forked_from_version_no)


@dataclass(frozen=True)
class Order:
    """The position of each sample of a bundle by its id, and of each replaced one, which come after the samples.

    `since` is the first version number of the oldest replaced samples, None if there are none.
    """

    samples: Positions
    replaced: Positions
    since: int | None


def order(connection: Connection, model_id: int, *, with_samples: bool) -> Order:
    """The order of the samples in the bundle of a model. The oldest replaced ones are left out if there are many."""
    if not with_samples:
        return Order({}, {}, None)
    own = samples.ids(connection, model_id)
    since = replaced_samples.since(connection, model_id, most_characters=_MOST_REPLACED)
    others = [] if since is None else replaced_samples.ids(connection, model_id, since)
    numbered = {sample_id: position for position, sample_id in enumerate([*own, *others])}
    return Order({each: numbered[each] for each in own}, {each: numbered[each] for each in others}, since)


def read_traits(connection: Connection, model_id: int, positions: Positions) -> list[BundledTrait]:
    """The traits of a model; anchors that no longer exist, or that are not exported, are left out."""
    listed = (_TRAITS.model_id == model_id, tables.LISTED_TRAIT)
    statement = select(tables.traits).where(*listed).order_by(tables.TRAIT_ORDER)
    return [_trait(row, positions) for row in connection.execute(statement)]


def read_samples(connection: Connection, model_id: int, order: Order) -> Streamed:
    """The samples of a model and the replaced ones in order, with at most a thousand in memory at a time."""
    statement = (
        select(tables.samples, _TRAITS.key.label("trait"))
        .join(tables.traits, _TRAITS.id == _SAMPLES.trait_id)
        .where(_SAMPLES.model_id == model_id)
        .order_by(_SAMPLES.id)
        .execution_options(yield_per=_AT_ONCE)
    )
    own: Streamed = {"samples": (_sample(row, order.samples) for row in connection.execute(statement))}
    if order.since is None:
        return own
    rows = replaced_samples.rows(connection, model_id, order.since)
    return {**own, "replaced": (_replaced(row, order.replaced) for row in rows)}


def read_versions(connection: Connection, model: models.ModelRow, order: Order) -> list[BundledVersion]:
    """The versions of a model with their snapshots, oldest first."""
    ids = select(_VERSIONS.id).where(_VERSIONS.model_id == model.id).order_by(_VERSIONS.version_no)
    records = version_samples.stored(connection, model.id, most_bytes=_MOST_RECORDS)
    positions = version_positions.newest(connection, model.id, most_bytes=_MOST_RECORDS)
    return [
        _version(connection, version_id, model, order, record=records.get(version_id), positions=positions)
        for version_id in connection.execute(ids).scalars()
    ]


def read_activations(connection: Connection, model_id: int) -> list[BundledActivation]:
    """The activations of a model, oldest first; the ends of very long key names are left out."""
    return [
        BundledActivation.model_construct(**{**vars(each), "by": each.by and each.by[:LONGEST_KEY_NAME]})
        for each in activations.every(connection, model_id)
    ]


def write(connection: Connection, model_id: int, bundle: Bundle, *, now: datetime) -> int | None:
    """Write traits, samples and versions of a checked bundle to a new model; return the id of the active version."""
    traits.add(connection, model_id, [_trait_fields(trait) for trait in bundle.traits])
    trait_ids = {row.key: row.id for row in traits.rows(connection, model_id)}
    ids = _write_samples(connection, model_id, bundle.samples or [], trait_ids, now)
    replaced = _write_replaced(connection, model_id, bundle.replaced, trait_ids, now)
    _write_anchors(connection, bundle.traits, trait_ids, ids)
    if bundle.versions:
        # Without versions it is the copy of a model as a draft, which has no past of its own.
        activations.add_all(connection, model_id, [each.model_dump() for each in bundle.activations])
    return _write_versions(connection, model_id, bundle.versions, [*ids, *replaced], now=now)


def _trait(row: Row[Any], positions: Positions) -> BundledTrait:
    defined = {name: getattr(row, name) for name in TraitInput.model_fields}
    return BundledTrait(**defined, intrinsic=None if row.axis is None else _intrinsic(row, positions))


def _intrinsic(row: Row[Any], positions: Positions) -> Intrinsic:
    anchors = row.anchor_sample_ids and Anchors(
        **{pole: [positions[each] for each in ids if each in positions] for pole, ids in row.anchor_sample_ids.items()}
    )
    return Intrinsic(
        axis=base64.b64encode(row.axis).decode(),
        encoder_digest=row.axis_encoder_digest,
        discrimination=row.discrimination,
        explained_variance=row.explained_variance,
        anchors=anchors or None,
        discovery=row.discovery or {},
    )


def _sample(row: Row[Any], positions: Positions) -> BundledSample:
    own = {name: getattr(row, name) for name in BundledSample.model_fields if name != "seed"}
    return BundledSample(**own, seed=positions.get(row.seed_sample_id))


def _replaced(row: Row[Any], positions: Positions) -> BundledReplaced:
    own = {name: getattr(row, name) for name in BundledReplaced.model_fields if name not in ("seed", "pending")}
    return BundledReplaced(**own, seed=positions.get(row.seed_sample_id))


def _version(
    connection: Connection,
    version_id: int,
    model: models.ModelRow,
    order: Order,
    *,
    record: bytes | None,
    positions: Container[int],
) -> BundledVersion:
    shown = versions.read(connection, version_id)
    own = BundledVersion.model_fields.keys() - {"metrics", "active", "snapshot", "samples", "held_up_to", "positions"}
    return BundledVersion(
        **{name: getattr(shown, name) for name in own},
        metrics=shown.metrics.model_dump(),
        active=version_id == model.active_version_id,
        snapshot=versions.snapshot(connection, version_id),
        samples=None if record is None else base64.b64encode(record).decode(),
        held_up_to=_held_up_to(model, order.samples) if version_id == model.held_version_id else None,
        positions=_positions(connection, version_id, order) if version_id in positions else None,
    )


def _positions(connection: Connection, version_id: int, order: Order) -> str | None:
    """The positions of a version's samples as far as the bundle has the samples; None if there are none."""
    stored = version_positions.read(connection, version_id)
    if stored is None:
        return None
    numbered = version_positions.renumbered(stored.samples, {**order.samples, **order.replaced})
    return base64.b64encode(numbered.tobytes()).decode()


def _held_up_to(model: models.ModelRow, positions: Positions) -> int | None:
    """The position of the newest sample that a version on hold learned; the sample itself may have been withdrawn."""
    return max((position for each, position in positions.items() if each <= (model.held_up_to or 0)), default=None)


def _trait_fields(trait: BundledTrait) -> dict[str, Any]:
    intrinsic = trait.intrinsic
    given = trait.model_dump(exclude={"intrinsic"})
    return given | {
        "kind": "extrinsic" if intrinsic is None else "intrinsic",
        "axis": intrinsic and base64.b64decode(intrinsic.axis),
        "axis_encoder_digest": intrinsic and intrinsic.encoder_digest,
        "discrimination": intrinsic and intrinsic.discrimination,
        "explained_variance": intrinsic and intrinsic.explained_variance,
        "discovery": intrinsic and intrinsic.discovery,
    }


def _write_samples(
    connection: Connection,
    model_id: int,
    bundled: Sequence[BundledSample],
    trait_ids: Mapping[str, int],
    now: datetime,
) -> list[int]:
    if not bundled:
        return []
    fields = [
        each.model_dump(exclude={"trait", "seed"})
        | {"trait_id": trait_ids[each.trait], "created_at": now}
        | {"content_sha256": each.content_sha256 or text_hash(each.text), "note": each.note}
        for each in bundled
    ]
    ids = samples.add(connection, model_id, fields)
    seeded = [
        {"own_id": ids[position], "seed_id": ids[each.seed]}
        for position, each in enumerate(bundled)
        if each.seed is not None
    ]
    if seeded:
        statement = update(tables.samples).where(_SAMPLES.id == bindparam("own_id"))
        connection.execute(statement.values(seed_sample_id=bindparam("seed_id")), seeded)
    return ids


def _write_replaced(
    connection: Connection,
    model_id: int,
    bundled: Sequence[BundledReplaced],
    trait_ids: Mapping[str, int],
    now: datetime,
) -> list[int]:
    if not bundled:
        return []
    fields = [
        each.model_dump(exclude={"seed", "pending"})
        | {"content_sha256": each.content_sha256 or text_hash(each.text), "note": each.note, "created_at": now}
        for each in bundled
    ]
    return replaced_samples.add(connection, model_id, next(iter(trait_ids.values())), fields)


def _write_anchors(
    connection: Connection, bundled: Sequence[BundledTrait], trait_ids: Mapping[str, int], ids: Sequence[int]
) -> None:
    for trait in bundled:
        if trait.intrinsic and trait.intrinsic.anchors:
            positions = trait.intrinsic.anchors.model_dump()
            anchors = {pole: [ids[position] for position in own] for pole, own in positions.items()}
            traits.change(connection, trait_ids[str(trait.key)], {"anchor_sample_ids": anchors})


def _write_versions(
    connection: Connection,
    model_id: int,
    bundled: Sequence[BundledVersion],
    sample_ids: Sequence[int],
    *,
    now: datetime,
) -> int | None:
    active = None
    for each in bundled:
        fields = each.model_dump(include={"version_no", "param_hash", "sample_count", "created_at", "metrics"})
        version_id = versions.add(
            connection, snapshot=each.snapshot, model_id=model_id, triggered_by="backfill", run_id=None, **fields
        )
        if each.samples is not None:
            version_samples.store(connection, version_id, base64.b64decode(each.samples))
        if each.positions is not None:
            version_positions.add(connection, version_id, _stored_positions(each, sample_ids))
        for tag in each.tags:
            versions.tag(connection, model_id, tag, version_id, note=each.tag_notes.get(tag) or None)
        active = version_id if each.active else active
        if each.held_up_to is not None:
            held_up_to = sample_ids[each.held_up_to]
            models.change(connection, model_id, now=now, held_version_id=version_id, held_up_to=held_up_to)
    return active


def _stored_positions(version: BundledVersion, sample_ids: Sequence[int]) -> StoredPositions:
    keys = [str(trait["key"]) for trait in version.snapshot["traits"]]
    packed = base64.b64decode(str(version.positions))
    numbered = version_positions.unpacked(packed, samples=len(sample_ids), traits=len(keys))
    return StoredPositions(keys, version_positions.renumbered(numbered, dict(enumerate(sample_ids))))

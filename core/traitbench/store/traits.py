"""Queries on the traits of a model, in the order in which they were added until a person moves one."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError
from sqlalchemy import Connection, Row, Select, case, delete, func, select, update
from sqlalchemy import insert as insert_into

from traitbench.contract.traits import Discovered as DiscoveredFields
from traitbench.contract.traits import Trait
from traitbench.store import tables
from traitbench.store.rows import ListingRows, one_of, read_listing, readable

_TRAITS = tables.traits.c
_SAMPLES = tables.samples.c
_STORED = np.dtype("<f4")
_COUNTS = ("sample_count", "positive_samples", "negative_samples", "held_out_samples")
_UNKNOWN: Mapping[str, Any] = {
    **{"texts": None, "stability": None, "histogram": [], "overlaps": []},
    **{name: {"positive": [], "negative": []} for name in ("phrases", "typical")},
}
_WORDS = ("name", "positive_label", "negative_label", "description")


@dataclass(frozen=True)
class TraitRow:
    """The fields of a trait that rules need."""

    id: int
    key: str
    name: str
    description: str
    kind: str
    positive_label: str
    negative_label: str
    aggregation: str


@dataclass(frozen=True, eq=False)
class Axis:
    """The axis of an intrinsic trait: a direction in the vector space of one encoder."""

    encoder_digest: str
    vector: NDArray[np.float32]


@dataclass(frozen=True)
class StoredDiscovery:
    """An intrinsic trait: its current words, and the record of its discovery, None if that is damaged."""

    id: int
    key: str
    aggregation: str
    given: Mapping[str, str]
    discovery: Mapping[str, Any] | None

    @property
    def words(self) -> Mapping[str, str] | None:
        """The words that discovery gave the trait, by field; None if the record is damaged."""
        if self.discovery is None:
            return None
        return {name: self.discovery[name] for name in self.given if name in self.discovery}

    @property
    def changed(self) -> bool:
        """Whether a person has changed or kept the trait; true if that cannot be known."""
        accepted = self.discovery is None or bool(self.discovery.get("kept"))
        return accepted or self.words != self.given or self.aggregation != "mean"


def rows(connection: Connection, model_id: int) -> list[TraitRow]:
    """The traits of a model."""
    columns = (_TRAITS[name] for name in TraitRow.__dataclass_fields__)
    statement = select(*columns).where(_TRAITS.model_id == model_id, tables.LISTED_TRAIT).order_by(tables.TRAIT_ORDER)
    return [TraitRow(*row) for row in connection.execute(statement)]


def axes(connection: Connection, model_id: int) -> dict[int, Axis]:
    """The axes of a model's intrinsic traits, by the trait's id."""
    statement = select(_TRAITS.id, _TRAITS.axis_encoder_digest, _TRAITS.axis)
    rows = connection.execute(
        statement.where(_TRAITS.model_id == model_id, tables.LISTED_TRAIT, _TRAITS.axis.is_not(None))
    )
    return {row.id: Axis(row.axis_encoder_digest, np.frombuffer(row.axis, dtype=_STORED)) for row in rows}


def axis_fields(axis: Axis) -> dict[str, Any]:
    """An axis as the fields that `add` takes."""
    return {"axis": axis.vector.astype(_STORED).tobytes(), "axis_encoder_digest": axis.encoder_digest}


def discovered(connection: Connection, model_id: int) -> list[StoredDiscovery]:
    """The intrinsic traits of a model."""
    columns = (_TRAITS.id, _TRAITS.key, _TRAITS.aggregation, *(_TRAITS[name] for name in _WORDS))
    statement = select(*columns).where(
        _TRAITS.model_id == model_id, tables.LISTED_TRAIT, _TRAITS.discovery.is_not(None)
    )
    return [
        StoredDiscovery(
            row.id,
            row.key,
            row.aggregation,
            {name: getattr(row, name) for name in _WORDS},
            _discovery(connection, row.id),
        )
        for row in connection.execute(statement.order_by(tables.TRAIT_ORDER)).all()
    ]


def with_samples(connection: Connection, model_id: int) -> set[int]:
    """The ids of the traits that have samples, test samples included."""
    statement = select(_SAMPLES.trait_id).where(_SAMPLES.model_id == model_id).distinct()
    return set(connection.execute(statement).scalars())


def _discovery(connection: Connection, trait_id: int) -> Mapping[str, Any] | None:
    statement = select(_TRAITS.discovery).where(_TRAITS.id == trait_id)
    record = readable(lambda: connection.execute(statement).scalar_one())
    return record if isinstance(record, dict) else None


def add(connection: Connection, model_id: int, fields: Sequence[Mapping[str, Any]]) -> None:
    """Insert traits, in this order. A dismissed suggestion with the key of one of them is gone for good."""
    if fields:
        forget_dismissed(connection, model_id, [each["key"] for each in fields])
        connection.execute(insert_into(tables.traits), [{"model_id": model_id, **each} for each in fields])


def move(connection: Connection, model_id: int, trait_id: int, index: int) -> None:
    """Make a trait the one at this index, from 0, or the last one; the others keep their order."""
    statement = select(_TRAITS.id, tables.TRAIT_ORDER).where(_TRAITS.model_id == model_id, tables.LISTED_TRAIT)
    rows = connection.execute(statement.order_by(tables.TRAIT_ORDER)).all()
    ids = [row[0] for row in rows if row[0] != trait_id]
    ids.insert(index, trait_id)
    for own_id, (_, rank) in zip(ids, rows, strict=True):
        change(connection, own_id, {"rank": rank})


def change(connection: Connection, trait_id: int, fields: Mapping[str, Any]) -> None:
    """Set fields of a trait."""
    if fields:
        connection.execute(update(tables.traits).where(_TRAITS.id == trait_id).values(**fields))


def remove(connection: Connection, trait_id: int) -> None:
    """Delete a trait and its samples."""
    connection.execute(delete(tables.traits).where(_TRAITS.id == trait_id))


def dismiss(connection: Connection, trait_id: int) -> None:
    """Hide a suggestion so that `recall` can bring it back, until `forget_dismissed`."""
    change(connection, trait_id, {"kind": tables.DISMISSED})


def is_dismissed(connection: Connection, model_id: int, key: str) -> bool:
    """Whether a dismissed suggestion has this key."""
    mine = (_TRAITS.model_id == model_id, _TRAITS.key == key, _TRAITS.kind == tables.DISMISSED)
    return connection.execute(select(_TRAITS.id).where(*mine)).first() is not None


def recall(connection: Connection, model_id: int, key: str) -> str | None:
    """Show a dismissed suggestion again; return its name, or None if no dismissed one has this key."""
    mine = (_TRAITS.model_id == model_id, _TRAITS.key == key, _TRAITS.kind == tables.DISMISSED)
    name: str | None = connection.execute(select(_TRAITS.name).where(*mine)).scalar_one_or_none()
    connection.execute(update(tables.traits).where(*mine).values(kind="intrinsic"))
    return name


def forget_dismissed(connection: Connection, model_id: int, keys: Collection[str] | None = None) -> None:
    """Delete the dismissed suggestions of a model, or those with these keys."""
    statement = delete(tables.traits).where(_TRAITS.model_id == model_id, _TRAITS.kind == tables.DISMISSED)
    connection.execute(statement if keys is None else statement.where(_TRAITS.key.in_(keys)))


@dataclass(frozen=True)
class DiscoveredRow:
    """What of an intrinsic trait has a direction."""

    name: str
    positive_label: str
    negative_label: str
    axis: bytes
    anchor_sample_ids: Mapping[str, Any] | None
    discovery: Mapping[str, Any] | None


def discovered_row(connection: Connection, trait_id: int) -> DiscoveredRow:
    """One intrinsic trait; raise `UnreadableRow` if it cannot be read."""
    columns = (_TRAITS[name] for name in DiscoveredRow.__dataclass_fields__)
    statement = select(*columns).where(_TRAITS.id == trait_id)
    return one_of(lambda: DiscoveredRow(*connection.execute(statement).one()), "The trait")


def negated(axis: bytes) -> bytes:
    """A stored axis in the opposite direction."""
    return (-np.frombuffer(axis, dtype=_STORED)).astype(_STORED).tobytes()


def read(connection: Connection, model_id: int) -> list[Trait]:
    """The traits of a model as the API shows them, with sample counts; raise `UnreadableRow` if one cannot be read."""
    return one_of(lambda: [_trait(row) for row in connection.execute(_shown(model_id))], "A trait of the model")


def of_id(connection: Connection, model_id: int, trait_id: int) -> Trait:
    """One trait as the API shows it; raise `UnreadableRow` if it cannot be read."""
    statement = _shown(model_id).where(_TRAITS.id == trait_id)
    return one_of(lambda: _trait(connection.execute(statement).one()), "The trait")


def every(connection: Connection, model_id: int) -> ListingRows[Trait]:
    """The traits that `read` returns; those that cannot be read are listed separately."""
    statement = _shown(model_id)
    return read_listing(
        connection,
        statement,
        key=_TRAITS.id,
        position=_TRAITS.key,
        all_at_once=lambda: [_trait(row) for row in connection.execute(statement)],
        one=lambda trait_id: _trait(connection.execute(statement.where(_TRAITS.id == trait_id)).one()),
        position_of=lambda trait: trait.key,
    )


def _shown(model_id: int) -> Select[Any]:
    counts = (
        select(
            _SAMPLES.trait_id,
            func.sum(case((~_SAMPLES.held_out, 1), else_=0)).label("sample_count"),
            func.sum(case((~_SAMPLES.held_out & (_SAMPLES.quality > 0.5), 1), else_=0)).label("positive_samples"),
            func.sum(case((~_SAMPLES.held_out & (_SAMPLES.quality < 0.5), 1), else_=0)).label("negative_samples"),
            func.sum(case((_SAMPLES.held_out, 1), else_=0)).label("held_out_samples"),
        )
        .where(_SAMPLES.model_id == model_id)
        .group_by(_SAMPLES.trait_id)
        .subquery()
    )
    return (
        select(
            tables.traits,
            tables.models.c.main_trait,
            *(func.coalesce(counts.c[name], 0).label(name) for name in _COUNTS),
        )
        .join(tables.models, tables.models.c.id == _TRAITS.model_id)
        .outerjoin(counts, counts.c.trait_id == _TRAITS.id)
        .where(_TRAITS.model_id == model_id, tables.LISTED_TRAIT)
        .order_by(tables.TRAIT_ORDER)
    )


def _trait(row: Row[Any]) -> Trait:
    fields: dict[str, Any] = {name: getattr(row, name) for name in Trait.model_fields if name != "discovered"}
    return Trait(**fields, discovered=_what_was_found(row) if row.kind == "intrinsic" else None)


def _what_was_found(row: Row[Any]) -> DiscoveredFields:
    """The record of a discovery as the API shows it. It may be that of an older release or of an imported bundle."""
    record = row.discovery if isinstance(row.discovery, dict) else {}
    trait = StoredDiscovery(row.id, row.key, row.aggregation, {name: getattr(row, name) for name in _WORDS}, record)
    touched = bool(row.sample_count or row.held_out_samples) or row.key == row.main_trait
    suggestion = not touched and not trait.changed
    try:
        return DiscoveredFields.model_validate({**_UNKNOWN, **record, "suggestion": suggestion})
    except ValidationError:
        return DiscoveredFields.model_validate({**_UNKNOWN, "suggestion": suggestion})

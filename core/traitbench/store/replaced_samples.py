"""Samples that a promotion replaced: they stay with the versions that were trained with them, until those are pruned.

They are in no count, and in no listing but that of samples by their ids (`samples.page`). They are deleted with their
last version, and by a purge.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, and_, delete, exists, func, insert, literal, select

from traitbench.store import samples, tables

_REPLACED = tables.replaced_samples.c
_SAMPLES = tables.samples.c
_VERSIONS = tables.versions.c
_ACTIVATIONS = tables.activations.c
_AT_ONCE = 500
_COPIED = [column.name for column in tables.replaced_samples.columns if column.name in _SAMPLES]

Versions = tuple[int, int]
"""The numbers of the first and of the last version that samples belong to."""


def keep(connection: Connection, traits: Mapping[int, str], versions: Versions, *, learned: int) -> None:
    """Copy the samples of traits (keys by id) that a promotion is about to delete.

    Feedback that waits and has an id above `learned` was in no version, and is left out.
    """
    first, last = versions
    for trait_id, key in traits.items():
        was_used = ~_SAMPLES.pending | (_SAMPLES.id <= learned)
        own = [_SAMPLES.id, *(literal(value) for value in (first, last, key))]
        source = select(*own, *(_SAMPLES[name] for name in _COPIED)).where(_SAMPLES.trait_id == trait_id, was_used)
        names = ["sample_id", "first_version_no", "last_version_no", "trait", *_COPIED]
        connection.execute(insert(tables.replaced_samples).from_select(names, source, include_defaults=False))


def versions_before(connection: Connection, model_id: int, last: int) -> Versions:
    """The versions that the present samples of a model belong to: those since the last promotion, up to `last`."""
    promoted = (_ACTIVATIONS.model_id == model_id, _ACTIVATIONS.cause == "promote")
    first: int | None = connection.execute(select(func.max(_ACTIVATIONS.version_no)).where(*promoted)).scalar()
    return first or 1, last


def prune(connection: Connection, model_id: int) -> None:
    """Delete those whose versions are all gone."""
    their = _VERSIONS.version_no.between(_REPLACED.first_version_no, _REPLACED.last_version_no)
    is_there = exists().where(and_(_VERSIONS.model_id == model_id, their))
    connection.execute(delete(tables.replaced_samples).where(_REPLACED.model_id == model_id, ~is_there))


def purge(connection: Connection, model_id: int) -> None:
    """Delete all of a model."""
    connection.execute(delete(tables.replaced_samples).where(_REPLACED.model_id == model_id))


def since(connection: Connection, model_id: int, *, most_characters: int) -> int | None:
    """The first version number of the oldest to export, so that all texts are not longer; None if there are none."""
    size = func.sum(func.length(_REPLACED.text))
    groups = select(_REPLACED.first_version_no, size).where(_REPLACED.model_id == model_id)
    first = None
    by_age = groups.group_by(_REPLACED.first_version_no).order_by(_REPLACED.first_version_no.desc())
    for version_no, length in connection.execute(by_age).all():
        most_characters -= length
        if most_characters < 0:
            break
        first = version_no
    return first


def ids(connection: Connection, model_id: int, first_version_no: int) -> list[int]:
    """The ids of those of a model that belong to versions from this one on, ascending."""
    mine = (_REPLACED.model_id == model_id, _REPLACED.first_version_no >= first_version_no)
    return list(connection.execute(select(_REPLACED.sample_id).where(*mine).order_by(_REPLACED.sample_id)).scalars())


def rows(connection: Connection, model_id: int, first_version_no: int) -> Iterator[Row[Any]]:
    """The rows of `ids`, with few in memory at a time."""
    mine = (_REPLACED.model_id == model_id, _REPLACED.first_version_no >= first_version_no)
    statement = select(tables.replaced_samples).where(*mine).order_by(_REPLACED.sample_id)
    return iter(connection.execute(statement.execution_options(yield_per=_AT_ONCE)))


def add(connection: Connection, model_id: int, trait_id: int, fields: Sequence[Mapping[str, Any]]) -> list[int]:
    """Insert those of a bundle; return their ids, which no sample has."""
    if not fields:
        return []
    own = [{name: each[name] for name in each if name in _SAMPLES} | {"trait_id": trait_id} for each in fields]
    # As samples they get ids that no sample had and none will get.
    new = samples.add(connection, model_id, own)
    for start in range(0, len(new), _AT_ONCE):
        samples.remove(connection, model_id, new[start : start + _AT_ONCE])
    named = [{"sample_id": each, "model_id": model_id, **row} for each, row in zip(new, fields, strict=True)]
    connection.execute(insert(tables.replaced_samples), named)
    return new

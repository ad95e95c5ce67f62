"""Queries on the texts that the last synthesis of a model rejected. They go when its next run starts."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, delete, select
from sqlalchemy import insert as insert_into

from traitbench.contract.samples import RejectedText
from traitbench.store import tables
from traitbench.store.rows import readable

_REJECTED, _TRAITS = tables.rejected_texts.c, tables.traits.c


def add(connection: Connection, model_id: int, fields: Sequence[Mapping[str, Any]]) -> None:
    """Store rejected texts in the order given."""
    if fields:
        connection.execute(insert_into(tables.rejected_texts), [{"model_id": model_id, **each} for each in fields])


def read(connection: Connection, model_id: int) -> list[RejectedText]:
    """The rejected texts of a model, in the order in which they were stored. Rows that are unreadable are left out."""
    columns = (_REJECTED.text, _REJECTED.quality, _REJECTED.reason, _REJECTED.generator, _REJECTED.seed_sample_id)
    statement = (
        select(_TRAITS.key.label("trait"), *columns)
        .join(tables.traits, _TRAITS.id == _REJECTED.trait_id)
        .where(_REJECTED.model_id == model_id)
        .order_by(_REJECTED.id)
    )
    rows = connection.execute(statement).mappings().all()
    read = (readable(partial(RejectedText.model_validate, dict(row))) for row in rows)
    return [each for each in read if each is not None]


def forget(connection: Connection, model_id: int) -> None:
    """Delete the rejected texts of a model."""
    connection.execute(delete(tables.rejected_texts).where(_REJECTED.model_id == model_id))

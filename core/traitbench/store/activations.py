"""Which version of a model served when: a record of every change of the active version.

It is written in the transaction that makes the change. Versions are stored by their numbers, because an old version may
have been pruned since.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select
from sqlalchemy import insert as insert_into

from traitbench.contract.fields import Unreadable
from traitbench.contract.versions import Activation, ActivationCause
from traitbench.store import tables, versions
from traitbench.store.cursors import PageRequest
from traitbench.store.rows import ListingRows, read_listing

_ACTIVATIONS = tables.activations.c
_AT_ONCE = 1_000


def add(
    connection: Connection,
    model_id: int,
    *,
    version_no: int,
    previous_version_id: int | None,
    cause: ActivationCause,
    by: str | None,
    now: datetime,
) -> None:
    """Record that a version became the active one.

    `by` is the name of the key that asked for it, None if the service did it by itself.
    """
    previous = None if previous_version_id is None else versions.by_id(connection, previous_version_id)
    fields = {"version_no": version_no, "previous_version_no": previous and previous.version_no, "cause": cause}
    connection.execute(insert_into(tables.activations).values(model_id=model_id, activated_at=now, by=by, **fields))


def add_all(connection: Connection, model_id: int, fields: Sequence[Mapping[str, Any]]) -> None:
    """Insert activations, oldest first."""
    for first in range(0, len(fields), _AT_ONCE):
        rows = [{"model_id": model_id, **each} for each in fields[first : first + _AT_ONCE]]
        connection.execute(insert_into(tables.activations), rows)


def page(connection: Connection, model_id: int, asked: PageRequest[int]) -> ListingRows[Activation]:
    """The activations of a page, newest first; their position is their id."""
    shown = select(tables.activations).where(_ACTIVATIONS.model_id == model_id)
    statement = asked.select(shown, _ACTIVATIONS.id, descending=True)
    listing = read_listing(
        connection,
        statement,
        key=_ACTIVATIONS.id,
        position=_ACTIVATIONS.id,
        all_at_once=lambda: [(row.id, _activation(row)) for row in connection.execute(statement)],
        one=lambda row_id: (row_id, _activation(connection.execute(shown.where(_ACTIVATIONS.id == row_id)).one())),
        position_of=lambda numbered: numbered[0],
    )
    # An activation on the wire has no id.
    return ListingRows([(at, each if isinstance(each, Unreadable) else each[1]) for at, each in listing.rows])


def every(connection: Connection, model_id: int) -> Iterator[Activation]:
    """The activations of a model, oldest first."""
    statement = select(tables.activations).where(_ACTIVATIONS.model_id == model_id).order_by(_ACTIVATIONS.id)
    return (_activation(row) for row in connection.execute(statement))


def _activation(row: Row[Any]) -> Activation:
    return Activation(**{name: getattr(row, name) for name in Activation.model_fields})


def promoted_after(connection: Connection, model_id: int, version_no: int) -> bool:
    """Whether a version after this one came from another model, with other samples."""
    later = (_ACTIVATIONS.model_id == model_id, _ACTIVATIONS.cause == "promote", _ACTIVATIONS.version_no > version_no)
    return connection.execute(select(_ACTIVATIONS.id).where(*later).limit(1)).first() is not None

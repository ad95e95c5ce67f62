"""Queries on attributes: the aliases of namespaces, and the traits whose key in capitals is a name."""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, select

from traitbench.contract.attributes import Attribute
from traitbench.store import tables
from traitbench.store.cursors import PageRequest
from traitbench.store.database import insert
from traitbench.store.rows import ListingRows, one_of, read_listing

_ATTRIBUTES, _MODELS, _TRAITS = tables.attributes.c, tables.models.c, tables.traits.c
_SHOWN = select(*(_ATTRIBUTES[name] for name in Attribute.model_fields))
_ONE = _SHOWN.where(_ATTRIBUTES.namespace == bindparam("namespace"), _ATTRIBUTES.name == bindparam("name"))

# Built once, see `store.models`: every comment asks both.
_ALIASES = select(_ATTRIBUTES.namespace, _ATTRIBUTES.handle, _ATTRIBUTES.trait).where(
    _ATTRIBUTES.name == bindparam("name"), _ATTRIBUTES.namespace.in_(bindparam("namespaces", expanding=True))
)
_NAMESAKES = (
    select(_MODELS.namespace, _MODELS.handle, _TRAITS.key)
    .join(tables.traits, _TRAITS.model_id == _MODELS.id)
    .where(
        bindparam("name") == tables.ATTRIBUTE_OF_KEY,
        tables.LISTED_TRAIT,
        _MODELS.namespace.in_(bindparam("namespaces", expanding=True)),
        _MODELS.active_version_id.is_not(None),
        _MODELS.state.in_(("ready", "busy")),
        _MODELS.forked_from.is_(None),
    )
    .order_by(_MODELS.handle, _TRAITS.key)
)

Meaning = tuple[str, str, str]
"""A namespace, a handle (an alias may pin it), and the key of a trait."""


def aliases(connection: Connection, namespaces: Collection[str], name: str) -> list[Meaning]:
    """What a name means by the aliases of these namespaces."""
    rows = connection.execute(_ALIASES, {"name": name, "namespaces": sorted(namespaces)})
    return [tuple(row) for row in rows]


def namesakes(connection: Connection, namespaces: Collection[str], name: str) -> list[Meaning]:
    """The traits whose key in capitals is the name, `-` as `_`, of models of these namespaces that score; no forks."""
    rows = connection.execute(_NAMESAKES, {"name": name, "namespaces": sorted(namespaces)})
    return [tuple(row) for row in rows]


def page(connection: Connection, namespace: str, asked: PageRequest[str]) -> ListingRows[Attribute]:
    """The aliases of a page, by name."""
    statement = asked.select(_SHOWN.where(_ATTRIBUTES.namespace == namespace), _ATTRIBUTES.name)
    return read_listing(
        connection,
        statement,
        key=_ATTRIBUTES.id,
        position=_ATTRIBUTES.name,
        all_at_once=lambda: [_attribute(row) for row in connection.execute(statement)],
        one=lambda row_id: _attribute(connection.execute(_SHOWN.where(_ATTRIBUTES.id == row_id)).one()),
        position_of=lambda attribute: attribute.name,
    )


def find(connection: Connection, namespace: str, name: str) -> Attribute | None:
    """The alias of a namespace for a name."""

    def read() -> Attribute | None:
        row = connection.execute(_ONE, {"namespace": namespace, "name": name}).one_or_none()
        return None if row is None else _attribute(row)

    return one_of(read, "The attribute")


def put(
    connection: Connection, namespace: str, name: str, *, handle: str, trait: str, by: str | None, now: datetime
) -> None:
    """Set the alias of a namespace for a name."""
    fields = {"handle": handle, "trait": trait, "set_at": now, "by": by}
    statement = insert(connection, tables.attributes).values(namespace=namespace, name=name, **fields)
    connection.execute(statement.on_conflict_do_update(index_elements=["namespace", "name"], set_=fields))


def remove(connection: Connection, namespace: str, name: str) -> None:
    """Remove the alias of a namespace for a name."""
    mine = (_ATTRIBUTES.namespace == namespace, _ATTRIBUTES.name == name)
    connection.execute(delete(tables.attributes).where(*mine))


def _attribute(row: Row[Any]) -> Attribute:
    return Attribute(**row._mapping)

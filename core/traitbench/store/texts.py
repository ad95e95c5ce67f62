"""Queries on texts without labels, and on what people decided about them.

They belong to a model that is no fork, and to all its forks in the same namespace, so that a colleague who labels a
fork works on the same list. A fork in another namespace has a list of its own.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, func, select
from sqlalchemy import insert as insert_into

from traitbench.contract.labelling import TextDecision, UnlabelledText
from traitbench.names import parse_handle
from traitbench.store import models, tables
from traitbench.store.cursors import PageRequest
from traitbench.store.database import insert
from traitbench.store.models import ModelRow
from traitbench.store.rows import ListingRows, one_of, read_listing

_TEXTS, _DECISIONS = tables.texts.c, tables.decisions.c
_SHOWN = select(*(_TEXTS[name] for name in UnlabelledText.model_fields))
_DECIDED = select(*(_DECISIONS[name] for name in TextDecision.model_fields if name != "conflict"))


@dataclass(frozen=True)
class StoredDecision:
    """A decision as it is stored. `made` says that it made its sample."""

    id: int
    quality: float | None
    sample_id: int | None
    made: bool


def owner(connection: Connection, model: ModelRow) -> ModelRow:
    """The model that has the texts of this one: itself, or what it was forked from in its namespace, and so on."""
    namespace, seen = parse_handle(model.handle).namespace, {model.id}
    while True:
        origin = models.lineage(connection, model.id).forked_from
        if origin is None or parse_handle(origin).namespace != namespace:
            return model
        parent = models.find(connection, origin)
        if parent is None or parent.id in seen:
            return model
        seen.add(parent.id)
        model = parent


# ---- texts -----------------------------------------------------------------------------------------------------------


def count(connection: Connection, model_id: int) -> int:
    """How many texts without labels a model has."""
    return connection.execute(select(func.count()).where(_TEXTS.model_id == model_id)).scalar_one()


def new_of(connection: Connection, model_id: int, digests: Collection[str]) -> set[str]:
    """Those of at most 500 hashes that no text of a model has."""
    statement = select(_TEXTS.content_sha256).where(_TEXTS.model_id == model_id, _TEXTS.content_sha256.in_(digests))
    return set(digests).difference(connection.execute(statement).scalars())


def add(connection: Connection, model_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add texts to a locked model, which has none of them."""
    connection.execute(insert_into(tables.texts), [{"model_id": model_id, **each} for each in rows])


def find(connection: Connection, model_id: int, text_id: int) -> UnlabelledText | None:
    """The text of a model with this id."""

    def read() -> UnlabelledText | None:
        row = connection.execute(_SHOWN.where(_TEXTS.model_id == model_id, _TEXTS.id == text_id)).one_or_none()
        return None if row is None else _text(row)

    return one_of(read, "The text")


def page(connection: Connection, model_id: int, asked: PageRequest[int], *, after: int) -> ListingRows[UnlabelledText]:
    """The texts of a page with ids above `after`, by id."""
    statement = asked.select(_SHOWN.where(_TEXTS.model_id == model_id, _TEXTS.id > after), _TEXTS.id)
    return read_listing(
        connection,
        statement,
        key=_TEXTS.id,
        position=_TEXTS.id,
        all_at_once=lambda: [_text(row) for row in connection.execute(statement)],
        one=lambda row_id: _text(connection.execute(_SHOWN.where(_TEXTS.id == row_id)).one()),
        position_of=lambda each: each.id,
    )


def remove(connection: Connection, model_id: int, ids: Collection[int] | None = None) -> int:
    """Delete texts of a model with the decisions about them, all or those with these ids; return their number."""
    statement = delete(tables.texts).where(_TEXTS.model_id == model_id)
    removed: int = connection.execute(statement if ids is None else statement.where(_TEXTS.id.in_(ids))).rowcount
    return removed


# ---- decisions -------------------------------------------------------------------------------------------------------


def decisions(
    connection: Connection, model_id: int, asked: PageRequest[int], *, person: str | None
) -> ListingRows[TextDecision]:
    """The decisions of a page, by id; with a `person`, only theirs."""
    shown = _of_model(model_id) if person is None else _of_model(model_id).where(_DECISIONS.person == person)
    statement = asked.select(shown, _DECISIONS.id)
    return read_listing(
        connection,
        statement,
        key=_DECISIONS.id,
        position=_DECISIONS.id,
        all_at_once=lambda: [_decision(row) for row in connection.execute(statement)],
        one=lambda row_id: _decision(connection.execute(_DECIDED.where(_DECISIONS.id == row_id)).one()),
        position_of=lambda each: each.id,
    )


def decided(connection: Connection, text_id: int, trait: str, person: str) -> StoredDecision | None:
    """What a person decided about a text and a trait."""
    columns = (_DECISIONS[name] for name in StoredDecision.__dataclass_fields__)
    row = connection.execute(select(*columns).where(*_one(text_id, trait, person))).one_or_none()
    return None if row is None else StoredDecision(*row)


def decision(connection: Connection, decision_id: int) -> TextDecision:
    """One decision as the API shows it."""
    statement = _DECIDED.where(_DECISIONS.id == decision_id)
    return one_of(lambda: _decision(connection.execute(statement).one()), "The decision")


def decide(connection: Connection, text_id: int, trait: str, person: str, values: Mapping[str, Any]) -> TextDecision:
    """Store the other columns of a decision, which replaces the one before."""
    own = {"text_id": text_id, "trait": trait, "person": person}
    statement = insert(connection, tables.decisions).values(**own, **values)
    statement = statement.on_conflict_do_update(index_elements=[*own], set_=values).returning(_DECISIONS.id)
    return decision(connection, connection.execute(statement).scalar_one())


def take_back(connection: Connection, decision_id: int) -> None:
    """Remove a decision."""
    connection.execute(delete(tables.decisions).where(_DECISIONS.id == decision_id))


def _of_model(model_id: int) -> Select[Any]:
    return _DECIDED.join(tables.texts, _TEXTS.id == _DECISIONS.text_id).where(_TEXTS.model_id == model_id)


def _one(text_id: int, trait: str, person: str) -> tuple[Any, ...]:
    return _DECISIONS.text_id == text_id, _DECISIONS.trait == trait, _DECISIONS.person == person


def _text(row: Row[Any]) -> UnlabelledText:
    return UnlabelledText(**row._mapping)


def _decision(row: Row[Any]) -> TextDecision:
    return TextDecision(**row._mapping)

"""Queries on models. A page takes five queries, however many models it shows."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import (
    JSON,
    Column,
    ColumnElement,
    Connection,
    Row,
    Select,
    bindparam,
    func,
    select,
    type_coerce,
    update,
)
from sqlalchemy.types import NullType

from traitbench.contract.models import (
    ForkedFrom,
    LastOperation,
    Model,
    OperationError,
    Progress,
    RetrainRule,
    State,
    VersionRetentionPolicy,
)
from traitbench.store import tables
from traitbench.store.cursors import PageRequest
from traitbench.store.database import insert
from traitbench.store.rows import ListingRows, one_of, read_listing, readable

_MODELS = tables.models.c
_RUNS = tables.runs.c
_HELD = tables.versions.alias("held")
_LAST_RUN = (
    _RUNS.id.label("last_run_id"),
    _RUNS.kind.label("run_kind"),
    _RUNS.status.label("run_status"),
    _RUNS.created_at.label("run_started_at"),
    _RUNS.progress.label("run_progress"),
    _RUNS.error_code.label("run_error_code"),
    _RUNS.error_message.label("run_error_message"),
)
_OWN = [name for name in Model.model_fields if name in _MODELS and name not in ("forked_from", "demo_texts")]
# A response reads only these columns: damage elsewhere in the row must not hide the model.
_SHOWN = (*_OWN, "id", "active_version_id", "forked_from", "forked_from_version_no", "demo_texts")
_CHECKS: Mapping[str, TypeAdapter[Any]] = {
    "archived_at": TypeAdapter(datetime | None),
    "upstream_sources": TypeAdapter(list[dict[str, Any]] | None),
    "version_retention_policy": TypeAdapter(VersionRetentionPolicy | None),
    "demo_texts": TypeAdapter(list[str] | None),
}


@dataclass(frozen=True)
class ModelRow:
    """The fields of a model that rules need."""

    id: int
    handle: str
    state: State
    scoring_method: str
    max_depth: int
    active_version_id: int | None
    run_id: str | None
    zero_data_retention: bool
    hold_if_worse: bool
    language_model_allowed: bool
    held_version_id: int | None
    held_up_to: int | None


@dataclass(frozen=True)
class Archived:
    """Since when a model is archived, and from which state; both are None unless it is archived."""

    archived_at: datetime | None
    archived_from: State | None


@dataclass(frozen=True)
class Presentation:
    """How a model is shown: the key of its main trait, and texts to demonstrate it with; None if not chosen."""

    main_trait: str | None
    demo_texts: list[str] | None


@dataclass(frozen=True)
class Lineage:
    """What a fork was made from: the model, its active version, its last version and its last sample at that time.

    All are None if the model is not a fork, and the last two also if it was imported.
    """

    forked_from: str | None
    forked_from_version_no: int | None
    forked_after_version_no: int | None
    forked_up_to: int | None


# Built once: building a statement takes three times as long as executing it, and every score executes one.
_ROWS = select(*(tables.models.c[name] for name in ModelRow.__dataclass_fields__))
_BY_HANDLE = _ROWS.where(_MODELS.handle == bindparam("handle"))
_BY_ID = _ROWS.where(_MODELS.id == bindparam("id"))
_HELD_BY_HANDLE = _BY_HANDLE.with_for_update()
_HELD_BY_ID = _BY_ID.with_for_update()


def find(connection: Connection, handle: str) -> ModelRow | None:
    """The model with this handle."""
    return _row(connection, _BY_HANDLE, handle=handle)


def find_by_id(connection: Connection, model_id: int) -> ModelRow | None:
    """The model with this id."""
    return _row(connection, _BY_ID, id=model_id)


def hold(connection: Connection, handle: str) -> ModelRow | None:
    """The model with this handle, locked until the transaction ends."""
    return _row(connection, _HELD_BY_HANDLE, handle=handle)


def hold_by_id(connection: Connection, model_id: int) -> ModelRow | None:
    """Lock a model as `hold` does, by its id."""
    return _row(connection, _HELD_BY_ID, id=model_id)


def add(connection: Connection, *, handle: str, namespace: str, now: datetime, **fields: Any) -> int | None:
    """Insert a draft; return its id, or None if the handle is taken."""
    statement = insert(connection, tables.models).values(
        handle=handle, namespace=namespace, state="draft", created_at=now, updated_at=now, **fields
    )
    added = connection.execute(statement.on_conflict_do_nothing(index_elements=["handle"]).returning(_MODELS.id))
    model_id: int | None = added.scalar_one_or_none()
    return model_id


def change(connection: Connection, model_id: int, *, now: datetime, **fields: Any) -> None:
    """Set fields of a model."""
    connection.execute(update(tables.models).where(_MODELS.id == model_id).values(updated_at=now, **fields))


def move(connection: Connection, model: ModelRow, state: State, *, now: datetime, **fields: Any) -> bool:
    """Move a model to another state; False if it is no longer in the state in which it was read."""
    statement = update(tables.models).where(_MODELS.id == model.id, _MODELS.state == model.state)
    moved: int = connection.execute(statement.values(state=state, updated_at=now, **fields)).rowcount
    return moved == 1


def archive(connection: Connection, model: ModelRow, *, now: datetime, restored_as: State) -> None:
    """Archive a model; `restored_as` is the state that `restore` brings back."""
    move(connection, model, "archived", now=now, archived_at=now, archived_from=restored_as)


def restore(connection: Connection, model: ModelRow, *, now: datetime) -> None:
    """Move an archived model back to the state that it was archived from."""
    state = archived(connection, model.id).archived_from
    # 0.2.0 did not record the state.
    usual: State = "draft" if model.active_version_id is None else "ready"
    move(connection, model, state or usual, now=now, archived_at=None, archived_from=None)


def archived(connection: Connection, model_id: int) -> Archived:
    """Since when a model is archived, and from which state."""
    columns = (_MODELS[name] for name in Archived.__dataclass_fields__)
    return Archived(*connection.execute(select(*columns).where(_MODELS.id == model_id)).one())


def reset_main_trait(connection: Connection, model_id: int, key: str) -> None:
    """Reset the main trait of a model if it is the trait with this key."""
    chosen = (_MODELS.id == model_id, _MODELS.main_trait == key)
    connection.execute(update(tables.models).where(*chosen).values(main_trait=None))


def presentation(connection: Connection, model_id: int) -> Presentation:
    """How a model is shown."""
    columns = (_MODELS[name] for name in Presentation.__dataclass_fields__)
    return Presentation(*connection.execute(select(*columns).where(_MODELS.id == model_id)).one())


def under_zero_retention(connection: Connection) -> frozenset[str]:
    """The handles of all models under zero data retention, archived or not."""
    return frozenset(connection.execute(select(_MODELS.handle).where(_MODELS.zero_data_retention)).scalars())


def unsettled_purges(connection: Connection) -> dict[int, Any]:
    """The models with a purge that is not settled, and the time of that purge as it is stored.

    Their purged samples may still be in the database's files. The time may be damaged; the purge has to be settled all
    the same.
    """
    since = type_coerce(_MODELS.unsettled_purge, NullType())
    statement = select(_MODELS.id, since.label("since")).where(_MODELS.unsettled_purge.is_not(None))
    return {row.id: row.since for row in connection.execute(statement)}


def purge_settled(connection: Connection, model_id: int, since: Any) -> None:
    """Mark a purge as settled, unless there was a later one."""
    then = (_MODELS.id == model_id, type_coerce(_MODELS.unsettled_purge, NullType()) == since)
    connection.execute(update(tables.models).where(*then).values(unsettled_purge=None))


def next_version_no(connection: Connection, model_id: int) -> int:
    """Reserve the next version number and return it."""
    statement = update(tables.models).where(_MODELS.id == model_id).values(versions_made=_MODELS.versions_made + 1)
    number: int = connection.execute(statement.returning(_MODELS.versions_made)).scalar_one()
    return number


def versions_made(connection: Connection, model_id: int) -> int:
    """The number of the last version that was made, which may have been deleted since."""
    number: int = connection.execute(select(_MODELS.versions_made).where(_MODELS.id == model_id)).scalar_one()
    return number


def lineage(connection: Connection, model_id: int) -> Lineage:
    """What a model was forked from."""
    columns = (_MODELS[name] for name in Lineage.__dataclass_fields__)
    return Lineage(*connection.execute(select(*columns).where(_MODELS.id == model_id)).one())


def forks(connection: Connection, handle: str) -> frozenset[str]:
    """The handles of a model's forks, of their forks and so on, and of other models that were promoted to it."""
    handles: set[str] = set()
    new = {handle}
    while new:
        statement = select(_MODELS.handle).where(_MODELS.forked_from.in_(new))
        new = {*connection.execute(statement).scalars()} - handles - {handle}
        handles |= new
    return frozenset((handles | _promoted(connection, handle)) - {handle})


def _promoted(connection: Connection, handle: str) -> set[str]:
    """The handles of the models whose versions became versions of this one, as far as these are kept."""
    versions = tables.versions.c
    own = select(versions.id).join(tables.models, _MODELS.id == versions.model_id)
    taken_over = own.where(_MODELS.handle == handle, versions.triggered_by == "backfill")
    promoted = set()
    for version_id in connection.execute(taken_over).scalars().all():
        metrics = readable(partial(connection.scalar, select(versions.metrics).where(versions.id == version_id)))
        origin = (metrics or {}).get("promoted_from") or {}
        promoted |= {origin["handle"]} if isinstance(origin.get("handle"), str) else set()
    return promoted


def archived_among(connection: Connection, handles: Collection[str], namespaces: Collection[str]) -> list[int]:
    """The ids of those models that are archived and in one of these namespaces, ascending."""
    statement = select(_MODELS.id).where(_MODELS.handle.in_(handles), _MODELS.namespace.in_(namespaces))
    return list(connection.execute(statement.where(_MODELS.state == "archived").order_by(_MODELS.id)).scalars())


def version_retention_policy(connection: Connection, model_id: int) -> Mapping[str, Any] | None:
    """The policy that the model was given, if any; raise `UnreadableRow` if it is damaged."""
    statement = select(_MODELS.version_retention_policy).where(_MODELS.id == model_id)
    policy: Mapping[str, Any] | None = connection.execute(statement).scalar_one()
    return policy


def clear_damage(connection: Connection, model_id: int, *, now: datetime) -> None:
    """Clear the sources, the policy, the last run and other parts of a model where damaged: a response needs them."""
    reads = {name: partial(_checked, connection, model_id, name) for name in _CHECKS}
    reads["run_id"] = partial(_last_operation_of, connection, model_id)
    if damaged := [name for name, read in reads.items() if readable(read) is None]:
        change(connection, model_id, now=now, **dict.fromkeys(damaged))


def _checked(connection: Connection, model_id: int, name: str) -> tuple[Any]:
    stored = connection.execute(select(_MODELS[name]).where(_MODELS.id == model_id)).scalar_one()
    return (_CHECKS[name].validate_python(stored),)


def _last_operation_of(connection: Connection, model_id: int) -> tuple[LastOperation | None]:
    statement: Select[Any] = (
        _shown().with_only_columns(*_LAST_RUN, maintain_column_froms=True).where(_MODELS.id == model_id)
    )
    return (_last_operation(connection.execute(statement).one()),)


def read(connection: Connection, model_id: int) -> Model:
    """One model as the API shows it, but for the rule of its retrains, which depends on settings."""
    return one_of(lambda: _models(connection, _shown().where(_MODELS.id == model_id))[0], "The model")


def page(
    connection: Connection,
    asked: PageRequest[str],
    *,
    namespaces: Collection[str],
    state: str | None,
    kind: str | None,
    forks_of: str | None = None,
) -> ListingRows[Model]:
    """The models of a page, by handle; archived ones only if they are asked for, or as forks of a model."""
    statement = asked.select(_shown().where(_MODELS.namespace.in_(namespaces)), _MODELS.handle)
    if forks_of is not None:
        statement = statement.where(_MODELS.handle.in_(forks(connection, forks_of)))
    if state:
        statement = statement.where(_MODELS.state == state)
    elif forks_of is None:
        statement = statement.where(_MODELS.state != "archived")
    if kind:
        statement = statement.where(_MODELS.kind == kind)
    return read_listing(
        connection,
        statement,
        key=_MODELS.id,
        position=_MODELS.handle,
        all_at_once=lambda: _models(connection, statement),
        one=lambda model_id: read(connection, model_id),
        position_of=lambda model: model.handle,
    )


def _row(connection: Connection, statement: Select[Any], **asked: Any) -> ModelRow | None:
    row = connection.execute(statement, asked).one_or_none()
    return None if row is None else ModelRow(*row)


def _shown() -> Select[Any]:
    shown = (_MODELS[name] for name in _SHOWN)
    return (
        select(*shown, tables.versions.c.version_no, _HELD.c.version_no.label("held_version_no"), *_LAST_RUN)
        .outerjoin(tables.versions, tables.versions.c.id == _MODELS.active_version_id)
        .outerjoin(_HELD, _HELD.c.id == _MODELS.held_version_id)
        .outerjoin(tables.runs, _RUNS.id == _MODELS.run_id)
    )


def _models(connection: Connection, statement: Select[Any]) -> list[Model]:
    rows = connection.execute(statement).all()
    trait_names = _names(connection, tables.traits.c.model_id, tables.traits.c.name, [row.id for row in rows])
    tags = _names(connection, tables.tags.c.version_id, tables.tags.c.name, [row.active_version_id for row in rows])
    pending = _pending(connection, [row.id for row in rows])
    return [_model(row, trait_names, tags, pending.get(row.id, 0)) for row in rows]


def _pending(connection: Connection, ids: Sequence[int]) -> Mapping[int, int]:
    """How much feedback waits, by model."""
    owner = tables.samples.c.model_id
    waiting = select(owner, func.count()).where(owner.in_(ids), tables.samples.c.pending).group_by(owner)
    return {row[0]: row[1] for row in connection.execute(waiting)}


def _names(connection: Connection, owner: Any, name: Any, ids: Sequence[int | None]) -> Mapping[int | None, list[str]]:
    names: dict[int | None, list[str]] = defaultdict(list)
    order = tables.TRAIT_ORDER if name is tables.traits.c.name else name
    statement = select(owner, name).where(owner.in_([id for id in ids if id])).order_by(order)
    if name is tables.traits.c.name:
        statement = statement.where(tables.LISTED_TRAIT)
    for row in connection.execute(statement):
        names[row[0]].append(row[1])
    return names


def _model(
    row: Row[Any], traits: Mapping[int | None, list[str]], tags: Mapping[int | None, list[str]], pending: int
) -> Model:
    return Model(
        **{name: getattr(row, name) for name in (*_OWN, "version_no", "held_version_no")},
        traits=traits.get(row.id, []),
        current_version_id=row.active_version_id,
        version_tags=tags.get(row.active_version_id, []),
        last_operation=_last_operation(row),
        forked_from=row.forked_from and ForkedFrom(handle=row.forked_from, version_no=row.forked_from_version_no),
        demo_texts=row.demo_texts or [],
        retrain=RetrainRule(after_samples=None, after_seconds=None, pending=pending, due_at=None),
    )


def _last_operation(row: Row[Any]) -> LastOperation | None:
    if row.last_run_id is None:
        return None
    error = row.run_error_code and OperationError(code=row.run_error_code, message=row.run_error_message)
    return LastOperation(
        kind=row.run_kind,
        status=row.run_status,
        started_at=row.run_started_at,
        run_id=row.last_run_id,
        progress=row.run_progress and Progress.model_validate(row.run_progress),
        error=error or None,
    )


_OWNERS = {
    tables.models: tables.models.c.id,
    tables.traits: tables.traits.c.model_id,
    tables.versions: tables.versions.c.model_id,
    tables.runs: tables.runs.c.model_id,
}


def clear(connection: Connection, model_id: int) -> None:
    """Empty every column with damaged JSON in the rows of a model."""
    for table, owner in _OWNERS.items():
        for column in table.columns:
            if isinstance(column.type, JSON) and not _is_readable(connection, column, owner == model_id):
                _clear(connection, column, owner == model_id)


def _clear(connection: Connection, column: Column[Any], chosen: ColumnElement[bool]) -> None:
    table, empty = column.table, None if column.nullable else dict[str, Any]()
    for row_id in connection.execute(select(table.c.id).where(chosen)).scalars().all():
        if not _is_readable(connection, column, table.c.id == row_id):
            connection.execute(update(table).where(table.c.id == row_id).values({column.name: empty}))


def _is_readable(connection: Connection, column: Column[Any], chosen: ColumnElement[bool]) -> bool:
    return readable(lambda: connection.execute(select(column).where(chosen)).all()) is not None

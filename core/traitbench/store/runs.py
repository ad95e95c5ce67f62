"""Queries on runs: our own record of every long operation. Requests read only this record, not the engine's.

Every write of an execution includes its owner: the fencing token that it got when it claimed the run. If the run was
cancelled, or claimed by another execution, the write matches no row, which is how the execution finds out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import BigInteger, Connection, Row, Select, case, func, select, text, type_coerce, update
from sqlalchemy import insert as insert_into

from traitbench.contract.models import OperationKind, OperationStatus
from traitbench.store import run_texts, tables
from traitbench.store.rows import ListingRows, read_listing, readable

_RUNS = tables.runs.c
_LIVE = ("queued", "running")
_MODELS = tables.models.c


def _us(moment: Any) -> Any:
    """A time as the whole microseconds that are stored."""
    return type_coerce(moment, BigInteger)


Outcome = Literal["queued", "running", "succeeded", "failed", "cancelled"]
Which = Literal["live", "unrepaired", "ended"]


@dataclass(frozen=True)
class RunRow:
    """The fields of a run that rules and executions need."""

    id: str
    model_id: int
    kind: OperationKind
    effort: str
    run_key: str
    options: Mapping[str, Any]
    status: OperationStatus
    attempts: int
    strikes: int
    struck_at: Mapping[str, Any] | None
    finished_at: datetime | None
    requested_by: str | None


@dataclass(frozen=True)
class Tally:
    """Runs of one kind with one outcome: their number, and their total time from request to end in seconds."""

    kind: OperationKind
    outcome: Outcome
    count: int
    seconds: float


@dataclass(frozen=True)
class Listed:
    """A run as an operator sees it."""

    id: str
    handle: str
    kind: OperationKind
    effort: str
    options: Mapping[str, Any]
    status: OperationStatus
    progress: Mapping[str, Any] | None
    error_code: str | None
    error_message: str | None
    attempts: int
    created_at: datetime
    finished_at: datetime | None


def add(
    connection: Connection,
    run_id: str,
    *,
    model_id: int,
    kind: OperationKind,
    effort: str,
    now: datetime,
    run_key: str = "",
    options: Mapping[str, Any] | None = None,
    requested_by: str | None = None,
) -> None:
    """Insert a queued run.

    Runs with equal `run_key` do the same work; `options` are its parameters besides the effort. `requested_by` is the
    name of the key that asked for it.
    """
    asked: dict[str, Any] = {"kind": kind, "effort": effort, "run_key": run_key, "options": dict(options or {})}
    asked["requested_by"] = requested_by
    connection.execute(
        insert_into(tables.runs).values(id=run_id, model_id=model_id, status="queued", created_at=now, **asked)
    )


def read(connection: Connection, run_id: str) -> RunRow | None:
    """The run with this id."""
    row = connection.execute(_rows().where(_RUNS.id == run_id)).one_or_none()
    return None if row is None else RunRow(*row)


def same(connection: Connection, model_id: int, run_key: str) -> RunRow | None:
    """The live run with this key, else the newest that has succeeded: a failed one may be repeated.

    A run that succeeded may be dated after the live one, by a clock that was wrong. See core/docs/contract.md, section
    5.
    """
    statement = _rows().where(_RUNS.model_id == model_id, _RUNS.run_key == run_key, _RUNS.status != "failed")
    newest = (_RUNS.status == "succeeded", _RUNS.created_at.desc())
    row = connection.execute(statement.order_by(*newest).limit(1)).one_or_none()
    return None if row is None else RunRow(*row)


def live(connection: Connection) -> list[RunRow]:
    """The runs that have not ended.

    If options cannot be read they are left out, because such a run has to be settled too.
    """
    alive = _rows().where(_RUNS.status.in_(_LIVE))
    if (rows := readable(lambda: [RunRow(*row) for row in connection.execute(alive)])) is not None:
        return rows
    return [_safe_row(row) for row in connection.execute(alive.with_only_columns(*_SAFE_COLUMNS))]


def read_to_end(connection: Connection, run_id: str) -> RunRow | None:
    """The run with this id, if it has not ended; without its options and strikes, which may be damaged."""
    statement = select(*_SAFE_COLUMNS).where(_RUNS.id == run_id, _RUNS.status.in_(_LIVE))
    row = connection.execute(statement).one_or_none()
    return None if row is None else _safe_row(row)


_DAMAGEABLE: Mapping[str, Any] = {"options": {}, "struck_at": None, "finished_at": None, "requested_by": None}
_SAFE_COLUMNS = [_RUNS[name] for name in RunRow.__dataclass_fields__ if name not in _DAMAGEABLE]


def _safe_row(row: Row[Any]) -> RunRow:
    return RunRow(**row._mapping, **_DAMAGEABLE)


_OUTCOME = case((_RUNS.error_code == "cancelled", "cancelled"), else_=_RUNS.status)
# If a clock was set back between the two, the run took 0 seconds.
_TOOK = case((_RUNS.finished_at > _RUNS.created_at, _us(_RUNS.finished_at) - _us(_RUNS.created_at)), else_=0)
_TALLY = select(_RUNS.kind, _OUTCOME, func.count(), func.sum(_TOOK)).group_by(_RUNS.kind, _OUTCOME)


def tally(connection: Connection) -> list[Tally]:
    """The number and the total time of all runs, by kind and outcome."""
    return [Tally(row[0], row[1], row[2], float(row[3] or 0) / 1_000_000) for row in connection.execute(_TALLY)]


def listed(connection: Connection, which: Which, *, limit: int) -> ListingRows[Listed]:
    """Runs with the handles of their models, newest first.

    `unrepaired` are failed runs that are still the last operation of a model that is not archived; a cancelled run has
    not failed.
    """
    columns = [_RUNS[name] for name in Listed.__dataclass_fields__ if name != "handle"]
    statement = select(_MODELS.handle, *columns).join(tables.models, _MODELS.id == _RUNS.model_id)
    conditions = {
        "live": (_RUNS.status.in_(_LIVE),),
        "ended": (_RUNS.status.not_in(_LIVE),),
        "unrepaired": (_OUTCOME == "failed", _MODELS.run_id == _RUNS.id, _MODELS.state != "archived"),
    }[which]
    newest = (_RUNS.created_at.desc(), _RUNS.id.desc())
    statement = statement.where(*conditions).order_by(*newest).limit(limit)
    return read_listing(
        connection,
        statement,
        key=_RUNS.id,
        position=_RUNS.id,
        all_at_once=lambda: [_listed(row) for row in connection.execute(statement)],
        one=lambda run_id: _listed(connection.execute(statement.where(_RUNS.id == run_id)).one()),
        position_of=lambda run: run.id,
    )


def _listed(row: Row[Any]) -> Listed:
    return Listed(**row._mapping)


def claim(connection: Connection, run_id: str, owner: str) -> RunRow | None:
    """Make `owner` the owner of a run; None if the run has ended."""
    statement = update(tables.runs).where(_RUNS.id == run_id, _RUNS.status.in_(_LIVE))
    connection.execute(statement.values(owner=owner, status="running", attempts=_RUNS.attempts + 1))
    run = read(connection, run_id)
    return run if run and run.status in _LIVE else None


def strike(connection: Connection, run_id: str, *, strikes: int, item: Mapping[str, Any]) -> None:
    """Record how often a run has brought its worker down at a item."""
    statement = update(tables.runs).where(_RUNS.id == run_id, _RUNS.status.in_(_LIVE))
    connection.execute(statement.values(strikes=strikes, struck_at=dict(item)))


def struck_at(connection: Connection, run_id: str) -> Any:
    """The place of a run's last strike, as `strike` wrote it; None if there is none or it is damaged."""
    return readable(lambda: connection.execute(select(_RUNS.struck_at).where(_RUNS.id == run_id)).scalar_one())


def begin_again(connection: Connection, run_id: str) -> None:
    """Reset a run that has not ended to queued."""
    statement = update(tables.runs).where(_RUNS.id == run_id, _RUNS.status.in_(_LIVE))
    fresh = {"status": "queued", "owner": None, "attempts": 0, "strikes": 0, "struck_at": None, "progress": None}
    connection.execute(statement.values(fresh))


def oldest_queued(connection: Connection) -> datetime | None:
    """When the run that has waited longest was queued; None if no run is queued, or that time is damaged."""
    # This condition must have the same text as that of the index on live runs, so that SQLite uses the index.
    live = text("status IN ('queued', 'running')")
    statement = select(func.min(_RUNS.created_at)).where(live, _RUNS.status == "queued")
    return readable(lambda: connection.execute(statement).scalar_one())


def progress(connection: Connection, run_id: str, owner: str, progress: Mapping[str, Any]) -> bool:
    """Record the progress of a run; False if the owner has lost it."""
    return _write(connection, run_id, owner, progress=dict(progress))


def succeed(connection: Connection, run_id: str, owner: str, *, progress: Mapping[str, Any], now: datetime) -> bool:
    """Mark a run as succeeded and delete its texts; False if the owner has lost it."""
    return _end(connection, run_id, owner, status="succeeded", progress=dict(progress), finished_at=now)


def change_key(connection: Connection, run_id: str, run_key: str) -> None:
    """Set the key of a run to what a repeat of it has from now on."""
    connection.execute(update(tables.runs).where(_RUNS.id == run_id).values(run_key=run_key))


def fail(
    connection: Connection, run_id: str, *, code: str, message: str, now: datetime, owner: str | None = None
) -> bool:
    """Mark a run as failed and delete its texts; False if it has already ended, or if `owner` has lost it."""
    return _end(connection, run_id, owner, status="failed", error_code=code, error_message=message, finished_at=now)


def _end(connection: Connection, run_id: str, owner: str | None, **values: Any) -> bool:
    ended = _write(connection, run_id, owner, **values)
    if ended:
        run_texts.forget(connection, run_id)
    return ended


def _rows() -> Select[Any]:
    return select(*(_RUNS[name] for name in RunRow.__dataclass_fields__))


def _write(connection: Connection, run_id: str, owner: str | None, **values: Any) -> bool:
    conditions: Sequence[Any] = [_RUNS.id == run_id, _RUNS.status.in_(_LIVE)]
    if owner is not None:
        conditions = [*conditions, _RUNS.owner == owner]
    written: int = connection.execute(update(tables.runs).where(*conditions).values(**values)).rowcount
    return written == 1

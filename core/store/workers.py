"""Questions about the processes that execute runs: who was seen when, by the database's clock."""

from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, or_, select, update

from traitbench.store import tables
from traitbench.store.engine import database_now, insert

_WORKERS = tables.workers.c


@dataclass(frozen=True)
class Seen:
    """A worker, and the seconds since it was seen."""

    executor_id: str
    age_s: float


def enter(connection: Connection, executor_id: str) -> None:
    """A worker begins."""
    now = database_now(connection.dialect)
    statement = insert(connection, tables.workers).values(executor_id=executor_id, seen_at=now)
    connection.execute(statement.on_conflict_do_update(index_elements=["executor_id"], set_={"seen_at": now}))


def seen(connection: Connection, executor_id: str) -> bool:
    """A worker lives; False when it was taken for dead."""
    statement = update(tables.workers).where(_WORKERS.executor_id == executor_id)
    written: int = connection.execute(statement.values(seen_at=database_now(connection.dialect))).rowcount
    return written == 1


def leave(connection: Connection, executor_id: str) -> None:
    """A worker ends: whoever looks next takes over what it leaves."""
    connection.execute(update(tables.workers).where(_WORKERS.executor_id == executor_id).values(seen_at=0))


def bury(connection: Connection, *, after_seconds: float) -> list[str]:
    """Remove the workers not seen for so long; each is removed, and answered, once among all who ask.

    One seen as far in the future was seen before the clock was set back, and by now it would have been seen again.
    """
    now, patience = database_now(connection.dialect), int(after_seconds * 1_000_000)
    absent = or_(_WORKERS.seen_at < now - patience, _WORKERS.seen_at > now + patience)
    statement = delete(tables.workers).where(absent).returning(_WORKERS.executor_id)
    return list(connection.execute(statement).scalars())


def known(connection: Connection) -> set[str]:
    """The workers that are not taken for dead."""
    return set(connection.execute(select(_WORKERS.executor_id)).scalars())


def ages(connection: Connection) -> list[Seen]:
    """Every worker with its last sign of life, the latest first; one that has left counts no more.

    A sign from the future is one from before the clock was set back: as old as it is far away.
    """
    age = func.abs(database_now(connection.dialect) - _WORKERS.seen_at)
    found = connection.execute(select(_WORKERS.executor_id, age).where(_WORKERS.seen_at > 0).order_by(age))
    return [Seen(row[0], float(row[1]) / 1_000_000) for row in found]

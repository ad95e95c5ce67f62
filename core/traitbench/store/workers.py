"""Queries on the processes that execute runs, by the database's clock, and on the database's size."""

from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, or_, select, text, update

from traitbench.store import tables
from traitbench.store.database import database_now, insert

_WORKERS = tables.workers.c


@dataclass(frozen=True)
class WorkerHeartbeat:
    """A worker, and the seconds since its last heartbeat."""

    executor_id: str
    age_s: float


def enter(connection: Connection, executor_id: str) -> None:
    """Register a worker."""
    now = database_now(connection.dialect)
    statement = insert(connection, tables.workers).values(executor_id=executor_id, seen_at=now)
    connection.execute(statement.on_conflict_do_update(index_elements=["executor_id"], set_={"seen_at": now}))


def seen(connection: Connection, executor_id: str) -> bool:
    """Record a heartbeat; False if the worker was taken for dead."""
    statement = update(tables.workers).where(_WORKERS.executor_id == executor_id)
    written: int = connection.execute(statement.values(seen_at=database_now(connection.dialect))).rowcount
    return written == 1


def leave(connection: Connection, executor_id: str) -> None:
    """Mark a worker as ended, so that the next check takes over its runs."""
    connection.execute(update(tables.workers).where(_WORKERS.executor_id == executor_id).values(seen_at=0))


def expire(connection: Connection, *, after_seconds: float) -> list[str]:
    """Remove the workers without a heartbeat for that long, and return them; each is returned to one caller only.

    A heartbeat that far in the future was sent before the clock was set back; a live worker would have sent another one
    since.
    """
    now, patience = database_now(connection.dialect), int(after_seconds * 1_000_000)
    absent = or_(_WORKERS.seen_at < now - patience, _WORKERS.seen_at > now + patience)
    statement = delete(tables.workers).where(absent).returning(_WORKERS.executor_id)
    return list(connection.execute(statement).scalars())


def known(connection: Connection) -> set[str]:
    """The workers that are not taken for dead."""
    return set(connection.execute(select(_WORKERS.executor_id)).scalars())


def ages(connection: Connection) -> list[WorkerHeartbeat]:
    """Every worker and the age of its last heartbeat, the most recent first; workers that have left are not included.

    A heartbeat from the future was sent before the clock was set back; its distance from now counts as its age.
    """
    age = func.abs(database_now(connection.dialect) - _WORKERS.seen_at)
    rows = connection.execute(select(_WORKERS.executor_id, age).where(_WORKERS.seen_at > 0).order_by(age))
    return [WorkerHeartbeat(row[0], float(row[1]) / 1_000_000) for row in rows]


_SIZE = {
    # A page that is both in the file and in the log counts once: this is the file's size once the log is written back.
    "sqlite": text("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"),
    "postgresql": text("SELECT pg_database_size(current_database())"),
}
_COUNTED = {"models": tables.models, "versions": tables.versions, "samples": tables.samples}


def size(connection: Connection) -> int:
    """Bytes of the database."""
    return int(connection.execute(_SIZE[connection.dialect.name]).scalar_one())


def rows(connection: Connection) -> dict[str, int]:
    """How many models (archived ones too), versions and samples there are."""
    counted = {name: select(func.count()).select_from(table) for name, table in _COUNTED.items()}
    return {name: connection.execute(statement).scalar_one() for name, statement in counted.items()}

"""Makes an idle worker cheap: the run engine looks for work only if a run is queued.

Left alone, the engine builds and executes its large query for the next run at every poll, and reads the settings of its
queues each time. Here a small query comes first, which usually finds that nothing is queued. How runs are taken from
the queue stays the engine's own affair.
"""

from collections.abc import Callable
from time import monotonic
from typing import Any, TypeVar

from dbos import DBOS, DBOSClient, _workflow_commands
from dbos._sys_db import SystemDatabase
from dbos._sys_db_postgres import PostgresSystemDatabase
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

_T = TypeVar("_T")

# The engine starts delayed runs and cancels late ones every second. Our runs are never delayed, and have no deadline.
_ENGINE_JOBS_SECONDS = 30.0
_SETTINGS_KEPT_SECONDS = 30.0

# SQLite uses the engine's partial index only if the query repeats its condition.
_QUEUED = """
    SELECT 1 FROM {schema}workflow_status
    WHERE queue_name = :queue AND status = 'ENQUEUED' AND status IN ('ENQUEUED', 'PENDING') LIMIT 1
"""


def slow_down_jobs() -> None:
    """Let the engine's own periodic jobs run rarely; call this before the engine starts.

    On PostgreSQL the engine would lock them in a transaction that lasts until the next time, and that the server ends
    after five seconds. Two workers may do these jobs at once: each is one statement that changes nothing twice.
    """
    _workflow_commands._BACKGROUND_JOBS_INTERVAL_SEC = _ENGINE_JOBS_SECONDS
    PostgresSystemDatabase.background_job_lock = SystemDatabase.background_job_lock  # type: ignore[method-assign]


def ask_before_polling(dbos: DBOS | DBOSClient) -> None:
    """Let the engine look for work only if a run is queued; call this once the queues are registered."""
    database = dbos._sys_db
    schema, engine = "", database.engine
    if database.schema:
        # Without a transaction, there is one message to the server instead of three.
        schema, engine = f"{database.schema}.", engine.execution_options(isolation_level="AUTOCOMMIT")
    query = text(_QUEUED.format(schema=schema))
    places = database.dequeue_scopes

    def with_work(queue_name: str) -> list[str | None]:
        try:
            with engine.connect() as connection:
                queued = connection.execute(query, {"queue": queue_name}).first() is not None
        except SQLAlchemyError:
            queued = True  # the engine asks too, and reports what is wrong
        return places(queue_name) if queued else []

    # These methods are not part of the engine's public interface, so its minor version is pinned and a test notices
    # when they are no longer called. In return, an idle worker takes 0.6 % of a core instead of 3.5 % (SQLite). A
    # notification (LISTEN) would have to be sent wherever a run is queued; a query sees them all.
    database.dequeue_scopes = with_work  # type: ignore[method-assign]
    database.get_queue = _kept(database.get_queue)  # type: ignore[method-assign]
    database.list_queues = _kept(database.list_queues)  # type: ignore[method-assign]


def _kept(read: Callable[..., _T]) -> Callable[..., _T]:
    """A function that returns what `read` returned for the same arguments, if that is not too old."""
    known: dict[Any, tuple[float, _T]] = {}

    def answer(*arguments: Any, **options: Any) -> _T:
        key = (arguments, tuple(options.items()))
        if key not in known or monotonic() - known[key][0] >= _SETTINGS_KEPT_SECONDS:
            known[key] = monotonic(), read(*arguments, **options)
        return known[key][1]

    return answer

"""The worker's side of the run engine: executes what is queued, until the process ends.

An execution may be the second one of its run, and may be killed at any moment. Nothing is checkpointed by the engine
itself: a body keeps what is dear as it goes, and ends in one transaction that only the run's owner can commit.
"""

import logging
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dbos import DBOS, DBOSConfig
from sqlalchemy import URL, Engine
from sqlalchemy.exc import InterfaceError, OperationalError
from ulid import ULID

from core.errors import TraitbenchError
from core.runs import guard
from core.runs.execution import Execution, Fail, Fenced
from core.runs.names import APPLICATION, APPLICATION_VERSION, QUEUE, SERIALIZER, WORKFLOW, engine_url
from core.runs.schedules import Schedule, keep
from core.store import runs, workers
from core.store.engine import writing

MOST_ATTEMPTS = 10

_AT_ONCE = 2
_POLL_SECONDS = 0.3

_log = logging.getLogger(__name__)

Body = Callable[[Execution], None]


@dataclass(frozen=True)
class Worker:
    """What a worker works with: a body for every kind of run, what to do when one fails, and what to do beside."""

    engine: Engine
    url: str | URL
    executor_id: str
    bodies: Mapping[str, Body]
    fail: Fail
    schedules: Sequence[Schedule] = ()


def serve(worker: Worker, *, ready: Callable[[], None], pace: guard.Pace = guard.PACE) -> None:
    """Execute runs; `ready` is called once they are. Comes back only when this worker was taken for dead."""
    _quieten()
    with writing(worker.engine) as connection:
        workers.enter(connection, worker.executor_id)
    DBOS(config=_config(worker))
    _quieten()
    DBOS.workflow(name=WORKFLOW, max_recovery_attempts=None)(_workflow(worker))
    DBOS.launch()
    DBOS.register_queue(QUEUE, worker_concurrency=_AT_ONCE, partition_concurrency=1, polling_interval_sec=_POLL_SECONDS)
    keep(worker.schedules)
    ready()
    guard.watch(worker.engine, worker.executor_id, worker.fail, pace)


def _config(worker: Worker) -> DBOSConfig:
    return {
        "name": APPLICATION,
        "system_database_url": engine_url(worker.url),
        "application_version": APPLICATION_VERSION,
        "executor_id": worker.executor_id,
        "serializer": SERIALIZER,
        "max_executor_threads": 8,
        "log_level": "WARNING",
    }


def _workflow(worker: Worker) -> Callable[[str], None]:
    @DBOS.step(
        name=WORKFLOW,
        retries_allowed=True,
        max_attempts=10,
        interval_seconds=0.2,
        backoff_rate=1.7,
        should_retry=_is_weather,
    )
    def step(run_id: str) -> None:
        execute(worker, run_id)

    def workflow(run_id: str) -> None:
        step(run_id)

    return workflow


def execute(worker: Worker, run_id: str) -> None:
    """Execute a run that has not ended; whatever goes wrong in it is its outcome, except that the database is away."""
    owner = str(ULID())
    with writing(worker.engine) as connection:
        run = runs.claim(connection, run_id, owner)
    if run is None:
        return
    try:
        _check_attempts(run)
        worker.bodies[run.kind](Execution(worker.engine, run, owner))
    except Fenced:
        return
    except Exception as error:
        if _is_weather(error):
            raise
        code, message = _explain(run, error)
        with writing(worker.engine) as connection:
            worker.fail(connection, run, code=code, message=message, owner=owner)


class Interrupted(TraitbenchError):
    """The run was begun too often without coming to an end."""

    code = "interrupted"


def _check_attempts(run: runs.RunRow) -> None:
    if run.attempts > MOST_ATTEMPTS:
        raise Interrupted(f"The run was interrupted {MOST_ATTEMPTS} times and given up; it may be started again.")


def _explain(run: runs.RunRow, error: Exception) -> tuple[str, str]:
    """Code and message for the last operation. What an unexpected error says may hold a text: it is not kept."""
    if isinstance(error, TraitbenchError):
        return error.code, error.message
    frames = "".join(traceback.format_tb(error.__traceback__))
    _log.error("run %s (%s) failed with %s\n%s", run.id, run.kind, type(error).__name__, frames)
    return "internal_error", f"The run failed unexpectedly ({type(error).__name__}); the log has more under {run.id}."


def _is_weather(error: BaseException) -> bool:
    """Whether the database was away, which passes."""
    return isinstance(error, (OperationalError, InterfaceError))


def _quieten() -> None:
    """The engine's log: warnings only, through our handlers, and no traceback of what we cancelled ourselves."""
    logger = logging.getLogger("dbos")
    logger.setLevel(logging.WARNING)
    logger.handlers.clear()
    logger.propagate = True

"""The worker's side of the run engine: executes queued runs until the process ends.

A run may be executed a second time, and may be killed at any moment. The engine itself checkpoints nothing: a body
stores expensive results as it goes, and ends in one transaction that only the run's owner can commit.
"""

import logging
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep

from dbos import DBOS, DBOSConfig
from sqlalchemy import URL, Engine
from sqlalchemy.exc import InterfaceError, OperationalError
from ulid import ULID

from traitbench.errors import TraitbenchError
from traitbench.runs import recovery
from traitbench.runs.execution import Execution, Fail, Fenced, StepListener, ignore_progress
from traitbench.runs.heartbeat import WorkerExit
from traitbench.runs.queue import (
    APPLICATION,
    APPLICATION_VERSION,
    AUTOMATIC,
    QUEUE,
    SERIALIZER,
    WORKFLOW,
    EngineQueue,
    engine_url,
)
from traitbench.runs.recovery import RunIsolation
from traitbench.runs.schedules import Schedule, start_all
from traitbench.store import runs, workers
from traitbench.store.database import reading, writing
from traitbench.store.errors import StoreUnavailable

_AT_ONCE = 2
_POLL_SECONDS = 0.3
# Nobody waits for these, and every look costs an idle worker as much as a look at the other queue.
_POLL_AUTOMATIC_SECONDS = 3.0
# A rate that is never reached. With it the engine first asks which models have queued runs, which takes 4 ms of the
# processor if there are none; without it, it builds the statement that claims them at every look, which takes 9 ms.
_MOST_A_SECOND = 1_000_000
_NO_NOTIFICATIONS_SECONDS = 30.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 10.0
_LOGGED_EVERY_SECONDS = 60.0
_CANCELLED = frozenset({"DBOSWorkflowCancelledError", "DBOSAwaitedWorkflowCancelledError"})

_log = logging.getLogger(__name__)

Body = Callable[[Execution], None]


@dataclass(frozen=True)
class Worker:
    """The parts of a worker: a body for every kind of run, how a run fails, and periodic tasks."""

    engine: Engine
    url: str | URL
    executor_id: str
    bodies: Mapping[str, Body]
    fail: Fail
    schedules: Sequence[Schedule] = ()
    deaths: Sequence[WorkerExit] = ()
    tell: StepListener = ignore_progress
    isolation: RunIsolation = field(default_factory=RunIsolation)
    executing: set[str] = field(default_factory=set)


def serve(
    worker: Worker,
    *,
    ready: Callable[[], None],
    judged: Callable[[], None] = lambda: None,
    intervals: recovery.WatchdogIntervals = recovery.INTERVALS,
) -> None:
    """Execute runs; return only if this worker was taken for dead.

    `ready` is called once runs are executed, `judged` once the crashes of earlier workers are recorded.
    """
    _configure_engine_log()
    with writing(worker.engine) as connection:
        workers.enter(connection, worker.executor_id)
    # Before anything is executed: a run that brings workers down would bring down this one next.
    recovery.judge(worker.engine, worker.deaths, worker.fail)
    judged()
    DBOS(config=_config(worker))
    _configure_engine_log()
    DBOS.workflow(name=WORKFLOW, max_recovery_attempts=None)(_workflow(worker))
    DBOS.launch()
    for queue, at_once, poll_s in ((QUEUE, _AT_ONCE, _POLL_SECONDS), (AUTOMATIC, 1, _POLL_AUTOMATIC_SECONDS)):
        DBOS.register_queue(
            queue,
            worker_concurrency=at_once,
            partition_concurrency=1,
            partition_limiter={"limit": _MOST_A_SECOND, "period": 1.0},
            polling_interval_sec=poll_s,
        )
    start_all(worker.schedules)
    ready()
    watched = recovery.WatchdogContext(
        worker.engine, EngineQueue(worker.url), worker.executor_id, worker.fail, worker.executing
    )
    recovery.watch(watched, intervals)


def _config(worker: Worker) -> DBOSConfig:
    return {
        "name": APPLICATION,
        "system_database_url": engine_url(worker.url),
        "application_version": APPLICATION_VERSION,
        "executor_id": worker.executor_id,
        "serializer": SERIALIZER,
        "max_executor_threads": 8,
        "log_level": "WARNING",
        # The engine looks this often for notifications to deliver and, on PostgreSQL, to send. We use none.
        "notification_listener_polling_interval_sec": _NO_NOTIFICATIONS_SECONDS,
        "notification_coalesce_sec": _NO_NOTIFICATIONS_SECONDS,
    }


def _workflow(worker: Worker) -> Callable[[str], None]:
    @DBOS.step(name=WORKFLOW)
    def step(run_id: str) -> None:
        worker.executing.add(run_id)
        try:
            persist(worker, run_id)
        finally:
            worker.executing.discard(run_id)

    def workflow(run_id: str) -> None:
        step(run_id)

    return workflow


def persist(worker: Worker, run_id: str) -> None:
    """Execute a run; while the database is not available, try again, however long that takes."""
    for pause in _pauses():
        try:
            return execute(worker, run_id)
        except Exception as error:
            if not _is_database_away(error):
                raise
            if pause < _LONGEST_PAUSE:
                reason = error.message if isinstance(error, StoreUnavailable) else type(error).__name__
                _log.warning("run %s waits for the database: %s", run_id, reason)
        sleep(pause)
    raise AssertionError("the pauses never end")


def _pauses() -> Iterator[float]:
    pause = _FIRST_PAUSE
    while True:
        yield pause
        pause = min(pause * 2, _LONGEST_PAUSE)


def execute(worker: Worker, run_id: str) -> None:
    """Execute a run that has not ended; raise only if the database is not available.

    Every other error is the outcome of the run.
    """
    with reading(worker.engine) as connection:
        run = runs.read(connection, run_id)
    if run is None or run.finished_at is not None:
        return
    with worker.isolation.entered(alone=run.strikes > 0):
        try:
            _execute(worker, run_id)
        finally:
            worker.tell(run_id, None)


def _execute(worker: Worker, run_id: str) -> None:
    owner = str(ULID())
    with writing(worker.engine) as connection:
        run = runs.claim(connection, run_id, owner)
    if run is None:
        return
    try:
        worker.bodies[run.kind](Execution(worker.engine, run, owner, tell=worker.tell))
    except Fenced:
        return
    except Exception as error:
        if _is_database_away(error):
            raise
        code, message = _explain(run, error)
        with writing(worker.engine) as connection:
            worker.fail(connection, run, code=code, message=message, owner=owner)


def _explain(run: runs.RunRow, error: Exception) -> tuple[str, str]:
    """Code and message for the last operation.

    The message of an unexpected error may hold a text, so it is not stored.
    """
    if isinstance(error, TraitbenchError):
        return error.code, error.message
    frames = "".join(traceback.format_tb(error.__traceback__))
    _log.error("run %s (%s) failed with %s\n%s", run.id, run.kind, type(error).__name__, frames)
    return "internal_error", f"The run failed unexpectedly ({type(error).__name__}). See {run.id} in the log."


def _is_database_away(error: BaseException) -> bool:
    """Whether the database was not available, which will pass."""
    return isinstance(error, (StoreUnavailable, OperationalError, InterfaceError))


def _configure_engine_log() -> None:
    """The engine's log: warnings only, through our handlers, each in one line."""
    logger = logging.getLogger("dbos")
    logger.setLevel(logging.WARNING)
    logger.handlers.clear()
    logger.propagate = True
    if _in_one_line not in logger.filters:
        logger.addFilter(_in_one_line)


_logged: dict[str, float] = {}


def _in_one_line(record: logging.LogRecord) -> bool:
    """Reduce a record of the engine to one line without traceback and statement; False to drop it.

    Dropped are messages about runs that we have cancelled, and repetitions within a minute: while a database is away,
    the engine logs the same several times a second.
    """
    error = record.exc_info[1] if record.exc_info else None
    message = record.getMessage()
    if type(error).__name__ in _CANCELLED or "recorded outcome" in message:
        return False
    kind, now = message.partition(":")[0], monotonic()
    if now - _logged.get(kind, -_LOGGED_EVERY_SECONDS) < _LOGGED_EVERY_SECONDS:
        return False
    _logged[kind] = now
    line = message.partition("\n")[0].removesuffix(": Traceback (most recent call last):")
    record.msg, record.args = line + (f" {type(error).__name__}" if error else ""), ()
    record.exc_info = record.exc_text = None
    return True

"""What the run engine does not have: heartbeats, takeover of a dead worker's runs, reconciliation, clean-up.

Every worker sends a heartbeat every few seconds, timed by the database's clock. If a worker has been silent for too
long, the first other worker to notice removes it and puts its runs back into the queue. A worker that finds itself
removed exits, and its parent starts a new one.

The expiry is long on purpose: a slow machine is not dead, and fencing makes a wrong guess harmless. It is also longer
than a parent needs to notice that its worker hangs (`supervisor`) and to start the next one. So the parent that saw a
run bring its worker down judges that run, before another machine can take it over.
"""

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from threading import Condition
from time import sleep
from typing import Any

from dbos import DBOS, WorkflowStatus
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from traitbench.errors import UnreadableRow
from traitbench.runs.execution import Fail
from traitbench.runs.heartbeat import Cause, WorkerExit, WorkItem
from traitbench.runs.queue import QUEUE, EngineQueue
from traitbench.store import runs, workers
from traitbench.store.database import reading, writing
from traitbench.store.errors import StoreUnavailable

_ENDED = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")

_DELETED_AT_ONCE = 500

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class WatchdogIntervals:
    """The intervals of the watchdog.

    `heartbeat_s` is the time between heartbeats, and `expiry_s` the silence after which a worker is removed. Every
    `reconcile_every` heartbeats the watch reconciles. `keep_s` is how long the engine's rows of ended runs are kept.
    """

    heartbeat_s: float
    expiry_s: float
    reconcile_every: int
    keep_s: float


INTERVALS = WatchdogIntervals(heartbeat_s=5.0, expiry_s=90.0, reconcile_every=6, keep_s=7 * 86_400)


@dataclass(frozen=True)
class WatchdogContext:
    """What `watch` depends on: database, queue, this worker, how a run fails, and the runs that this worker holds."""

    engine: Engine
    queue: EngineQueue
    executor_id: str
    fail: Fail
    executing: Collection[str] = ()


def watch(watched: WatchdogContext, intervals: WatchdogIntervals) -> None:
    """Send heartbeats and look after other workers' runs, until this worker finds itself removed."""
    dropped: frozenset[str] = frozenset()
    for beat in count():
        try:
            with writing(watched.engine) as connection:
                if not workers.seen(connection, watched.executor_id):
                    return
            take_over(watched.engine, after_seconds=intervals.expiry_s)
            if beat % intervals.reconcile_every == 0:
                dropped = reconcile(watched, dropped=dropped)
                forget(older_than_s=intervals.keep_s)
        except StoreUnavailable:
            pass  # logged where it was raised; the next beat tries again
        except SQLAlchemyError as error:
            _log.warning("the database did not answer the worker's heartbeat: %s", type(error).__name__)
        sleep(intervals.heartbeat_s)


def take_over(engine: Engine, *, after_seconds: float) -> None:
    """Put the runs of dead workers back into the queue."""
    with writing(engine) as connection:
        removed = workers.expire(connection, after_seconds=after_seconds)
    for executor_id in removed:
        for workflow in DBOS.list_workflows(
            status="PENDING", executor_id=executor_id, load_input=False, load_output=False
        ):
            # The queue must be named: the engine's default queue would not run one at a time per model.
            DBOS.resume_workflow(workflow.workflow_id, queue_name=workflow.queue_name or QUEUE)


def reconcile(watched: WatchdogContext, *, dropped: Collection[str] = ()) -> frozenset[str]:
    """Settle the runs that are live in our record but that the engine has ended, lost, or left with a dead worker.

    Returns the runs that the engine thinks this worker executes, although it does not. Those that were returned last
    time too (`dropped`) go back to the queue, because the engine lost them in between.
    """
    with reading(watched.engine) as connection:
        live = {run.id: run for run in runs.live(connection)}
    if not live:
        return frozenset()
    listed = DBOS.list_workflows(workflow_ids=list(live), load_input=False, load_output=False)
    workflows = {workflow.workflow_id: workflow for workflow in listed}
    # Read last: a worker registers before it takes a run, so one that holds a run and is not registered was removed.
    with reading(watched.engine) as connection:
        known = workers.known(connection)
    idle = set()
    for run_id, run in live.items():
        workflow = workflows.get(run_id)
        if workflow is None:
            # The engine lost it, which is not the run's fault, so it is queued again.
            with writing(watched.engine) as connection:
                watched.queue.enqueue(connection, run_id, run.kind, run.model_id, automatic=run.requested_by is None)
        elif workflow.status in _ENDED:
            _settle(watched, run)
        elif workflow.status == "PENDING" and workflow.executor_id not in known:
            DBOS.resume_workflow(run_id, queue_name=workflow.queue_name or QUEUE)
        elif _is_idle(workflow, watched):
            idle.add(run_id)
    for run_id in idle.intersection(dropped):
        DBOS.resume_workflow(run_id, queue_name=workflows[run_id].queue_name or QUEUE)
    return frozenset(idle.difference(dropped))


def _settle(watched: WatchdogContext, run: runs.RunRow) -> None:
    try:
        with writing(watched.engine) as connection:
            watched.fail(connection, run, code="interrupted", message="The run was lost. Start it again.")
    except UnreadableRow as error:
        _log.warning("the run %s cannot be settled: %s", run.id, error.message)


def _is_idle(workflow: WorkflowStatus, watched: WatchdogContext) -> bool:
    """Whether the engine thinks that this worker executes a run, although it does not."""
    mine = workflow.status == "PENDING" and workflow.executor_id == watched.executor_id
    return mine and workflow.workflow_id not in watched.executing


def forget(*, older_than_s: float) -> None:
    """Delete the engine's rows of runs that ended long ago; our own record stays."""
    before = datetime.now(UTC) - timedelta(seconds=older_than_s)
    ended = DBOS.list_workflows(
        completed_before=before.isoformat(), limit=_DELETED_AT_ONCE, load_input=False, load_output=False
    )
    if ended:
        DBOS.delete_workflows([workflow.workflow_id for workflow in ended])


class RunIsolation:
    """Admits any number of runs, or one run alone; a run that waits to be alone goes before later ones."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._inside = 0
        self._alone = False
        self._waiting_alone = 0

    @contextmanager
    def entered(self, *, alone: bool) -> Iterator[None]:
        """Admit a run for the duration of the block."""
        with self._changed:
            if alone:
                self._waiting_alone += 1
                self._changed.wait_for(lambda: self._inside == 0)
                self._waiting_alone -= 1
                self._alone = True
            else:
                self._changed.wait_for(lambda: not self._alone and self._waiting_alone == 0)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                if alone:
                    self._alone = False
                self._changed.notify_all()


# Counting attempts would be simpler, but ten restarts would end a good run, and a bad one would crash ten workers. The
# price: a run that hangs costs two minutes, in native code up to an hour.
MOST_STRIKES = 2

_VERBS: Mapping[Cause, str] = {
    "silent": "stopped responding",
    "slow": "took too long",
    "crashed": "crashed",
    "memory": "ran out of memory",
}


def judge(engine: Engine, deaths: Sequence[WorkerExit], fail: Fail) -> None:
    """Record the crashes of earlier workers with the runs that they held, and fail the runs that have too many."""
    for death in deaths:
        for run_id, item in death.work.items():
            _strike(engine, run_id, death.cause, item, fail)


def _strike(engine: Engine, run_id: str, cause: Cause, item: WorkItem, fail: Fail) -> None:
    with writing(engine) as connection:
        run = runs.read_to_end(connection, run_id)
        if run is None:
            return
        before = _item(runs.struck_at(connection, run_id))
        within = before is not None and item.within(before)
        strikes = run.strikes + 1 if within else 1
        runs.strike(connection, run_id, strikes=strikes, item=item.to_json())
        if strikes >= MOST_STRIKES:
            fail(connection, run, code="interrupted", message=_message(cause, item))


def _item(stored: Any) -> WorkItem | None:
    """The item of the last strike; None if there was none, or if it is damaged."""
    try:
        return WorkItem.from_json(stored)
    except (TypeError, KeyError, ValueError):
        return None


def _message(cause: Cause, item: WorkItem) -> str:
    return f"The worker {_VERBS[cause]} twice {_where(item)}, so this run was stopped. {_way_out(cause, item)}"


def _where(item: WorkItem) -> str:
    match item.samples:
        case ():
            return f"in the phase {item.phase}"
        case (sample,):
            return f"while it encoded sample {sample}"
        case samples:
            return f"while it encoded samples {min(samples)} to {max(samples)}"


def _way_out(cause: Cause, item: WorkItem) -> str:
    if item.samples:
        which = "it" if len(item.samples) == 1 else "them"
        return f"Shorten or delete {which}, then start again."
    if cause == "memory":
        return "Free memory, or use a lower effort or fewer samples, then start again."
    return "Start again with a lower effort or fewer samples."

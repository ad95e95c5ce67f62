"""What the run engine lacks, written once: heartbeat, takeover of what a dead worker left, reconciling, tidying up.

Every worker is seen every few seconds by the database's clock. One that was not seen for long is buried by whichever
worker comes first, and that one takes its runs back to the queue. A worker that finds itself buried ends; its parent
starts it anew. Expiry is long on purpose: a slow machine is no dead one, and fencing makes a wrong guess harmless. It
is longer than a parent waits for a worker that hangs (`supervisor`), with time to start the next one: what brings
workers down is judged where it happened, and does not travel.
"""

import logging
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from time import sleep

from dbos import DBOS, WorkflowStatus
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from traitbench.errors import UnreadableRow
from traitbench.runs.execution import Fail
from traitbench.runs.names import QUEUE
from traitbench.runs.queue import EngineQueue
from traitbench.store import runs, workers
from traitbench.store.engine import reading, writing
from traitbench.store.trouble import StoreUnavailable

_ENDED = ("SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")

_FORGOTTEN_AT_ONCE = 500

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Pace:
    """Seconds between heartbeats and without one until burial, heartbeats between reconcilings, seconds that the
    engine's rows of what has ended are kept."""

    heartbeat_s: float
    expiry_s: float
    reconcile_every: int
    keep_s: float


PACE = Pace(heartbeat_s=5.0, expiry_s=90.0, reconcile_every=6, keep_s=7 * 86_400)


@dataclass(frozen=True)
class Watched:
    """What a watch needs: database, queue, who watches, how a run fails, and the runs in this worker's hands."""

    engine: Engine
    queue: EngineQueue
    executor_id: str
    fail: Fail
    held: Collection[str] = ()


def watch(watched: Watched, pace: Pace) -> None:
    """Keep watch until this worker finds itself buried."""
    dropped: frozenset[str] = frozenset()
    for beat in count():
        try:
            with writing(watched.engine) as connection:
                if not workers.seen(connection, watched.executor_id):
                    return
            take_over(watched.engine, after_seconds=pace.expiry_s)
            if beat % pace.reconcile_every == 0:
                dropped = reconcile(watched, dropped=dropped)
                forget(older_than_s=pace.keep_s)
        except StoreUnavailable:
            pass  # on record where it was raised; the next beat tries again
        except SQLAlchemyError as error:
            _log.warning("the database did not answer the worker's watch: %s", type(error).__name__)
        sleep(pace.heartbeat_s)


def take_over(engine: Engine, *, after_seconds: float) -> None:
    """Bring the runs of workers that died back to the queue."""
    with writing(engine) as connection:
        buried = workers.bury(connection, after_seconds=after_seconds)
    for executor_id in buried:
        for workflow in DBOS.list_workflows(
            status="PENDING", executor_id=executor_id, load_input=False, load_output=False
        ):
            # The queue must be named: the engine's own default queue knows no "one at a time per model".
            DBOS.resume_workflow(workflow.workflow_id, queue_name=QUEUE)


def reconcile(watched: Watched, *, dropped: Collection[str] = ()) -> frozenset[str]:
    """Settle the runs that we think alive and the engine knows to be over, or in nobody's hands.

    Gives the runs that the engine thinks this worker executes and that it does not; those that were so the last time
    too (`dropped`) go back to the queue, because the engine lost them between the two.
    """
    with reading(watched.engine) as connection:
        live = {run.id: run for run in runs.live(connection)}
    if not live:
        return frozenset()
    found = DBOS.list_workflows(workflow_ids=list(live), load_input=False, load_output=False)
    workflows = {workflow.workflow_id: workflow for workflow in found}
    # Asked last: a worker enters before it takes a run, so whoever holds one and is not here was buried.
    with reading(watched.engine) as connection:
        known = workers.known(connection)
    idle = set()
    for run_id, run in live.items():
        workflow = workflows.get(run_id)
        if workflow is None:
            # The engine lost it, which is no fault of the run: it is queued again.
            with writing(watched.engine) as connection:
                watched.queue.enqueue(connection, run_id, run.kind, run.model_id)
        elif workflow.status in _ENDED:
            _settle(watched, run)
        elif workflow.status == "PENDING" and workflow.executor_id not in known:
            DBOS.resume_workflow(run_id, queue_name=QUEUE)
        elif _is_idle(workflow, watched):
            idle.add(run_id)
    for run_id in idle.intersection(dropped):
        DBOS.resume_workflow(run_id, queue_name=QUEUE)
    return frozenset(idle.difference(dropped))


def _settle(watched: Watched, run: runs.RunRow) -> None:
    try:
        with writing(watched.engine) as connection:
            watched.fail(connection, run, code="interrupted", message="The run was lost; it may be started again.")
    except UnreadableRow as error:
        _log.warning("the run %s cannot be settled: %s", run.id, error.message)


def _is_idle(workflow: WorkflowStatus, watched: Watched) -> bool:
    """Whether the engine thinks that this worker executes a run, and it does not."""
    mine = workflow.status == "PENDING" and workflow.executor_id == watched.executor_id
    return mine and workflow.workflow_id not in watched.held


def forget(*, older_than_s: float) -> None:
    """Delete the engine's rows of what ended long ago; our own record of the run stays."""
    before = datetime.now(UTC) - timedelta(seconds=older_than_s)
    ended = DBOS.list_workflows(
        completed_before=before.isoformat(), limit=_FORGOTTEN_AT_ONCE, load_input=False, load_output=False
    )
    if ended:
        DBOS.delete_workflows([workflow.workflow_id for workflow in ended])

"""What we rely on the run engine for; a new release of the engine must pass before we use it."""

import signal
import sqlite3
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dbos import DBOSClient
from sqlalchemy import text

from tests.contexts import DATABASES, ON_BOTH_IN_SOAK, until
from tests.patience import PATIENCE_S
from tests.runs.conftest import StartWorker, Yard
from tests.size import sized
from traitbench.runs.queue import APPLICATION_VERSION, SERIALIZER, engine_url
from traitbench.store import runs, workers
from traitbench.store.database import reading, sqlite_file, writing

# A lock admits one worker to a database on SQLite, so that a second one takes over on PostgreSQL.
_WHERE_WORKERS_MEET = pytest.mark.parametrize("database", sized(["postgresql"], list(DATABASES)), indirect=True)


def _queued(yard: Yard) -> dict[str, str | None]:
    client = DBOSClient(system_database_url=engine_url(yard.settings.database_url), serializer=SERIALIZER, lazy=True)
    values = {workflow.workflow_id: workflow.app_version for workflow in client.list_workflows()}
    client.destroy()
    return values


def _pause(process: "subprocess.Popen[bytes]", yard: Yard) -> None:
    """Stop a process, but not while it holds SQLite's only write lock, which would stop everybody."""
    file = sqlite_file(yard.settings.database_url)
    while True:
        process.send_signal(signal.SIGSTOP)
        if file is None or _can_write(file):
            return
        process.send_signal(signal.SIGCONT)


def _can_write(file: Path) -> bool:
    with closing(sqlite3.connect(file, timeout=0.5, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        return True


def test_a_run_is_queued_with_the_callers_transaction_or_not_at_all(yard: Yard) -> None:
    kept = yard.queue(yard.model())
    model_id = yard.model()

    def queue_and_fail() -> None:
        with writing(yard.engine) as connection:
            runs.add(connection, "run_lost", model_id=model_id, kind="train", effort="low", now=datetime.now(UTC))
            yard.service.enqueue(connection, "run_lost", "train", model_id)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        queue_and_fail()
    assert _queued(yard) == {kept: APPLICATION_VERSION}
    with reading(yard.engine) as connection:
        assert runs.read(connection, "run_lost") is None


def test_runs_are_executed_once_each_and_nothing_is_sent_anywhere(yard: Yard, start_worker: StartWorker) -> None:
    start_worker("one")
    queued = [yard.queue(yard.model(), times=2) for _ in range(5)]
    cancelled = yard.queue(yard.model())
    yard.service.cancel(cancelled)
    for run_id in queued:
        yard.wait(run_id)
    assert [len(yard.log_lines("begins", run_id)) for run_id in queued] == [1] * 5
    assert [yard.run(run_id).attempts for run_id in queued] == [1] * 5
    yard.wait(cancelled, "failed")
    assert yard.log_lines("begins", cancelled) == []
    if sqlite_file(yard.settings.database_url):
        assert yard.log_lines("connects") == []


@ON_BOTH_IN_SOAK
def test_a_requested_run_does_not_wait_for_those_that_start_by_themselves(
    yard: Yard, start_worker: StartWorker
) -> None:
    start_worker("one", steps=20)
    automatic = [yard.queue(yard.model(), automatic=True) for _ in range(3)]
    until(lambda: yard.log_lines("begins"), what="the first of them to begin")
    requested = yard.queue(yard.model())
    yard.wait(requested)
    assert [bool(yard.log_lines("begins", run_id)) for run_id in automatic].count(True) <= 2
    for run_id in automatic:
        yard.wait(run_id)


@ON_BOTH_IN_SOAK
def test_the_same_worker_goes_on_where_it_was_killed(yard: Yard, start_worker: StartWorker) -> None:
    first = start_worker("one", steps=40)
    run_id = yard.queue(yard.model())
    until(lambda: yard.log_lines("begins", run_id), what="the run to begin")
    first.kill()
    first.wait()
    start_worker("one", steps=2)
    yard.wait(run_id)
    assert yard.run(run_id).attempts == 2
    assert len(yard.log_lines("ends", run_id)) == 1


@_WHERE_WORKERS_MEET
def test_another_worker_takes_over_from_a_dead_one(yard: Yard, start_worker: StartWorker) -> None:
    dead = start_worker("dead", steps=100)
    queued = [yard.queue(yard.model()) for _ in range(4)]
    until(lambda: yard.log_lines("dead", "begins"), what="a run to begin")
    dead.kill()
    dead.wait()
    start_worker("living", expiry_s=4.0)
    for run_id in queued:
        yard.wait(run_id)
    assert all(len(yard.log_lines("living", "ends", run_id)) == 1 for run_id in queued)
    with reading(yard.engine) as connection:
        assert workers.known(connection) == {"living"}


@_WHERE_WORKERS_MEET
def test_a_worker_that_was_taken_for_dead_can_write_no_more(yard: Yard, start_worker: StartWorker) -> None:
    paused = start_worker("paused", steps=10_000, expiry_s=6.0)
    run_id = yard.queue(yard.model())
    until(lambda: yard.log_lines("paused", "begins", run_id), what="the run to begin")
    start_worker("living", steps=4, expiry_s=6.0)
    _pause(paused, yard)
    until(lambda: yard.log_lines("living", "begins", run_id), what="the takeover")
    paused.send_signal(signal.SIGCONT)
    yard.wait(run_id)
    assert paused.wait(timeout=PATIENCE_S) == 1
    assert yard.log_lines("paused", "buried")
    assert [line.split()[0] for line in yard.log_lines("ends", run_id)] == ["living"]


@ON_BOTH_IN_SOAK
def test_what_the_engine_has_lost_is_queued_again_and_what_it_has_ended_is_settled(
    yard: Yard, start_worker: StartWorker
) -> None:
    unknown, stopped = yard.model(), yard.model()
    lost, ended = yard.record(unknown), yard.queue(stopped)
    yard.service.cancel(ended)
    start_worker("one")
    yard.wait(lost)
    yard.wait(ended, "failed")
    assert yard.state(stopped) == "failed"


@ON_BOTH_IN_SOAK
def test_the_engine_forgets_what_has_ended_and_we_do_not(yard: Yard, start_worker: StartWorker) -> None:
    start_worker("one", keep_s=0.0)
    run_id = yard.queue(yard.model())
    until(lambda: yard.run(run_id).status == "succeeded" and not _queued(yard), what="the engine to forget")
    assert yard.run(run_id).status == "succeeded"


def test_twenty_threads_that_queue_one_run_queue_it_once(yard: Yard) -> None:
    model_id = yard.model()
    run_id = yard.record(model_id)

    def enqueue(_: int) -> None:
        with writing(yard.engine) as connection:
            yard.service.enqueue(connection, run_id, "train", model_id)

    with ThreadPoolExecutor(20) as pool:
        list(pool.map(enqueue, range(20)))
    assert list(_queued(yard)) == [run_id]


def test_the_engine_keeps_no_pickles(yard: Yard) -> None:
    yard.queue(yard.model())
    schema = "" if sqlite_file(yard.settings.database_url) else "dbos."
    with reading(yard.engine) as connection:
        stored = connection.execute(text(f"SELECT serialization FROM {schema}workflow_status")).scalar_one()
    assert stored == "portable_json"

"""Processes killed in mid-training: nothing is lost, nothing is done twice, no model stays busy."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sqlalchemy import func, select, text

from core.contract.models import TrainRequest
from core.lifecycle import models, training, versions
from core.lifecycle.bench import Bench
from core.runs.engine import Runs
from core.settings import Settings
from core.store import tables
from core.store.engine import reading
from tests.benches import AUTHOR, draft, opened, settled, until

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("TRAITBENCH_TEST_KILLS", "3"))


def _running(bench: Bench) -> int:
    with reading(bench.engine) as connection:
        statement = select(func.count()).select_from(tables.runs).where(tables.runs.c.status == "running")
        return connection.execute(statement).scalar_one()


def _busy(bench: Bench) -> int:
    with reading(bench.engine) as connection:
        statement = select(func.count()).select_from(tables.models).where(tables.models.c.state == "busy")
        return connection.execute(statement).scalar_one()


def _assert_trained_exactly_once(bench: Bench, handles: list[str]) -> None:
    for handle in handles:
        model = settled(bench, handle, seconds=120)
        assert model.state == "ready"
        assert model.last_operation is not None
        assert model.last_operation.status == "succeeded"
        [version] = versions.list_versions(bench, AUTHOR, handle).items
        assert (version.version_no, version.run_id) == (1, model.last_operation.run_id)
        assert model.current_version_id == version.version_id


def test_every_run_succeeds_once_however_often_its_worker_is_killed(settings: Settings) -> None:
    rng = random.Random(KILLS)
    with opened(settings, runs=True) as bench:
        assert isinstance(bench.runs, Runs)
        handles = [draft(bench, warm=12, cold=12, words=16) for _ in range(3 * KILLS)]
        for handle in handles:
            training.start(bench, AUTHOR, handle, TrainRequest(effort="low"))
        for _ in range(KILLS):
            until(lambda: _running(bench) and bench.runs.healthy(), what="a run under way", seconds=60)
            time.sleep(rng.uniform(0.0, 0.5))
            if _busy(bench) == 0:
                break
            worker = bench.runs.worker.pid
            assert worker is not None
            os.kill(worker, signal.SIGKILL)
            until(lambda dead=worker: bench.runs.worker.pid != dead, what="a new worker")  # type: ignore[misc]
        _assert_trained_exactly_once(bench, handles)
        if bench.engine.dialect.name == "sqlite":
            with reading(bench.engine) as connection:
                assert connection.execute(text("PRAGMA integrity_check")).scalar_one() == "ok"


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_service_that_ends_in_mid_training_takes_its_worker_along_and_comes_back_to_its_runs(
    settings: Settings, end: signal.Signals
) -> None:
    with opened(settings, runs=False) as bench:
        handles = [draft(bench, warm=12, cold=12, words=16) for _ in range(2)]
    command = [sys.executable, "-m", "tests.faults.service_process", str(settings.home), settings.database_url]
    service = subprocess.Popen([*command, *handles], cwd=ROOT, stdout=subprocess.PIPE)
    assert service.stdout is not None
    worker = int(service.stdout.readline())
    service.send_signal(end)
    service.wait()
    service.stdout.close()
    until(lambda: not _alive(worker), what="the worker to end")
    with opened(settings, runs=True) as bench:
        _assert_trained_exactly_once(bench, handles)


def test_a_service_that_is_stopped_properly_goes_on_with_its_runs_later(settings: Settings) -> None:
    with opened(settings, runs=True) as bench:
        handle = draft(bench, warm=12, cold=12, words=16)
        training.start(bench, AUTHOR, handle, TrainRequest(effort="low"))
        until(lambda: _running(bench), what="the run to begin")
    with opened(settings, runs=True) as bench:
        _assert_trained_exactly_once(bench, [handle])


def test_a_model_deleted_in_mid_training_stays_archived_without_a_version(settings: Settings) -> None:
    with opened(settings, runs=True) as bench:
        handle, other = draft(bench, warm=30, cold=30, words=40), draft(bench, warm=2, cold=2)
        training.start(bench, AUTHOR, handle, TrainRequest(effort="low"))
        until(lambda: _running(bench), what="the run to begin")
        models.delete(bench, AUTHOR, handle)
        training.start(bench, AUTHOR, other, TrainRequest(effort="low"))
        _assert_trained_exactly_once(bench, [other])
        model = models.get(bench, AUTHOR, handle)
        assert model.state == "archived"
        assert model.last_operation is not None
        assert model.last_operation.error is not None
        assert model.last_operation.error.code == "cancelled"
        assert versions.list_versions(bench, AUTHOR, handle).items == []


def _alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    # Killed and not yet collected by whoever adopted it.
    return "\nState:\tZ" not in Path(f"/proc/{process_id}/status").read_text()

"""Processes are killed during a training: nothing is lost, nothing is done twice, no model stays busy.

Many kills of service and worker, with clients at work, are in `test_kill_loop`.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import func, select

from tests.contexts import AUTHOR, COLD, ON_BOTH_IN_SOAK, ON_SQLITE, WARM, draft, opened, settled, trained_here, until
from tests.size import sized
from traitbench.contract.models import ModelUpdate, TrainRequest
from traitbench.contract.scores import ScoreRequest
from traitbench.operations import models, samples, scores, training, versions
from traitbench.operations.context import Context
from traitbench.settings import Settings
from traitbench.store import tables
from traitbench.store.database import reading

ROOT = Path(__file__).parents[2]


def _running(context: Context) -> int:
    with reading(context.engine) as connection:
        statement = select(func.count()).select_from(tables.runs).where(tables.runs.c.status == "running")
        return connection.execute(statement).scalar_one()


def _assert_trained_exactly_once(context: Context, handles: list[str]) -> None:
    for handle in handles:
        model = settled(context, handle)
        assert model.state == "ready"
        assert model.last_operation is not None
        assert model.last_operation.status == "succeeded"
        [version] = versions.list_versions(context, AUTHOR, handle).items
        assert (version.version_no, version.run_id) == (1, model.last_operation.run_id)
        assert model.current_version_id == version.version_id


# On PostgreSQL a service that returns has another name and takes over after 90 s: see `runs/test_engine`.
@ON_SQLITE
@pytest.mark.parametrize("end", sized([signal.SIGKILL], [signal.SIGKILL, signal.SIGTERM]))
def test_a_service_that_ends_in_mid_training_takes_its_worker_along_and_comes_back_to_its_runs(
    settings: Settings, end: signal.Signals
) -> None:
    with opened(settings, runs=False) as context:
        handles = [draft(context, warm=12, cold=12, words=16) for _ in range(2)]
    command = [sys.executable, "-m", "tests.faults.service_process", str(settings.home), settings.database_url]
    service = subprocess.Popen([*command, *handles], cwd=ROOT, stdout=subprocess.PIPE)
    assert service.stdout is not None
    worker = int(service.stdout.readline())
    service.send_signal(end)
    service.wait()
    service.stdout.close()
    until(lambda: not _alive(worker), what="the worker to end")
    with opened(settings, runs=True) as context:
        _assert_trained_exactly_once(context, handles)


@ON_SQLITE
def test_a_service_that_is_killed_during_a_retrain_comes_back_to_it_and_judges_it_once(settings: Settings) -> None:
    with opened(settings, runs=False) as context:
        handle = trained_here(context, warm=12, cold=12)
        models.update(context, AUTHOR, handle, ModelUpdate(hold_if_worse=True))
        for number in range(8):
            wrong = ScoreRequest(content=f"{(WARM, COLD)[number % 2][0]} {number}", feedback={"warmth": number % 2})
            scores.score(context, AUTHOR, handle, wrong, request_id="req")
    command = [sys.executable, "-m", "tests.faults.service_process", str(settings.home), settings.database_url]
    service = subprocess.Popen([*command, handle], cwd=ROOT, stdout=subprocess.PIPE)
    assert service.stdout is not None
    worker = int(service.stdout.readline())
    service.kill()
    service.wait()
    service.stdout.close()
    until(lambda: not _alive(worker), what="the worker to end")
    with opened(settings, runs=True) as context:
        model = settled(context, handle)
        assert model.last_operation is not None
        assert (model.state, model.last_operation.kind, model.last_operation.status) == (
            "ready",
            "retrain",
            "succeeded",
        )
        assert (model.version_no, model.held_version_no) == (1, 2)
        assert [each.version_no for each in versions.list_versions(context, AUTHOR, handle).items] == [2, 1]
        assert [each.version_no for each in versions.list_activations(context, AUTHOR, handle).items] == [1]
        assert len(samples.list_samples(context, AUTHOR, handle, pending=True).items) == 8


@pytest.mark.soak
def test_a_service_that_is_stopped_properly_goes_on_with_its_runs_later(settings: Settings) -> None:
    with opened(settings, runs=True) as context:
        handle = draft(context, warm=12, cold=12, words=16)
        training.start(context, AUTHOR, handle, TrainRequest(effort="low"))
        until(lambda: _running(context), what="the run to begin")
    with opened(settings, runs=True) as context:
        _assert_trained_exactly_once(context, [handle])


@ON_BOTH_IN_SOAK
def test_a_model_deleted_in_mid_training_stays_archived_without_a_version(settings: Settings) -> None:
    with opened(settings, runs=True) as context:
        handle, other = draft(context, warm=30, cold=30, words=40), draft(context, warm=2, cold=2)
        training.start(context, AUTHOR, handle, TrainRequest(effort="low"))
        until(lambda: _running(context), what="the run to begin")
        models.delete(context, AUTHOR, handle)
        training.start(context, AUTHOR, other, TrainRequest(effort="low"))
        _assert_trained_exactly_once(context, [other])
        model = models.get(context, AUTHOR, handle)
        assert model.state == "archived"
        assert model.last_operation is not None
        assert model.last_operation.error is not None
        assert model.last_operation.error.code == "cancelled"
        assert versions.list_versions(context, AUTHOR, handle).items == []


def _alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    # Killed, but not yet reaped by its new parent.
    return "\nState:\tZ" not in Path(f"/proc/{process_id}/status").read_text()

"""Processes are killed during a training: nothing is lost, nothing is done twice, no model stays busy.

Many kills of service and worker, with clients at work, are in `test_kill_loop`.
"""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import delete, func, select

from tests.app.processes import gone
from tests.conftest import not_none
from tests.contexts import (
    AUTHOR,
    COLD,
    ON_BOTH,
    ON_BOTH_IN_SOAK,
    ON_SQLITE,
    WARM,
    draft,
    opened,
    settled,
    trained_here,
    until,
)
from tests.operations import author
from tests.size import sized
from traitbench.operations import models, training, versions
from traitbench.operations.context import Context
from traitbench.runs.engine import Runs
from traitbench.settings import Settings
from traitbench.store import tables, version_positions
from traitbench.store.database import reading, writing

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
def test_a_service_that_ends_in_mid_run_takes_its_worker_along_and_comes_back_to_its_runs(
    settings: Settings, end: signal.Signals
) -> None:
    with opened(settings, runs=False) as context:
        retrained = trained_here(context, warm=12, cold=12)
        author.update(context, retrained, hold_if_worse=True)
        for number in range(8):
            author.give_feedback(context, retrained, f"{(WARM, COLD)[number % 2][0]} {number}", warmth=number % 2)
        drafts = [draft(context, warm=12, cold=12, words=16) for _ in range(2)]
    command = [sys.executable, "-m", "tests.faults.service_process", str(settings.home), settings.database_url]
    with subprocess.Popen([*command, *drafts, retrained], cwd=ROOT, stdout=subprocess.PIPE) as service:
        worker = int(not_none(service.stdout).readline())
        service.send_signal(end)
    until(lambda: gone(worker), what="the worker to end")
    with opened(settings, runs=True) as context:
        _assert_trained_exactly_once(context, drafts)
        model = settled(context, retrained)
        operation = author.last_operation(context, retrained)
        assert (model.state, operation.kind, operation.status) == ("ready", "retrain", "succeeded")
        # It is judged once: its feedback was wrong.
        assert (model.version_no, model.held_version_no) == (1, 2)
        assert [each.version_no for each in versions.list_versions(context, AUTHOR, retrained).items] == [2, 1]
        assert [each.version_no for each in versions.list_activations(context, AUTHOR, retrained).items] == [1]
        assert author.waiting(context, retrained) == 8


@pytest.mark.soak
def test_a_service_that_is_stopped_properly_goes_on_with_its_runs_later(settings: Settings) -> None:
    with opened(settings, runs=True) as context:
        handle = draft(context, warm=12, cold=12, words=16)
        training.start(context, AUTHOR, handle, author.QUICK)
        until(lambda: _running(context), what="the run to begin")
    with opened(settings, runs=True) as context:
        _assert_trained_exactly_once(context, [handle])


# `tests/states/test_races.py` deletes a model during a retrain, and `test_trouble.py` during a training.
@pytest.mark.soak
@ON_BOTH
def test_a_model_deleted_in_mid_training_stays_archived_without_a_version(settings: Settings) -> None:
    with opened(settings, runs=True) as context:
        handle, other = draft(context, warm=30, cold=30, words=40), draft(context, warm=2, cold=2)
        training.start(context, AUTHOR, handle, author.QUICK)
        until(lambda: _running(context), what="the run to begin")
        models.delete(context, AUTHOR, handle)
        training.start(context, AUTHOR, other, author.QUICK)
        _assert_trained_exactly_once(context, [other])
        error = not_none(author.last_operation(context, handle).error)
        assert (author.get(context, handle).state, error.code) == ("archived", "cancelled")
        assert versions.list_versions(context, AUTHOR, handle).items == []


@ON_BOTH_IN_SOAK
def test_a_worker_learns_by_itself_what_has_waited_long_enough(settings: Settings) -> None:
    with opened(replace(settings, retrain_after_seconds=1), runs=True) as context:
        handle = trained_here(context, warm=4, cold=4)
        author.say(context, handle, times=2)
        until(lambda: author.get(context, handle).version_no == 2, what="the retrain")
        second = author.active(context, handle)
        assert (second.triggered_by, second.sample_count) == ("retrain_buffered", 10)
        assert (len(author.retrains(context, handle)), author.waiting(context, handle)) == (1, 0)


@ON_BOTH_IN_SOAK
def test_a_worker_that_is_killed_while_it_works_out_positions_begins_again(settings: Settings) -> None:
    with opened(settings, runs=False) as context:
        handle = trained_here(context, warm=200, cold=200)
        version_id = author.active(context, handle).version_id
        before = versions.list_samples(context, AUTHOR, handle, "v1", limit=5_000)
        with writing(context.engine) as connection:
            connection.execute(delete(tables.version_positions))
            version_positions.ask(connection, version_id)
    with opened(settings, runs=True) as context:
        begun = until(lambda: _request(context, version_id), what="a worker to begin")
        assert begun.attempts == 1
        assert isinstance(context.runs, Runs)
        os.kill(not_none(context.runs.worker.pid), signal.SIGKILL)
        until(lambda: _request(context, version_id) is None, what="another one to finish")
        after = versions.list_samples(context, AUTHOR, handle, "v1", limit=5_000)
        assert [(each.sample_id, each.right) for each in after.items] == [
            (each.sample_id, each.right) for each in before.items
        ]
        assert [each.position for each in after.items] == pytest.approx([each.position for each in before.items])
        assert author.get(context, handle).state == "ready"


def _request(context: Context, version_id: int) -> version_positions.PositionsRequest | None:
    """The request that a worker has begun to answer."""
    with reading(context.engine) as connection:
        request = version_positions.request(connection, version_id)
    return request if request and request.attempts else None

"""Processes are killed during a retune and a retrain, and a worker starts a retrain by itself."""

import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import ColumnElement, func, select

from tests.contexts import AUTHOR, DATABASES, ON_BOTH_IN_SOAK, draft, opened, settled, until
from traitbench.contract.models import TrainRequest
from traitbench.contract.scores import ScoreRequest
from traitbench.operations import models, rules, scores, training, versions
from traitbench.operations.context import Context
from traitbench.runs.engine import Runs
from traitbench.settings import Settings
from traitbench.store import samples as stored_samples
from traitbench.store import tables
from traitbench.store.database import reading

MODELS = 4
KILLS = 2
_RUNNING = tables.runs.c.status == "running"
_LIVE = tables.runs.c.status.in_(("queued", "running"))


def _ready(context: Context) -> list[str]:
    handles = [draft(context, warm=12, cold=12, words=16) for _ in range(MODELS)]
    for handle in handles:
        training.start(context, AUTHOR, handle, TrainRequest(effort="low"))
    assert {settled(context, handle).state for handle in handles} == {"ready"}
    return handles


def _search(context: Context, handle: str) -> None:
    training.start(context, AUTHOR, handle, TrainRequest(effort="max", reoptimize_params=True))


def _say(context: Context, handle: str, times: int = 10) -> None:
    for i in range(times):
        request = ScoreRequest(content=f"said number {i} " * 20, feedback={"warmth": i % 2})
        scores.score(context, AUTHOR, handle, request, request_id="req")


def _count(context: Context, condition: ColumnElement[bool]) -> int:
    with reading(context.engine) as connection:
        return connection.execute(select(func.count()).select_from(tables.runs).where(condition)).scalar_one()


def _kill_worker(context: Context) -> None:
    assert isinstance(context.runs, Runs)
    worker = context.runs.worker
    dead = worker.pid
    assert dead is not None
    os.kill(dead, signal.SIGKILL)
    # Another worker starts as soon as this one is gone, but needs a moment until it is ready.
    until(lambda: worker.pid != dead, what="a new worker")


# A retrain that is killed on SQLite is in `test_kills.py` too, which always runs.
_RETUNE, _RETRAIN = (_search, "retune", "retune"), (_say, "retrain", "retrain_buffered")


@pytest.mark.soak
@pytest.mark.parametrize(
    ("database", "begin", "kind", "triggered_by"),
    [(database, *run) for database in DATABASES for run in (_RETUNE, _RETRAIN)],
    indirect=["database"],
)
def test_killed_in_the_middle_it_makes_its_version_once(
    settings: Settings, begin: Callable[[Context, str], None], kind: str, triggered_by: str
) -> None:
    rng = random.Random(kind)
    with opened(settings, runs=True) as context:
        handles = _ready(context)
        for handle in handles:
            begin(context, handle)
        cut_off = 0
        while cut_off < KILLS and _count(context, _LIVE):
            until(lambda: _count(context, _RUNNING) or not _count(context, _LIVE), what="a run under way")
            time.sleep(rng.uniform(0.0, 0.05))
            _kill_worker(context)
            cut_off += _count(context, _RUNNING) > 0
        assert cut_off
        for handle in handles:
            model = settled(context, handle)
            assert (model.state, model.version_no) == ("ready", 2)
            second, first = versions.list_versions(context, AUTHOR, handle).items
            assert (first.version_no, second.version_no, second.triggered_by) == (1, 2, triggered_by)
            assert model.last_operation is not None
            assert (model.last_operation.kind, model.last_operation.run_id) == (kind, second.run_id)


@ON_BOTH_IN_SOAK
def test_a_worker_learns_by_itself_what_has_waited_long_enough(settings: Settings) -> None:
    with opened(replace(settings, retrain_after_seconds=1), runs=True) as context:
        handle = draft(context, warm=4, cold=4)
        training.start(context, AUTHOR, handle, TrainRequest(effort="low"))
        assert settled(context, handle).state == "ready"
        _say(context, handle, times=2)
        until(lambda: models.get(context, AUTHOR, handle).version_no == 2, what="the retrain")
        second = versions.get(context, AUTHOR, handle, "v2")
        assert (second.triggered_by, second.sample_count) == ("retrain_buffered", 10)
        assert _count(context, tables.runs.c.kind == "retrain") == 1
        with reading(context.engine) as connection:
            assert stored_samples.due_for_retrain(connection, at_least=1, since=rules.now()) == []

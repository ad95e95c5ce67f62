"""Processes are killed during a retune and a retrain, and a worker starts a retrain by itself."""

import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import ColumnElement, func, select

from tests.benches import AUTHOR, draft, opened, settled, until
from traitbench.contract.models import TrainRequest
from traitbench.contract.scores import ScoreRequest
from traitbench.lifecycle import models, rules, scores, training, versions
from traitbench.lifecycle.bench import Bench
from traitbench.runs.engine import Runs
from traitbench.settings import Settings
from traitbench.store import samples as stored_samples
from traitbench.store import tables
from traitbench.store.engine import reading

MODELS = 4
_RUNNING = tables.runs.c.status == "running"
_LIVE = tables.runs.c.status.in_(("queued", "running"))


def _ready(bench: Bench) -> list[str]:
    handles = [draft(bench, warm=12, cold=12, words=16) for _ in range(MODELS)]
    for handle in handles:
        training.start(bench, AUTHOR, handle, TrainRequest(effort="low"))
    assert {settled(bench, handle).state for handle in handles} == {"ready"}
    return handles


def _search(bench: Bench, handle: str) -> None:
    training.start(bench, AUTHOR, handle, TrainRequest(effort="max", reoptimize_params=True))


def _say(bench: Bench, handle: str, times: int = 10) -> None:
    for i in range(times):
        said = ScoreRequest(content=f"said number {i} " * 20, feedback={"warmth": i % 2})
        scores.score(bench, AUTHOR, handle, said, request_id="req")


def _count(bench: Bench, condition: ColumnElement[bool]) -> int:
    with reading(bench.engine) as connection:
        return connection.execute(select(func.count()).select_from(tables.runs).where(condition)).scalar_one()


def _kill_worker(bench: Bench) -> None:
    assert isinstance(bench.runs, Runs)
    worker = bench.runs.worker
    dead = worker.pid
    assert dead is not None
    os.kill(dead, signal.SIGKILL)
    # Another worker starts as soon as this one is gone, but needs a moment until it is ready.
    until(lambda: worker.pid != dead, what="a new worker")


@pytest.mark.parametrize(
    ("begin", "kind", "triggered_by"), [(_search, "retune", "retune"), (_say, "retrain", "retrain_buffered")]
)
def test_killed_in_the_middle_it_makes_its_version_once(
    settings: Settings, begin: Callable[[Bench, str], None], kind: str, triggered_by: str
) -> None:
    rng = random.Random(kind)
    with opened(settings, runs=True) as bench:
        handles = _ready(bench)
        for handle in handles:
            begin(bench, handle)
        cut_off = 0
        while cut_off < 2 and _count(bench, _LIVE):
            until(lambda: _count(bench, _RUNNING) or not _count(bench, _LIVE), what="a run under way")
            time.sleep(rng.uniform(0.0, 0.05))
            _kill_worker(bench)
            cut_off += _count(bench, _RUNNING) > 0
        assert cut_off
        for handle in handles:
            model = settled(bench, handle, seconds=120)
            assert (model.state, model.version_no) == ("ready", 2)
            second, first = versions.list_versions(bench, AUTHOR, handle).items
            assert (first.version_no, second.version_no, second.triggered_by) == (1, 2, triggered_by)
            assert model.last_operation is not None
            assert (model.last_operation.kind, model.last_operation.run_id) == (kind, second.run_id)


def test_a_worker_learns_by_itself_what_has_waited_long_enough(settings: Settings) -> None:
    with opened(replace(settings, retrain_after_seconds=1), runs=True) as bench:
        handle = draft(bench, warm=4, cold=4)
        training.start(bench, AUTHOR, handle, TrainRequest(effort="low"))
        assert settled(bench, handle).state == "ready"
        _say(bench, handle, times=2)
        until(lambda: models.get(bench, AUTHOR, handle).version_no == 2, what="the retrain")
        second = versions.get(bench, AUTHOR, handle, "v2")
        assert (second.triggered_by, second.sample_count) == ("retrain_buffered", 10)
        assert _count(bench, tables.runs.c.kind == "retrain") == 1
        with reading(bench.engine) as connection:
            assert stored_samples.ready_to_learn(connection, at_least=1, since=rules.now()) == []

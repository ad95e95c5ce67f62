"""Discovery and synthesis under kills and races: done once, with the result of an undisturbed run."""

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import func, select

from tests.benches import AUTHOR, draft, opened, settled, until
from traitbench.contract.models import RunStarted
from traitbench.contract.samples import SynthesizeRequest
from traitbench.contract.traits import DiscoverRequest
from traitbench.errors import DuplicateRun
from traitbench.lifecycle import discovery, samples, synthesis, traits
from traitbench.lifecycle.bench import Bench
from traitbench.runs.engine import Runs
from traitbench.settings import Settings
from traitbench.store import tables
from traitbench.store.engine import reading

THREADS = 20


def _discover(bench: Bench, handle: str) -> RunStarted:
    return discovery.start(bench, AUTHOR, handle, DiscoverRequest(effort="low"))


def _synthesize(bench: Bench, handle: str) -> RunStarted:
    return synthesis.start(bench, AUTHOR, handle, SynthesizeRequest(effort="low"))


def _runs(bench: Bench, *statuses: str) -> int:
    with reading(bench.engine) as connection:
        statement = select(func.count()).select_from(tables.runs).where(tables.runs.c.status.in_(statuses))
        return connection.execute(statement).scalar_one()


def _outcome(bench: Bench, handle: str) -> tuple[list[str], list[str]]:
    """The names of the traits and the texts of the samples, in order."""
    named = [trait.name for trait in traits.list_traits(bench, AUTHOR, handle).traits]
    return named, [sample.text for sample in samples.list_samples(bench, AUTHOR, handle, limit=500).items]


def test_what_is_killed_in_the_middle_is_done_once(settings: Settings) -> None:
    with opened(settings, runs=True) as bench:
        assert isinstance(bench.runs, Runs)
        calm, *killed = (draft(bench, warm=30, cold=30, words=16) for _ in range(3))
        grown = _outcome(bench, calm)
        for begin in (_discover, _synthesize):
            begin(bench, calm)
            settled(bench, calm)
            before, grown = grown, _outcome(bench, calm)
            assert grown != before
            for handle in killed:
                begin(bench, handle)
            until(lambda: bench.runs.healthy() and _runs(bench, "running"), what="a run under way", seconds=60)
            time.sleep(0.1)
            worker = bench.runs.worker.pid
            assert worker is not None
            os.kill(worker, signal.SIGKILL)
            for handle in killed:
                model = settled(bench, handle)
                assert model.last_operation is not None
                assert (model.state, model.last_operation.status) == ("draft", "succeeded")
                assert _outcome(bench, handle) == grown


@pytest.mark.parametrize("begin", [_discover, _synthesize])
def test_twenty_threads_that_begin_the_same_begin_one_run(
    settings: Settings, begin: Callable[[Bench, str], RunStarted]
) -> None:
    with opened(settings, runs=False) as bench:
        handle, barrier = draft(bench, warm=10, cold=10), Barrier(THREADS)

        def one(_: int) -> tuple[str, str | None]:
            barrier.wait()
            try:
                return "began", begin(bench, handle).run_id
            except DuplicateRun as error:
                return "met", error.headers["X-Run-Id"]

        with ThreadPoolExecutor(THREADS) as pool:
            answers = list(pool.map(one, range(THREADS)))
        assert Counter(what for what, _ in answers) == {"began": 1, "met": THREADS - 1}
        assert len({run_id for _, run_id in answers}) == 1
        assert _runs(bench, "queued") == 1

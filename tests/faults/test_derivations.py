"""Discovery and synthesis under kills: done once, with the result of an undisturbed run."""

import os
import signal
import time

import pytest
from sqlalchemy import func, select

from tests.conftest import not_none
from tests.contexts import AUTHOR, draft, opened, settled, until
from traitbench.contract.models import RunStarted
from traitbench.contract.samples import SynthesizeRequest
from traitbench.contract.traits import DiscoverRequest
from traitbench.operations import discovery, samples, synthesis, traits
from traitbench.operations.context import Context
from traitbench.runs.engine import Runs
from traitbench.settings import Settings
from traitbench.store import tables
from traitbench.store.database import reading


def _discover(context: Context, handle: str) -> RunStarted:
    return discovery.start(context, AUTHOR, handle, DiscoverRequest(effort="low"))


def _synthesize(context: Context, handle: str) -> RunStarted:
    return synthesis.start(context, AUTHOR, handle, SynthesizeRequest(effort="low"))


def _runs(context: Context, *statuses: str) -> int:
    with reading(context.engine) as connection:
        statement = select(func.count()).select_from(tables.runs).where(tables.runs.c.status.in_(statuses))
        return connection.execute(statement).scalar_one()


def _outcome(context: Context, handle: str) -> tuple[list[str], list[str]]:
    """The names of the traits and the texts of the samples, in order."""
    named = [trait.name for trait in traits.list_traits(context, AUTHOR, handle).traits]
    return named, [sample.text for sample in samples.list_samples(context, AUTHOR, handle, limit=500).items]


@pytest.mark.soak
def test_what_is_killed_in_the_middle_is_done_once(settings: Settings) -> None:
    with opened(settings, runs=True) as context:
        assert isinstance(context.runs, Runs)
        calm, *killed = (draft(context, warm=30, cold=30, words=16) for _ in range(3))
        grown = _outcome(context, calm)
        for begin in (_discover, _synthesize):
            begin(context, calm)
            settled(context, calm)
            before, grown = grown, _outcome(context, calm)
            assert grown != before
            for handle in killed:
                begin(context, handle)
            until(lambda: context.runs.healthy() and _runs(context, "running"), what="a run under way")
            time.sleep(0.1)
            worker = not_none(context.runs.worker.pid)
            os.kill(worker, signal.SIGKILL)
            for handle in killed:
                model = settled(context, handle)
                assert (model.state, not_none(model.last_operation).status) == ("draft", "succeeded")
                assert _outcome(context, handle) == grown

"""Two services on one database: both are up, each run is executed once, and one continues when the other ends."""

import pytest

from tests.contexts import AUTHOR, ON_BOTH, draft, opened, settled, until
from traitbench.contract.models import TrainRequest
from traitbench.operations import training, versions
from traitbench.operations.context import Context
from traitbench.settings import Settings


def _train(context: Context, count: int) -> list[str]:
    handles = [draft(context, warm=2, cold=2) for _ in range(count)]
    for handle in handles:
        training.start(context, AUTHOR, handle, TrainRequest(effort="low"))
    return handles


# `tests/runs/test_engine.py` has two workers of which one takes over; `tests/app/test_behind_nginx.py` two services.
@pytest.mark.soak
@ON_BOTH
def test_a_second_service_shares_the_work_and_inherits_it(settings: Settings) -> None:
    with opened(settings, runs=True) as second:
        with opened(settings, runs=True) as first:
            until(lambda: first.healthy() and second.healthy(), what="both to be up")
            handles = _train(first, 2) + _train(second, 2)
            assert [settled(second, handle).state for handle in handles] == ["ready"] * 4
        handles += _train(second, 2)
        assert [settled(second, handle).state for handle in handles] == ["ready"] * 6
        assert [len(versions.list_versions(second, AUTHOR, handle).items) for handle in handles] == [1] * 6

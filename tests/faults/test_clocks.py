"""The clock of a running service jumps by hours in both directions: runs end, feedback is used, nothing is negative.

libfaketime gives the service and its worker their own clock, which a file controls. The monotonic clock, which measures
durations, goes on as it does when a real clock is set. SQLite's clock, which times heartbeats, jumps too.
"""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contexts import ON_SQLITE, opened, until
from tests.faults.clients import Client, Log
from tests.faults.history import judge
from tests.faults.victim import Victim
from traitbench.operations import keys, operating
from traitbench.settings import Settings
from traitbench.store.database import open_engine

pytestmark = ON_SQLITE  # we cannot set the clock of a PostgreSQL server

HOURS = 3
# This libfaketime does not support the absolute times of Python's sleep; it leaves another kind of wait alone.
SITE = """\
import select, time

def sleep(seconds):
    select.select((), (), (), max(0.0, seconds))

time.sleep = sleep
"""


class Clocked:
    """A service with its own clock."""

    def __init__(self, settings: Settings, library: Path) -> None:
        self._clock = settings.home / "clock"
        self.jump(0)
        site = settings.home / "site"
        site.mkdir()
        (site / "sitecustomize.py").write_text(SITE)
        with opened(settings, runs=False) as context:
            secret = keys.create(context.engine, scope="authoring", namespaces=["local"]).secret
        self.victim = Victim(
            settings,
            {
                "LD_PRELOAD": str(library),
                "PYTHONPATH": str(site),
                "FAKETIME_TIMESTAMP_FILE": str(self._clock),
                "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                # Python waits for its lock by the monotonic clock; its "fix" ends these waits at once, again and again.
                "FAKETIME_FORCE_MONOTONIC_FIX": "0",
                "TRAITBENCH_RETRAIN_AFTER_SECONDS": "2",
            },
        )
        self.log = Log()
        self.client = Client(self.victim.base_url, secret, self.log, seed=1, stop=threading.Event())

    def jump(self, hours: float) -> None:
        """Set the service's clock this many hours ahead of the true one."""
        new = self._clock.with_suffix(".new")
        new.write_text(f"{'+' if hours >= 0 else '-'}{abs(hours) * 3_600:.0f}\n")
        new.replace(self._clock)

    def state(self, handle: str) -> dict[str, object]:
        """The model as it is now."""
        return self.client.get(handle).answer


@pytest.fixture(scope="module")
def library() -> Path:
    results = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    assert results, "libfaketime is not installed; `make test` installs it or says how."
    return results[0]


@pytest.fixture
def clocked(settings: Settings, library: Path) -> Iterator[Clocked]:
    clocked = Clocked(settings, library)
    try:
        clocked.victim.start()
        yield clocked
    finally:
        clocked.client.close()
        clocked.victim.stop()


@pytest.mark.soak
def test_jumps_by_hours_in_the_middle_of_runs_break_nothing(clocked: Clocked, settings: Settings) -> None:
    client, handle = clocked.client, ""
    for hours in (HOURS, -HOURS):
        handle = client.teach()
        client.add(handle, [(client.text(), number % 2) for number in range(60)])
        client.call("train", handle, "POST", f"/{handle}/train", {"effort": "low"})
        until(lambda model=handle: _under_way(clocked, model), what="the run to begin")  # type: ignore[misc]
        clocked.jump(hours)
        assert client.settle(handle).answer["state"] == "ready"
        for _ in range(2):
            client.score(handle)
        assert clocked.victim.kill_worker()
        until(clocked.victim.answers, what="a new worker")
    for name in sorted({event.handle for event in clocked.log.events}):
        client.look_at_all(name)
    assert (clocked.log.faults, judge(clocked.log.events)) == ([], [])
    for event in clocked.log.events:
        progress = (event.answer.get("last_operation") or {}).get("progress") if event.op == "get" else None
        if progress:
            assert progress["elapsed_s"] >= 0
            assert (progress["eta_s"] or 0) >= 0

    # Feedback that arrives while the clock is ahead is used once the clock is right again, long before it catches up.
    clocked.jump(HOURS)
    client.feedback(handle)
    clocked.jump(0)
    until(lambda: clocked.state(handle)["version_no"] == 2, what="the feedback to be learnt")
    engine = open_engine(settings.database_url)
    until(lambda: len(operating.overview(engine).alive) == 1, what="the worker to be seen by the right clock")
    assert all(each.seconds >= 0 for each in operating.overview(engine).tally)
    engine.dispose()


def _under_way(clocked: Clocked, handle: str) -> bool:
    model = clocked.state(handle)
    run = model.get("last_operation")
    return model["state"] != "busy" or (isinstance(run, dict) and run["status"] == "running")

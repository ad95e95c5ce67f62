"""Operational data for the operations page and the metrics: runs, queue, workers, storage, memory.

It holds numbers, handles and reasons, never texts. The age of a worker is measured by the database's clock, which all
workers share. No age is negative, even if a clock was set back.
"""

import os
import platform
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from sqlalchemy import Engine

from traitbench.contract.fields import Unreadable
from traitbench.operations import rules
from traitbench.settings import Settings
from traitbench.store import runs, workers
from traitbench.store.database import reading
from traitbench.store.runs import Listed as Listed
from traitbench.store.runs import Tally
from traitbench.store.workers import WorkerHeartbeat

ALIVE_SECONDS = 30.0


@dataclass(frozen=True)
class Overview:
    """All numbers at one moment."""

    tally: Sequence[Tally]
    workers: Sequence[WorkerHeartbeat]
    oldest_wait_s: float
    database_bytes: int

    @property
    def alive(self) -> list[WorkerHeartbeat]:
        """The workers with a recent heartbeat."""
        return [each for each in self.workers if each.age_s <= ALIVE_SECONDS]

    def count(self, *outcomes: str) -> int:
        """The number of runs with these outcomes."""
        return sum(each.count for each in self.tally if each.outcome in outcomes)


@dataclass(frozen=True)
class Recent:
    """The runs that an operator looks at, newest first.

    `live` have not ended. `failed` are the last operations of their models: nothing has succeeded since. `unreadable`
    are rows of these lists that cannot be read.
    """

    live: Sequence[Listed]
    failed: Sequence[Listed]
    ended: Sequence[Listed]
    unreadable: Sequence[Unreadable] = ()


def overview(engine: Engine) -> Overview:
    """All numbers; raise `StoreUnavailable` when the database cannot be used."""
    with reading(engine) as connection:
        oldest = runs.oldest_queued(connection)
        return Overview(
            tally=runs.tally(connection),
            workers=workers.ages(connection),
            oldest_wait_s=seconds_between(oldest, rules.now()) if oldest else 0.0,
            database_bytes=workers.size(connection),
        )


def recent(engine: Engine, *, ended: int = 200) -> Recent:
    """The runs that an operator looks at."""
    with reading(engine) as connection:
        lists = [
            runs.listed(connection, "live", limit=200),
            runs.listed(connection, "unrepaired", limit=20),
            runs.listed(connection, "ended", limit=ended),
        ]
    damaged = {row.item: row for listing in lists for row in listing.unreadable()}
    live, unrepaired, ended_runs = (listing.items() for listing in lists)
    return Recent(live, unrepaired, ended_runs, list(damaged.values()))


def rows(engine: Engine) -> dict[str, int]:
    """How many models, versions and samples there are."""
    with reading(engine) as connection:
        return workers.rows(connection)


def seconds_between(begin: datetime, end: datetime) -> float:
    """Seconds from one time to another; never negative, even if a clock was set back."""
    return max(0.0, (end - begin).total_seconds())


def free_bytes(settings: Settings) -> int | None:
    """Free space on the disk of the home folder; None when the folder is gone."""
    with suppress(OSError):
        return shutil.disk_usage(settings.home).free
    return None


def children_memory() -> int | None:
    """Bytes of resident memory of this process's children; None if the system does not report it."""
    try:
        tasks = Path("/proc/self/task").iterdir()
        children = [int(pid) for task in tasks for pid in (task / "children").read_text().split()]
    except OSError:
        return None
    return sum(_resident(pid) for pid in children)


@cache
def build() -> dict[str, str]:
    """The release and the Python that runs it."""
    try:
        release = version("traitbench")
    except PackageNotFoundError:
        release = "unknown"
    return {"version": release, "python": platform.python_version()}


def _resident(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0

"""What an operator wants to know: runs, the queue, workers, storage, memory. Numbers, handles and reasons; no texts.

For the console page and the metrics. The age of a worker is taken by the clock of the database, which all of them
share. No age is negative, whatever a clock has done since.
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

from traitbench.contract.unreadable import Unreadable
from traitbench.lifecycle import rules
from traitbench.settings import Settings
from traitbench.store import runs, storage, workers
from traitbench.store.engine import reading
from traitbench.store.runs import Listed, Tally
from traitbench.store.workers import Seen

ALIVE_SECONDS = 30.0


@dataclass(frozen=True)
class Overview:
    """All numbers at one moment."""

    tally: Sequence[Tally]
    workers: Sequence[Seen]
    oldest_wait_s: float
    database_bytes: int

    @property
    def alive(self) -> list[Seen]:
        """The workers that were seen lately."""
        return [each for each in self.workers if each.age_s <= ALIVE_SECONDS]

    def count(self, *outcomes: str) -> int:
        """How many runs there are of these outcomes."""
        return sum(each.count for each in self.tally if each.outcome in outcomes)


@dataclass(frozen=True)
class Recent:
    """The runs that an operator looks at, newest first.

    `live` have not ended. `failed` are the last operations of their models: nothing has succeeded since. `unreadable`
    are rows of either that cannot be read.
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
            database_bytes=storage.size(connection),
        )


def recent(engine: Engine, *, ended: int = 20, failed: int = 20) -> Recent:
    """The runs to look at."""
    with reading(engine) as connection:
        lists = [
            runs.listed(connection, "live", limit=200),
            runs.listed(connection, "unrepaired", limit=failed),
            runs.listed(connection, "ended", limit=ended),
        ]
    damaged = {row.item: row for found in lists for row in found.unreadable()}
    live, unrepaired, over = (found.items() for found in lists)
    return Recent(live, unrepaired, over, list(damaged.values()))


def rows(engine: Engine) -> dict[str, int]:
    """How many models, versions and samples there are."""
    with reading(engine) as connection:
        return storage.rows(connection)


def seconds_between(begin: datetime, end: datetime) -> float:
    """Seconds from one time to another; 0 where a clock that was set back would make it less."""
    return max(0.0, (end - begin).total_seconds())


def free_bytes(settings: Settings) -> int | None:
    """Free space on the disk of the home folder; None when the folder is gone."""
    with suppress(OSError):
        return shutil.disk_usage(settings.home).free
    return None


def children_memory() -> int | None:
    """Bytes of resident memory of this process's children; None where the system does not tell."""
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

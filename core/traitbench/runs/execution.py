"""One execution of a run: it reports its progress, and each report checks that it still owns the run.

Two executions of one run can exist for a while, if a process that was taken for dead wakes up again. Each has a token;
only the one that claimed the run last can write, and the other gets `Fenced` and stops.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from time import monotonic
from types import MappingProxyType
from typing import Any, Protocol

from sqlalchemy import Connection, Engine

from traitbench.runs.heartbeat import WorkItem
from traitbench.store import runs
from traitbench.store.database import writing

_EVERY_SECONDS = 0.5
_ETA_FROM = 0.05


class Fenced(Exception):
    """The run belongs to another execution now, or has been cancelled."""


class Fail(Protocol):
    """Marks a run as failed and releases its model; returns False if the run has already ended."""

    def __call__(
        self, connection: Connection, run: runs.RunRow, *, code: str, message: str, owner: str | None = None
    ) -> bool:
        """If `owner` is given, do so only while it is still the owner of the run."""
        ...


class StepListener(Protocol):
    """Tells the worker's parent which piece of a run starts next."""

    def __call__(self, run_id: str, item: WorkItem | None, /) -> None:
        """`item` is None when the worker no longer holds the run."""
        ...


def ignore_progress(_run_id: str, _item: WorkItem | None, /) -> None:
    """Ignore progress, for executions without a parent that listens."""


class Execution:
    """A claimed run."""

    def __init__(self, engine: Engine, run: runs.RunRow, owner: str, *, tell: StepListener = ignore_progress) -> None:
        self.run = run
        self.owner = owner
        self._engine = engine
        self._tell = tell
        self._started = monotonic()
        self._reported = -_EVERY_SECONDS
        self.fraction = 0.0
        self._left_s: float | None = None

    @property
    def elapsed_s(self) -> float:
        """Seconds since this execution began."""
        return monotonic() - self._started

    @property
    def suspected(self) -> bool:
        """Whether the run may have brought a worker down; if so, its pieces should be small."""
        return self.run.strikes > 0

    def announce(self, phase: str, *, done: int = 0, samples: Sequence[int] = ()) -> None:
        """Tell the parent which piece comes next, in case the worker does not survive it."""
        self._tell(self.run.id, WorkItem(phase, done, tuple(samples)))

    def report(self, phase: str, done: int, total: int, *, fraction: float, left_s: float | None = None) -> None:
        """Report progress, at most twice a second; raise `Fenced` if this execution no longer owns the run.

        `left_s` are the seconds that the run still takes. By default they follow from the fraction that is done.
        """
        self.announce(phase, done=done)
        if monotonic() - self._reported < _EVERY_SECONDS:
            return
        self.fraction = min(1.0, max(self.fraction, fraction))
        self._left_s = left_s
        with writing(self._engine) as connection:
            owned = runs.progress(connection, self.run.id, self.owner, self._progress(phase, done, total))
        if not owned:
            raise Fenced(self.run.id)
        self._reported = monotonic()

    def succeed(
        self,
        connection: Connection,
        *,
        phase: str,
        total: int,
        notes: Sequence[str] = (),
        outcome: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Mark the run as succeeded, in the caller's transaction; raise `Fenced` if this execution no longer owns it.

        `notes` tell a person about the outcome. `outcome` are further fields of the final progress.
        """
        self.fraction, self._left_s = 1.0, None
        progress = self._progress(phase, total, total) | ({"notes": list(notes)} if notes else {}) | dict(outcome)
        if not runs.succeed(connection, self.run.id, self.owner, progress=progress, now=datetime.now(UTC)):
            raise Fenced(self.run.id)

    def _progress(self, phase: str, done: int, total: int) -> dict[str, Any]:
        elapsed, fraction = self.elapsed_s, self.fraction
        by_fraction = elapsed * (1 - fraction) / fraction if fraction >= _ETA_FROM else None
        eta = by_fraction if self._left_s is None else self._left_s
        return {
            "phase": phase,
            "done": done,
            "total": total,
            "fraction": round(fraction, 4),
            "elapsed_s": round(elapsed, 1),
            "eta_s": None if eta is None else round(eta, 1),
        }

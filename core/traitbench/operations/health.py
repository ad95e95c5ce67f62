"""Health of the service, part by part. The check is cheap: its result is cached for a second.

The database is checked in a separate thread, with a short timeout: a database that hangs must not block the health
response. The check begins a write and rolls it back, because a database that others have locked still answers reads.
Nothing here names a path, a handle or a model, because the route needs no key.
"""

import logging
import shutil
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NoAnswer
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Literal

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from traitbench import logs
from traitbench.operations import rules
from traitbench.runs import RunEngine
from traitbench.runs.heartbeat import EncoderState
from traitbench.runs.supervisor import SILENCE_SECONDS
from traitbench.store import runs
from traitbench.store.database import check_writable, in_place, reading
from traitbench.store.errors import StoreUnavailable

Part = Literal["database", "worker", "encoder", "disk"]

# The log of the service, whose health this is.
_log = logging.getLogger("traitbench").getChild("service")
_CACHED_SECONDS, _CACHED_BAD_SECONDS = 1.0, 0.1
_PATIENCE_SECONDS = 2.0
_WRITE_SECONDS = 1.5
_FULL_BELOW_BYTES = 1 << 20

_MESSAGES: dict[Part, str] = {
    "worker": "The worker that executes runs is not running; it is being restarted.",
    "encoder": "The worker cannot load the encoder; it will try again with the next run.",
    "disk": "The disk that holds the database is full. Free some space on it.",
}


@dataclass(frozen=True)
class State:
    """The result of one check. Ages are in seconds; None means that there is nothing to measure."""

    worker_heartbeat_age_s: float | None
    encoder: EncoderState
    oldest_queued_s: float | None
    free_disk_bytes: int | None
    database: str

    @property
    def wrong(self) -> list[Part]:
        """The parts that are unhealthy."""
        silent = self.worker_heartbeat_age_s is None or self.worker_heartbeat_age_s > SILENCE_SECONDS
        full = self.free_disk_bytes is not None and self.free_disk_bytes < _FULL_BELOW_BYTES
        bad: dict[Part, bool] = {
            "database": self.database != "ok",
            "worker": silent,
            "encoder": self.encoder == "failed",
            "disk": full,
        }
        return [part for part, is_bad in bad.items() if is_bad]

    def says(self) -> str:
        """What is wrong, as sentences."""
        return " ".join(_MESSAGES.get(part, self.database) for part in self.wrong)

    def figures(self) -> dict[str, Any]:
        """The values as they are sent to clients."""
        return asdict(self) | {"database": "ok" if self.database == "ok" else "unavailable"}


class HealthCheck:
    """Checks database, worker and disk; `folder` is the folder of the database."""

    def __init__(self, engine: Engine, runs: RunEngine, folder: Path) -> None:
        self._engine, self._runs, self._folder = engine, runs, folder
        self._lock = Lock()
        self._cached: tuple[float, State] | None = None
        self._was_well = False
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="health")
        self._pending: Future[tuple[str, float | None]] | None = None

    def state(self) -> State:
        """The current state. A result under a second old is reused if all was healthy and the worker still is.

        What is wrong is checked again after a tenth of a second.
        """
        with self._lock:
            if self._cached is None or not self._lasts(*self._cached):
                before, now = self._cached, self._check()
                self._cached = monotonic(), now
                self._log_change(before and before[1].wrong, now.wrong)
            return self._cached[1]

    def _lasts(self, at: float, state: State) -> bool:
        age = monotonic() - at
        return age <= _CACHED_BAD_SECONDS if state.wrong else age <= _CACHED_SECONDS and self._runs.healthy()

    def close(self) -> None:
        """Stop checking."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _log_change(self, before: list[Part] | None, now: list[Part]) -> None:
        """Log one line when a part fails, and one when all are healthy again.

        Parts that are still starting have not failed.
        """
        if now:
            if self._was_well and now != before:
                logs.event(_log, logging.WARNING, "unhealthy", wrong=now)
            return
        if self._was_well and before:
            logs.event(_log, logging.WARNING, "healthy_again")
        self._was_well = True

    def _check(self) -> State:
        database, oldest_queued_s = self._query_database()
        return State(
            worker_heartbeat_age_s=_rounded(self._runs.silent_s()) if self._runs.healthy() else None,
            encoder=self._runs.encoder(),
            oldest_queued_s=oldest_queued_s,
            free_disk_bytes=_or_none(lambda: shutil.disk_usage(self._folder).free),
            database=database,
        )

    def _query_database(self) -> tuple[str, float | None]:
        # One query at a time: if it hangs, the next call waits for it instead of sending another.
        if self._pending is None:
            self._pending = self._executor.submit(self._check_database)
        try:
            answer = self._pending.result(_PATIENCE_SECONDS)
        except NoAnswer:
            return f"The database has not answered for {_PATIENCE_SECONDS:g} s. Check that it runs.", None
        self._pending = None
        return answer

    def _check_database(self) -> tuple[str, float | None]:
        try:
            check_writable(self._engine, within_s=_WRITE_SECONDS)
            with reading(self._engine) as connection:
                oldest = runs.oldest_queued(connection)
        except StoreUnavailable as error:
            return error.message, None
        except SQLAlchemyError as error:
            return f"The database reports an unexpected error ({type(error).__name__}).", None
        if not in_place(self._engine):
            return "The database file was removed or replaced while Traitbench was running.", None
        return "ok", None if oldest is None else _rounded((rules.now() - oldest).total_seconds())


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(max(0.0, seconds), 1)


def _or_none(read: Callable[[], int]) -> int | None:
    try:
        return read()
    except OSError:
        return None

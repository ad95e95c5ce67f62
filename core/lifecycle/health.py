"""Whether the service is well, part by part, and cheap to ask: looked at once a second at most.

The look is made in a thread of its own and waited for briefly: a database that does not answer must not keep the
answer about it. Nothing here names a path, a handle or a model: the route is open.
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
from traitbench.lifecycle import rules
from traitbench.runs import RunEngine
from traitbench.runs.pulse import EncoderState
from traitbench.runs.supervisor import SILENCE_SECONDS
from traitbench.store import runs
from traitbench.store.engine import in_place, reading
from traitbench.store.trouble import StoreUnavailable

Part = Literal["database", "worker", "encoder", "disk"]

_log = logging.getLogger("traitbench.service")
_KEPT_SECONDS = 1.0
_PATIENCE_SECONDS = 2.0
_NO_ROOM_BYTES = 1 << 20

_SAYS: dict[Part, str] = {
    "worker": "The worker that executes runs is not up; it is being started again.",
    "encoder": "The worker cannot load the encoder; it tries again with the next run.",
    "disk": "The disk of the database is full. Free some space on it.",
}


@dataclass(frozen=True)
class State:
    """What was seen: ages in seconds, None where there is nothing to measure."""

    worker_heartbeat_age_s: float | None
    encoder: EncoderState
    oldest_queued_s: float | None
    free_disk_bytes: int | None
    database: str

    @property
    def wrong(self) -> list[Part]:
        """The parts that keep the service from being well."""
        silent = self.worker_heartbeat_age_s is None or self.worker_heartbeat_age_s > SILENCE_SECONDS
        full = self.free_disk_bytes is not None and self.free_disk_bytes < _NO_ROOM_BYTES
        bad: dict[Part, bool] = {
            "database": self.database != "ok",
            "worker": silent,
            "encoder": self.encoder == "failed",
            "disk": full,
        }
        return [part for part, is_bad in bad.items() if is_bad]

    def says(self) -> str:
        """What is wrong, in sentences."""
        return " ".join(_SAYS.get(part, self.database) for part in self.wrong)

    def figures(self) -> dict[str, Any]:
        """What was seen, as it crosses the wire."""
        return asdict(self) | {"database": "ok" if self.database == "ok" else "unavailable"}


class Health:
    """Looks at store, worker and disk; `folder` is where the database lies."""

    def __init__(self, engine: Engine, runs: RunEngine, folder: Path) -> None:
        self._engine, self._runs, self._folder = engine, runs, folder
        self._lock = Lock()
        self._kept: tuple[float, State] | None = None
        self._was_well = False
        self._asker = ThreadPoolExecutor(1, thread_name_prefix="health")
        self._asked: Future[tuple[str, float | None]] | None = None

    def state(self) -> State:
        """The state now, or of less than a second ago when all was well then and the worker still is."""
        with self._lock:
            old = self._kept is None or monotonic() - self._kept[0] > _KEPT_SECONDS
            if self._kept is None or old or self._kept[1].wrong or not self._runs.healthy():
                before, self._kept = self._kept, (monotonic(), self._look())
                self._log_change(before and before[1].wrong, self._kept[1].wrong)
            return self._kept[1]

    def close(self) -> None:
        """Ask no more."""
        self._asker.shutdown(wait=False, cancel_futures=True)

    def _log_change(self, before: list[Part] | None, now: list[Part]) -> None:
        """One line when a part fails, and one when all is well again. While the service starts, nothing has failed."""
        if now:
            if self._was_well and now != before:
                logs.event(_log, logging.WARNING, "unhealthy", wrong=now)
            return
        if self._was_well and before:
            logs.event(_log, logging.WARNING, "healthy_again")
        self._was_well = True

    def _look(self) -> State:
        database, oldest_queued_s = self._ask_database()
        return State(
            worker_heartbeat_age_s=_rounded(self._runs.silent_s()) if self._runs.healthy() else None,
            encoder=self._runs.encoder(),
            oldest_queued_s=oldest_queued_s,
            free_disk_bytes=_or_none(lambda: shutil.disk_usage(self._folder).free),
            database=database,
        )

    def _ask_database(self) -> tuple[str, float | None]:
        # One question at a time: what hangs is waited for again, not asked again.
        if self._asked is None:
            self._asked = self._asker.submit(self._question)
        try:
            answer = self._asked.result(_PATIENCE_SECONDS)
        except NoAnswer:
            return f"The database has not answered for {_PATIENCE_SECONDS:g} s. Check that it runs.", None
        self._asked = None
        return answer

    def _question(self) -> tuple[str, float | None]:
        try:
            with reading(self._engine) as connection:
                oldest = runs.oldest_queued(connection)
        except StoreUnavailable as error:
            return error.message, None
        except SQLAlchemyError as error:
            return f"The database does not answer as it should ({type(error).__name__}).", None
        if not in_place(self._engine):
            return "The database file was removed or replaced while Traitbench was running.", None
        return "ok", None if oldest is None else _rounded((rules.now() - oldest).total_seconds())


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(max(0.0, seconds), 1)


def _or_none(ask: Callable[[], int]) -> int | None:
    try:
        return ask()
    except OSError:
        return None

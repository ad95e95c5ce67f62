"""Work that the workbench does for its pages in threads, and keeps in memory: batches, and comparisons of versions.

It outlives the page and the browser tab: its id is in the address, and its owner can open it again. Nothing is written
to disk here; `stored_batches` keeps the results of batches. What is not viewed is removed from memory after some hours,
under zero data retention after minutes. Threads never draw.
"""

import logging
import secrets
import threading
import time
from abc import ABC, abstractmethod
from typing import Literal, TypeVar

from traitbench.errors import InternalError, TraitbenchError
from traitbench.tables.rows import NotATable
from traitbench_app.shell.people import OPERATOR

State = Literal["running", "done", "stopped", "failed"]

MOST_IN_MEMORY = 6
MOST_RUNNING = 3

FORGOTTEN_AFTER, PURGED_AFTER = 6 * 3_600.0, 15 * 60.0
"""Seconds after which work that is not viewed is discarded; the second applies to zero data retention."""

_DESERTED_AFTER = 15 * 60.0


class Full(Exception):
    """Too much work is already running."""


class BackgroundWork(ABC):
    """Work in a thread, of `total` rows of which `done` are finished and `failed` have no result.

    Pages read the rows up to `done`.
    """

    def __init__(self, *, total: int, owner: str = OPERATOR.id) -> None:
        self.id = secrets.token_urlsafe(12)
        self.owner = owner
        self.total = total
        self.state: State = "running"
        self.error: TraitbenchError | None = None
        self.seen = time.monotonic()
        self.done = self.failed = 0
        self._stop = threading.Event()
        self._seconds, self._since = 0.0, time.monotonic()
        self._before = 0
        self._thread: threading.Thread | None = None

    @property
    @abstractmethod
    def handles(self) -> tuple[str, ...]:
        """The models, without versions."""

    @abstractmethod
    def work(self) -> State:
        """Do what is left, increase `done`, and return how it ended. Look at `asked_to_stop` from time to time."""

    @property
    def asked_to_stop(self) -> bool:
        """Whether somebody pressed stop."""
        return self._stop.is_set()

    @property
    def seconds(self) -> float:
        """Seconds that the work has been running, without pauses."""
        return self._seconds + (time.monotonic() - self._since if self.state == "running" else 0.0)

    @property
    def rate(self) -> float:
        """Rows per second since the last start; 0 if it is not running."""
        seconds = time.monotonic() - self._since
        return (self.done - self._before) / seconds if self.state == "running" and seconds > 0 else 0.0

    def start(self) -> None:
        """Start the work, or continue it from where it stopped."""
        if self._thread is not None and self._thread.is_alive():
            return
        self.state, self.error = "running", None
        self._stop.clear()
        self._since, self._before = time.monotonic(), self.done
        self._thread = threading.Thread(target=self._run, name=f"work-{self.handles[0]}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the work and keep its results."""
        self._stop.set()
        if self._thread is not None:
            # Usually it ends at the next row. A request on its way may take longer, and the page does not wait for it.
            self._thread.join(timeout=2.0)

    def _run(self) -> None:
        ended: State = "failed"
        try:
            ended = self.work()
        except TraitbenchError as error:
            self.error = error
        except NotATable as error:
            self.error = InternalError(str(error))
        except Exception as error:
            logging.getLogger(__name__).exception("work ended with %s", type(error).__name__)
            self.error = InternalError(
                "An error in the workbench stopped this. Continue it, or see the log for details."
            )
        finally:
            self._seconds += time.monotonic() - self._since
            self.state = ended


# ---- those of this process -----------------------------------------------------------------------------------------

Kind = TypeVar("Kind", bound=BackgroundWork)

_IN_MEMORY: dict[str, BackgroundWork] = {}
_TIMERS: dict[str, threading.Timer] = {}
_LOCK = threading.Lock()


def start(work: BackgroundWork, *, forget_after: float = FORGOTTEN_AFTER) -> None:
    """Start new work; discard it when it was not viewed for `forget_after` seconds.

    Raise `Full` if too much is running.
    """
    with _LOCK:
        _make_room()
        _IN_MEMORY[work.id] = work
    work.start()
    _forget_later(work.id, forget_after)


def hold(work: BackgroundWork, *, forget_after: float = FORGOTTEN_AFTER) -> None:
    """Hold work that ended earlier in memory, as if it had just ended; raise `Full` if too much is running."""
    with _LOCK:
        _make_room()
        _IN_MEMORY[work.id] = work
    _forget_later(work.id, forget_after)


def ids() -> tuple[str, ...]:
    """Return the ids of all work in memory."""
    return tuple(_IN_MEMORY)


def find(work_id: str | None, kind: type[Kind], *, owner: str = OPERATOR.id) -> Kind | None:
    """Return work of this kind and owner by its id, or None if it is gone."""
    work = _IN_MEMORY.get(work_id or "")
    if not isinstance(work, kind) or work.owner != owner:
        return None
    work.seen = time.monotonic()
    return work


def discard(work_id: str) -> None:
    """Stop work and discard it with all its texts."""
    with _LOCK:
        work, timer = _IN_MEMORY.pop(work_id, None), _TIMERS.pop(work_id, None)
    if timer is not None:
        timer.cancel()
    if work is not None:
        work.stop()


def discard_of(handle: str) -> None:
    """Discard all work on a model."""
    for work in list(_IN_MEMORY.values()):
        if handle in work.handles:
            discard(work.id)


def _make_room() -> None:
    """Make room for new work; the caller holds the lock.

    Stop running work that was not viewed for a while, and discard the finished that was viewed longest ago.
    Raise `Full` if too much is still running.
    """
    now = time.monotonic()
    for work in list(_IN_MEMORY.values()):
        if work.state == "running" and _running() >= MOST_RUNNING and now - work.seen > _DESERTED_AFTER:
            work.stop()
    if _running() >= MOST_RUNNING:
        raise Full(
            f"{MOST_RUNNING} batches or comparisons are already running in this workbench. Wait for one to end, or"
            " stop one."
        )
    ended = sorted((work for work in _IN_MEMORY.values() if work.state != "running"), key=lambda work: work.seen)
    # One more, for the work that is about to be added.
    for work in ended[: max(len(_IN_MEMORY) - MOST_IN_MEMORY + 1, 0)]:
        del _IN_MEMORY[work.id]
        # Work that has ended may not have its timer yet.
        if timer := _TIMERS.pop(work.id, None):
            timer.cancel()


def _running() -> int:
    return sum(work.state == "running" for work in _IN_MEMORY.values())


def _forget_later(work_id: str, seconds: float) -> None:
    """Discard work when it was not viewed for `seconds`."""

    def look() -> None:
        work = _IN_MEMORY.get(work_id)
        if work is None:
            return
        left = seconds - (time.monotonic() - work.seen)
        if left > 0:
            wait(left)
        else:
            discard(work_id)

    def wait(left: float) -> None:
        timer = threading.Timer(left, look)
        timer.daemon = True
        with _LOCK:
            if work_id not in _IN_MEMORY:
                return
            _TIMERS[work_id] = timer
        timer.start()

    wait(seconds)

"""Who encodes first, in this process: calls that somebody waits for, then batches.

A `call` goes ahead at once, always. A batch encodes in turns: one more at a time than there are processors, none
while a call is in flight or was a moment ago (whoever calls again and again has the processors in between too), shared
evenly among the batches whatever their size. A turn is a few milliseconds long, or longer, which is cheaper, when there
was no call lately. So that calls that never cease do not hold up batches for ever, one turn is granted whenever none
has been for `PATIENCE_SECONDS`.
"""

import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, local
from time import monotonic

PATIENCE_SECONDS = 0.05

_SHORT_TURN, _LONG_TURN = 0.004, 0.04  # seconds
_LATELY_SECONDS = 1.0
_MOMENT_SECONDS = 0.005

_here = local()


class Batch:
    """One that takes turns; `turns` counts those it has had, from where the others were when it came."""

    def __init__(self) -> None:
        self.turns = 0
        self.waiting: deque[Event] = deque()


class Lanes:
    """The discipline: `width` turns at a time. The process has one, `LANES`."""

    def __init__(self, width: int, *, patience_s: float = PATIENCE_SECONDS) -> None:
        self._width, self._patience = width, patience_s
        self._lock = Lock()
        self._calls = 0
        self._taken = 0
        self._granted = 0.0
        self._called = float("-inf")
        self._level = 0
        self._queue: dict[Batch, None] = {}

    @contextmanager
    def call(self) -> Iterator[None]:
        """Something that somebody waits for is in flight: batches pause at the end of their turns."""
        with self._lock:
            self._calls += 1
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                self._called = monotonic()
                self._grant()

    def turn_seconds(self) -> float:
        """How long a turn should take."""
        quiet = self._calls == 0 and monotonic() - self._called > _LATELY_SECONDS
        return _LONG_TURN if quiet else _SHORT_TURN

    @property
    def waiting(self) -> int:
        """How many turns are waited for."""
        with self._lock:
            return sum(len(batch.waiting) for batch in self._queue)

    @contextmanager
    def turn(self, batch: Batch) -> Iterator[None]:
        """A turn of this batch, once it is granted."""
        with self._lock:
            mine = self._join(batch)
            self._grant()
        # Where all turns are taken, who ends one hands it on: nobody need look for himself, but for a call that comes.
        while not mine.wait(_MOMENT_SECONDS if self._taken < self._width else _LONG_TURN):
            with self._lock:
                self._grant()
        _here.in_turn = True
        try:
            yield
        finally:
            _here.in_turn = False
            with self._lock:
                self._taken -= 1
                self._grant()

    def _join(self, batch: Batch) -> Event:
        if not batch.waiting:
            batch.turns = max(batch.turns, self._level)
            self._queue[batch] = None
        batch.waiting.append(mine := Event())
        return mine

    def _grant(self) -> None:
        """Hand out what turns there are, to the batches that had the fewest."""
        while self._queue and self._taken < self._width and self._open():
            batch = min(self._queue, key=lambda each: each.turns)
            batch.waiting.popleft().set()
            if not batch.waiting:
                del self._queue[batch]
            self._level = batch.turns
            batch.turns += 1
            self._taken += 1
            self._granted = monotonic()

    def _open(self) -> bool:
        now = monotonic()
        return (self._calls == 0 and now - self._called >= _MOMENT_SECONDS) or now - self._granted >= self._patience


def in_turn() -> bool:
    """Whether this thread has a turn: it is to do by itself then, for other processors have turns of their own."""
    return getattr(_here, "in_turn", False)


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# One of the turns mostly waits for Python's lock, and its processor is free for another.
WIDTH = processors() + 1

LANES = Lanes(WIDTH)

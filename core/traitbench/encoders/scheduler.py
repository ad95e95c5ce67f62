"""Schedule encoding in this process: interactive calls first, then batches.

An interactive call starts at once, always. A batch encodes in slots. There is one slot more than processors. None is
granted while a call runs or for a moment after it, so that a client that calls in a loop also gets the processors in
between. Slots are shared evenly among batches, whatever their size. A slot lasts a few milliseconds. Without recent
calls it lasts longer, which is more efficient. Endless calls must not starve batches, so one slot is granted whenever
none was granted for `PATIENCE_SECONDS`.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Lock, local
from time import monotonic
from typing import TypeVar

import numpy as np

from traitbench.encoders import Vectors

PATIENCE_SECONDS = 0.05

# Python's threads have no priorities, so a call has to wait for a slot that has started. Short slots keep that wait
# short.
_SHORT_SLOT, _LONG_SLOT = 0.004, 0.04  # seconds
_LATELY_SECONDS = 1.0
_MOMENT_SECONDS = 0.005

_here = local()


class BatchQueue:
    """The queue of a batch.

    `slots` is how many it has had; a new batch starts at the count of the others, so that it gets no more than its
    share.
    """

    def __init__(self) -> None:
        self.slots = 0
        self.waiting: deque[Event] = deque()


class EncoderScheduler:
    """The scheduler, with `width` slots at a time. The process has one, `SCHEDULER`."""

    def __init__(self, width: int, *, patience_s: float = PATIENCE_SECONDS) -> None:
        self._width, self._patience = width, patience_s
        self._lock = Lock()
        self._calls = 0
        self._taken = 0
        self._granted = 0.0
        self._called = float("-inf")
        self._level = 0
        self._queue: dict[BatchQueue, None] = {}

    @contextmanager
    def interactive(self) -> Iterator[None]:
        """Run an interactive call: batches pause at the end of their slots."""
        with self._lock:
            self._calls += 1
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                self._called = monotonic()
                self._grant()

    def slot_seconds(self) -> float:
        """How long a slot should take now."""
        quiet = self._calls == 0 and monotonic() - self._called > _LATELY_SECONDS
        return _LONG_SLOT if quiet else _SHORT_SLOT

    @property
    def waiting(self) -> int:
        """The number of slots that batches are waiting for."""
        with self._lock:
            return sum(len(batch.waiting) for batch in self._queue)

    @contextmanager
    def slot(self, batch: BatchQueue) -> Iterator[None]:
        """Wait for a slot of this batch and hold it."""
        with self._lock:
            granted = self._join(batch)
            self._grant()
        # While all slots are taken, the one that ends grants the next. Poll only to notice when calls have ended.
        while not granted.wait(_MOMENT_SECONDS if self._taken < self._width else _LONG_SLOT):
            with self._lock:
                self._grant()
        _here.in_slot = True
        try:
            yield
        finally:
            _here.in_slot = False
            with self._lock:
                self._taken -= 1
                self._grant()

    def _join(self, batch: BatchQueue) -> Event:
        if not batch.waiting:
            batch.slots = max(batch.slots, self._level)
            self._queue[batch] = None
        batch.waiting.append(mine := Event())
        return mine

    def _grant(self) -> None:
        """Grant all free slots, to the batches that had the fewest."""
        while self._queue and self._taken < self._width and self._open():
            batch = min(self._queue, key=lambda each: each.slots)
            batch.waiting.popleft().set()
            if not batch.waiting:
                del self._queue[batch]
            self._level = batch.slots
            batch.slots += 1
            self._taken += 1
            self._granted = monotonic()

    def _open(self) -> bool:
        now = monotonic()
        return (self._calls == 0 and now - self._called >= _MOMENT_SECONDS) or now - self._granted >= self._patience


def in_slot() -> bool:
    """Whether this thread holds a slot. It must then start no threads: the other processors serve other slots."""
    return getattr(_here, "in_slot", False)


def processors() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# One slot is mostly waiting for the GIL, so its processor can serve another slot. A batch then takes 1.09 times as long
# as its encoding, and 1.14 times with a slot for each processor.
WIDTH = processors() + 1

SCHEDULER = EncoderScheduler(WIDTH)


_FROM = 8
_AT_ONCE = 32


Counted = tuple[Vectors, list[int]]
Item = TypeVar("Item")
Result = TypeVar("Result")
Encode = Callable[[Sequence[str]], Counted]


def threads_now() -> int:
    """In how many threads this thread may encode."""
    return 1 if in_slot() else processors()


def in_threads(call: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Call for each item, in several threads if there are several processors."""
    threads = threads_now()
    if threads == 1 or len(items) < 2:
        return list(map(call, items))
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(call, items))


def side_by_side(texts: Sequence[str], encode: Encode, width: int) -> Counted:
    """(n_texts, width) rows and n_texts token counts; equal texts are encoded once. A row must depend on its text
    alone.
    """
    distinct = list(dict.fromkeys(texts))
    rows, counts = _encoded(distinct, encode, width)
    if len(distinct) == len(texts):
        return rows, counts
    index_of = dict(zip(distinct, range(len(distinct)), strict=True))
    indices = [index_of[text] for text in texts]
    return rows[indices], [counts[position] for position in indices]


def _encoded(texts: Sequence[str], encode: Encode, width: int) -> Counted:
    threads = threads_now()
    size = _AT_ONCE if threads == 1 else max(1, min(_AT_ONCE, len(texts) // (4 * threads)))
    firsts = range(0, len(texts), size)
    rows, counts = np.empty((len(texts), width), np.float32), [0] * len(texts)

    def fill(first: int) -> None:
        rows[first : first + size], counts[first : first + size] = encode(texts[first : first + size])

    if threads == 1 or len(texts) < _FROM:
        for first in firsts:
            fill(first)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(fill, firsts))
    return rows, counts

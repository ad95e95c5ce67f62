"""Things made in threads and taken in order: ahead of the taker, but never further than `AHEAD`.

Whoever takes decides the pace: when nobody does, nothing is made. Threads belong to one pipeline and end with it: at
its end, when it is closed, or when the process closes all of them.
"""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from threading import Condition, Event, Lock, Thread
from time import thread_time

from traitbench.errors import Unavailable

AHEAD = 256

Make = Callable[[Sequence[int]], Sequence[bytes]]

_MOST_IN_A_HAND = 32
_PATIENCE_SECONDS = 5.0  # an address that is being fetched may take longer; its thread then ends by itself


class Pipelines:
    """Those at work; a service that stops closes them."""

    def __init__(self) -> None:
        self._live: set[Pipeline] = set()
        self.closed = False
        self._lock = Lock()

    def enter(self, pipeline: "Pipeline") -> None:
        """One more; raise `Unavailable` when there are to be no more."""
        with self._lock:
            if self.closed:
                raise Unavailable("The service is stopping; try again in a moment.")
            self._live.add(pipeline)

    @property
    def live(self) -> "list[Pipeline]":
        """Those that have not ended."""
        with self._lock:
            return list(self._live)

    def leave(self, pipeline: "Pipeline") -> None:
        """One less."""
        with self._lock:
            self._live.discard(pipeline)

    def close(self) -> None:
        """End all of them, and wait until they have."""
        with self._lock:
            self.closed = True
        live = self.live
        for pipeline in live:
            pipeline.close()
        for pipeline in live:
            pipeline.join(_PATIENCE_SECONDS)


class Pipeline:
    """Places 0.. of an order, each by the number of a thing; equal numbers are one thing, made once.

    `hands` are the numbers that so many threads make, rising; each number is in one of them. `weights` say by number
    how dear a thing is, against others; so many are made at a time that a processor is busy for `handful_s`. `finish`
    is called once, when no thread makes anything any more.
    """

    def __init__(
        self,
        order: Sequence[int],
        hands: Sequence[tuple[Sequence[int], int]],
        make: Make,
        *,
        weights: Sequence[int],
        handful_s: Callable[[], float],
        live: Pipelines,
        finish: Callable[[], None],
    ) -> None:
        self._order, self._make, self._weights, self._live, self._finish = order, make, weights, live, finish
        self._handful_s = handful_s
        self._first = {number: place for place, number in reversed([*enumerate(order)])}
        self._made: dict[int, bytes] = {}
        self._taken = 0
        self._stopped = False
        self._changed = Condition()
        self._wake: Callable[[], None] | None = None
        self._threads = [
            Thread(target=self._work, args=(todo,), name="batch", daemon=True)
            for todo, count in ((deque(numbers), count) for numbers, count in hands)
            for _ in range(min(count, len(todo)))
        ]
        self._at_work = len(self._threads)

    def start(self, wake: Callable[[], None]) -> None:
        """Begin; `wake` is called, from any thread, when there is something to take after there was nothing."""
        self._live.enter(self)
        self._wake = wake
        for thread in self._threads:
            thread.start()

    def take(self) -> list[tuple[int, bytes]]:
        """The next places and what was made for them, as far as it goes; none when the next is not made yet."""
        with self._changed:
            ready = []
            while not self.done and self._order[self._taken] in self._made:
                ready.append((self._taken, self._made[self._order[self._taken]]))
                self._taken += 1
            self._changed.notify_all()
        return ready

    @property
    def done(self) -> bool:
        """Whether all was taken."""
        return self._taken == len(self._order)

    @property
    def closed(self) -> bool:
        """Whether no more is made."""
        return self._stopped

    def close(self) -> None:
        """Make no more: threads end with what they have in hand, and whoever waits is woken."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        if self._wake is not None:
            self._wake()

    def join(self, patience_s: float | None = None) -> None:
        """Wait for the threads."""
        for thread in self._threads:
            if thread.ident is not None:
                thread.join(patience_s)

    def __iter__(self) -> Generator[tuple[int, bytes], None, None]:
        """All of it, in order; closed at the end."""
        there = Event()
        self.start(there.set)
        try:
            while not self.done and not self.closed:
                there.wait()
                there.clear()
                yield from self.take()
        finally:
            self.close()

    def _work(self, todo: deque[int]) -> None:
        try:
            budget = 0.0
            while numbers := self._next(todo, budget):
                start = thread_time()
                self._deliver(numbers, self._make(numbers))
                pace = sum(self._weights[number] for number in numbers) / (thread_time() - start + 1e-6)
                budget = pace * self._handful_s()
        finally:
            self._leave()

    def _next(self, todo: deque[int], budget: float) -> list[int]:
        """Numbers to make now, one at least; none when there are no more."""
        with self._changed:
            while todo and not self._stopped and not self._near(todo[0]):
                self._changed.wait()
            numbers: list[int] = []
            while todo and not self._stopped and self._near(todo[0]) and len(numbers) < _MOST_IN_A_HAND:
                budget -= self._weights[todo[0]]
                if numbers and budget < 0:
                    break
                numbers.append(todo.popleft())
            return numbers

    def _near(self, number: int) -> bool:
        return self._first[number] < self._taken + AHEAD

    def _deliver(self, numbers: Sequence[int], made: Sequence[bytes]) -> None:
        with self._changed:
            before = self._awaited()
            self._made.update(zip(numbers, made, strict=True))
            wanted = self._awaited() and not before
        if wanted and self._wake is not None:
            self._wake()

    def _awaited(self) -> bool:
        return not self.done and self._order[self._taken] in self._made

    def _leave(self) -> None:
        with self._changed:
            self._at_work -= 1
            last = self._at_work == 0
        if last:
            try:
                if not self._live.closed:
                    self._finish()
            finally:
                self._live.leave(self)

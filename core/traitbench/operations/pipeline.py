"""Items made in threads and taken in order, at most `AHEAD` ahead of the consumer.

The consumer sets the pace: if it stops taking, nothing is made. Threads belong to one pipeline and end with it: when
everything is made, when it is closed, or when the process closes all pipelines.
"""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from threading import Condition, Event, Lock, Thread
from time import thread_time
from typing import Any, Generic, TypeVar

from traitbench.errors import Unavailable

AHEAD = 256

Item = TypeVar("Item")

_MAX_AT_ONCE = 32
_PATIENCE_SECONDS = 5.0  # fetching an address may take longer; its thread then ends by itself


class Pipelines:
    """The open pipelines, which a service closes when it stops."""

    def __init__(self) -> None:
        self._live: set[Pipeline[Any]] = set()
        self.closed = False
        self._lock = Lock()

    def enter(self, pipeline: "Pipeline[Any]") -> None:
        """Add a pipeline; raise `Unavailable` if the service is stopping."""
        with self._lock:
            if self.closed:
                raise Unavailable("The service is stopping; try again in a moment.")
            self._live.add(pipeline)

    @property
    def live(self) -> "list[Pipeline[Any]]":
        """The pipelines that have not ended."""
        with self._lock:
            return list(self._live)

    def leave(self, pipeline: "Pipeline[Any]") -> None:
        """Remove a pipeline."""
        with self._lock:
            self._live.discard(pipeline)

    def close(self) -> None:
        """Close all pipelines and wait until they have ended."""
        with self._lock:
            self.closed = True
        live = self.live
        for pipeline in live:
            pipeline.close()
        for pipeline in live:
            pipeline.join(_PATIENCE_SECONDS)


class Pipeline(Generic[Item]):
    """The items of `order`, by their numbers; an item that occurs several times is made once.

    `threads` are pairs of item numbers, ascending, and the number of threads that make them; each item is in one pair.
    `weights` are the relative costs of the items; a thread makes as many at a time as should take `handful_s` of CPU
    time. `finish` is called once, when the last thread has ended.
    """

    def __init__(
        self,
        order: Sequence[int],
        threads: Sequence[tuple[Sequence[int], int]],
        make: Callable[[Sequence[int]], Sequence[Item]],
        *,
        weights: Sequence[int],
        handful_s: Callable[[], float],
        live: Pipelines,
        finish: Callable[[], None],
    ) -> None:
        self._order, self._make, self._weights, self._live, self._finish = order, make, weights, live, finish
        self._handful_s = handful_s
        self._first = {number: position for position, number in reversed([*enumerate(order)])}
        self._made: dict[int, Item] = {}
        self._taken = 0
        self._stopped = False
        self._changed = Condition()
        self._wake: Callable[[], None] | None = None
        self._threads = [
            Thread(target=self._work, args=(todo,), name="batch", daemon=True)
            for todo, count in ((deque(numbers), count) for numbers, count in threads)
            for _ in range(min(count, len(todo)))
        ]
        self._running = len(self._threads)

    def start(self, wake: Callable[[], None]) -> None:
        """Start the threads. `wake` is called, from any thread, when the next item becomes available."""
        self._live.enter(self)
        self._wake = wake
        for thread in self._threads:
            thread.start()

    def take(self) -> list[tuple[int, Item]]:
        """The items that are ready and next in the order, with their positions; empty if the next one is not ready."""
        with self._changed:
            ready = []
            while not self.done and self._order[self._taken] in self._made:
                ready.append((self._taken, self._made[self._order[self._taken]]))
                self._taken += 1
            self._changed.notify_all()
        return ready

    @property
    def done(self) -> bool:
        """Whether every item was taken."""
        return self._taken == len(self._order)

    @property
    def closed(self) -> bool:
        """Whether the pipeline was closed, so that no more items are made."""
        return self._stopped

    def close(self) -> None:
        """Stop: threads end after their current items, and the consumer is woken."""
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

    def __iter__(self) -> Generator[tuple[int, Item], None, None]:
        """All items in order, with their positions; the pipeline is closed at the end."""
        ready = Event()
        self.start(ready.set)
        try:
            while not self.done and not self.closed:
                ready.wait()
                ready.clear()
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
        """The numbers of the next items to make, at least one; none if there are no more."""
        with self._changed:
            while todo and not self._stopped and not self._near(todo[0]):
                self._changed.wait()
            numbers: list[int] = []
            while todo and not self._stopped and self._near(todo[0]) and len(numbers) < _MAX_AT_ONCE:
                budget -= self._weights[todo[0]]
                if numbers and budget < 0:
                    break
                numbers.append(todo.popleft())
            return numbers

    def _near(self, number: int) -> bool:
        return self._first[number] < self._taken + AHEAD

    def _deliver(self, numbers: Sequence[int], made: Sequence[Item]) -> None:
        with self._changed:
            before = self._next_is_made()
            self._made.update(zip(numbers, made, strict=True))
            wanted = self._next_is_made() and not before
        if wanted and self._wake is not None:
            self._wake()

    def _next_is_made(self) -> bool:
        return not self.done and self._order[self._taken] in self._made

    def _leave(self) -> None:
        with self._changed:
            self._running -= 1
            last = self._running == 0
        if last:
            try:
                if not self._live.closed:
                    self._finish()
            finally:
                self._live.leave(self)

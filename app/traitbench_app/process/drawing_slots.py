"""Slots for drawing: only a few pages are drawn at the same moment.

Python runs one thread at a time. Ten pages that are drawn side by side all take ten times as long. Drawn one after the
other, they take half of that on average, and each call to the service waits for fewer threads. A page that does not
finish soon, because it computes or waits, gives its slot to the next one. So every page gets a slot.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

# More processes would not help: a session of Streamlit lives in one process.
AT_ONCE = 2
LONGEST_S = 0.4


class DrawingSlots:
    """At most `at_once` holders that began less than `longest` seconds ago; the others wait in order of arrival."""

    def __init__(self, at_once: int, longest: float) -> None:
        self._at_once, self._longest = at_once, longest
        self._changed = threading.Condition()
        self._holders: dict[object, float] = {}
        self._waiting: list[object] = []

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait for a slot, and free it after the block."""
        me = object()
        with self._changed:
            self._waiting.append(me)
            try:
                while self._waiting[0] is not me or self._is_full():
                    self._changed.wait(self._pause())
            finally:
                self._waiting.remove(me)
                self._changed.notify_all()
            self._holders[me] = time.monotonic()
        try:
            yield
        finally:
            with self._changed:
                self._holders.pop(me, None)
                self._changed.notify_all()

    def _is_full(self) -> bool:
        """Whether all slots are taken; those that have lasted too long do not count any more."""
        over = time.monotonic() - self._longest
        self._holders = {each: began for each, began in self._holders.items() if began > over}
        return len(self._holders) >= self._at_once

    def _pause(self) -> float:
        """Seconds until the oldest slot has lasted too long."""
        oldest = min(self._holders.values(), default=time.monotonic())
        return max(0.001, oldest + self._longest - time.monotonic())


SLOTS = DrawingSlots(AT_ONCE, LONGEST_S)

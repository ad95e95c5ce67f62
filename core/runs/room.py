"""Who runs beside whom: a run that may have brought its worker down runs alone, so that no other is blamed with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Room:
    """Holds any number of runs, or one that is alone; whoever waits to be alone is let in before later ones."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._inside = 0
        self._alone = False
        self._wait_alone = 0

    @contextmanager
    def entered(self, *, alone: bool) -> Iterator[None]:
        """Be inside for the block."""
        with self._changed:
            if alone:
                self._wait_alone += 1
                self._changed.wait_for(lambda: self._inside == 0)
                self._wait_alone -= 1
                self._alone = True
            else:
                self._changed.wait_for(lambda: not self._alone and self._wait_alone == 0)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                if alone:
                    self._alone = False
                self._changed.notify_all()

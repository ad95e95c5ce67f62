"""Isolation of suspects: a run that may have brought its worker down runs alone, so that no other run is blamed."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class RunIsolation:
    """Admits any number of runs, or one run alone; a run that waits to be alone goes before later ones."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._inside = 0
        self._alone = False
        self._waiting_alone = 0

    @contextmanager
    def entered(self, *, alone: bool) -> Iterator[None]:
        """Admit a run for the duration of the block."""
        with self._changed:
            if alone:
                self._waiting_alone += 1
                self._changed.wait_for(lambda: self._inside == 0)
                self._waiting_alone -= 1
                self._alone = True
            else:
                self._changed.wait_for(lambda: not self._alone and self._waiting_alone == 0)
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                if alone:
                    self._alone = False
                self._changed.notify_all()

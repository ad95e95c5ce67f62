"""A progress line on stderr: percentage, rows, rate, time left. Only on a terminal."""

import sys
import time
from typing import Any

from traitbench.display.text import span

_PAUSE = 0.2
_BAR = 12


class RowProgress:
    """The progress through a number of rows. The first `before` were done earlier and do not count in the rate."""

    def __init__(self, label: str, total: int, *, before: int = 0) -> None:
        self._total, self._before = total, before
        self._began = self._next = time.monotonic()
        self._bar: Any = _bar() if sys.stderr.isatty() else None
        if self._bar is not None:
            self._task = self._bar.add_task(label, total=total, completed=before, rows="")
            self._bar.start()

    def at(self, done: int) -> None:
        """Update the line, at most every 0.2 s."""
        if self._bar is not None and time.monotonic() >= self._next:
            self._next = time.monotonic() + _PAUSE
            self._draw(done)

    def end(self, done: int) -> None:
        """Draw the final state and end the line."""
        if self._bar is not None:
            self._draw(done)
            self._bar.stop()

    def _draw(self, done: int) -> None:
        self._bar.update(self._task, completed=done, rows=self._in_rows(done))

    def _in_rows(self, done: int) -> str:
        seconds = time.monotonic() - self._began
        rate = (done - self._before) / seconds if seconds > 0 else 0.0
        rows = f"{done:,}/{self._total:,}"
        if rate <= 0.0:
            return rows
        return f"{rows}  {rate:,.0f}/s  {span((self._total - done) / rate)} left"


def _bar() -> Any:
    # Imported here, because most commands show no progress.
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    label, rows = (TextColumn(name, markup=False) for name in ("{task.description}", "{task.fields[rows]}"))
    columns = (label, BarColumn(_BAR), TaskProgressColumn(), rows)
    # What a command prints on stdout is data: it must not go through the bar.
    return Bar(*columns, console=Console(stderr=True), redirect_stdout=False, redirect_stderr=False)

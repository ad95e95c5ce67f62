"""How far a command is, on a line of stderr that is drawn anew: share, rows, rate, time left. Only on a terminal."""

import sys
import time
from shutil import get_terminal_size

import click

from traitbench.app.text import span

_PAUSE = 0.2
_BAR = 12


class Progress:
    """Rows done of a total; those of `before` were done by an earlier command and count in no rate."""

    def __init__(self, label: str, total: int, *, before: int = 0) -> None:
        self._label, self._total, self._before = label, total, before
        self._shown = sys.stderr.isatty()
        self._began = self._next = time.monotonic()

    def at(self, done: int) -> None:
        """Show it, now and then."""
        if self._shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + _PAUSE
            self._draw(done)

    def end(self, done: int) -> None:
        """Show where it ended."""
        if self._shown:
            self._draw(done)
            click.echo(err=True)

    def _draw(self, done: int) -> None:
        width = get_terminal_size().columns - 1
        share = done / self._total if self._total else 1.0
        filled = int(share * _BAR)
        told = f"{self._label} {'#' * filled}{'-' * (_BAR - filled)} {share:4.0%}  {self._in_rows(done)}"
        click.echo(f"\r{told[:width]:<{width}}", nl=False, err=True)

    def _in_rows(self, done: int) -> str:
        seconds = time.monotonic() - self._began
        rate = (done - self._before) / seconds if seconds > 0 else 0.0
        rows = f"{done:,}/{self._total:,}"
        if rate <= 0.0:
            return rows
        return f"{rows}  {rate:,.0f}/s  {span((self._total - done) / rate)} left"

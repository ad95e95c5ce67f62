"""The output of commands: tables and sentences for people, JSON for programs, progress on stderr.

The texts of models and samples are not trusted: on a terminal, characters that control it are removed.
"""

import shutil
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import click
from rich.cells import cell_len, set_cell_size
from rich.markup import escape

from traitbench.client.pages import ListedRows, Pages
from traitbench.contract.fields import Unreadable, Wire
from traitbench.contract.models import LastOperation, Model
from traitbench.display.text import span

if TYPE_CHECKING:
    from rich.status import Status

Item = TypeVar("Item", bound=Wire)

_GAP = "  "
_RESTORE = "Restore it from a backup, or ask the operator to remove it."
_EMBEDDINGS = frozenset(("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))


@dataclass(frozen=True)
class Output:
    """An answer of the service: programs get its JSON, people a sentence or what a function prints."""

    answer: Wire
    people: str | Callable[[], None]

    def say(self, *, as_json: bool) -> None:
        """Print it."""
        if as_json:
            click.echo(self.answer.model_dump_json(indent=2))
        elif isinstance(self.people, str):
            click.echo(_cell(self.people))
        else:
            self.people()


@dataclass(frozen=True)
class Listing(Generic[Item]):
    """A list: programs get a line of JSON for each item, people a table. What cannot be read is named on stderr.

    `noun` is the word for an item, such as "model". A cell that is None is shown as a dash.
    """

    items: Pages[Item] | ListedRows[Item]
    noun: str
    heads: Sequence[str]
    row: Callable[[Item], Sequence[object]]

    def say(self, *, as_json: bool) -> None:
        """Print it."""
        if as_json:
            for item in self.items:
                click.echo(item.model_dump_json())
        else:
            say_table(self.heads, map(self.row, self.items))
        say_unreadable(self.items.unreadable, self.noun)


def say_unreadable(rows: Iterable[Unreadable], one: str, *, way_out: str = _RESTORE) -> None:
    """Print on stderr the rows that a list left out, one per line; `one` is the noun for a row, such as "model" or
    "version".
    """
    for row in rows:
        click.echo(_cell(f"{one} {row.item} cannot be read: {row.reason}. {way_out}"), err=True)


def say_text(text: str) -> None:
    """Print a text unchanged; on a terminal, remove the characters that control it."""
    shown = _tame(text, keep="\n\t") if sys.stdout.isatty() else text
    # Without `color`, click would remove everything that looks like a colour.
    click.echo(shown, nl=not text.endswith("\n"), color=True)


def say_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print columns with their headings; on a terminal, the last column is cut at the edge of the screen."""
    cells = [[_cell(each) for each in row] for row in (heads, *rows)]
    widths = [max(cell_len(row[column]) for row in cells) for column in range(len(heads))]
    edge = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for row in cells:
        line = _GAP.join(map(set_cell_size, row, widths)).rstrip()
        click.echo(line if edge is None or cell_len(line) <= edge else f"{set_cell_size(line, edge - 1)}…")


def say_fields(pairs: Iterable[tuple[str, object]]) -> None:
    """Print one name and its value per line; leave out what has no value."""
    rows = [(name, _cell(value)) for name, value in pairs if value is not None]
    width = max(cell_len(name) for name, _ in rows)
    for name, value in rows:
        click.echo(f"{set_cell_size(name, width)}{_GAP}{value}".rstrip())


def version_name(model: Model) -> str:
    """`v3`, or a dash before the first training."""
    return "-" if model.version_no is None else f"v{model.version_no}"


class Meter:
    """Shows the progress of a run, as a context manager: one live line on a terminal, or else one line per phase."""

    def __init__(self) -> None:
        self._phase = ""
        self._live: Status | None = None

    def __enter__(self) -> "Meter":
        if sys.stderr.isatty():
            from rich.console import Console  # imported here, because most commands show no progress

            self._live = Console(stderr=True).status("")
            self._live.start()
        return self

    def __exit__(self, *_error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, model: Model) -> None:
        """Show the progress of this state of the model."""
        line = _progress(model.last_operation) if model.state == "busy" else ""
        phase = line.partition(":")[0]
        if self._live is not None:
            self._live.update(escape(line))
        elif line and phase != self._phase:
            click.echo(line, err=True)
        self._phase = phase


def _progress(operation: LastOperation | None) -> str:
    if operation is None or operation.progress is None:
        return "queued"
    progress = operation.progress
    left = "" if progress.eta_s is None else f", about {progress.eta_s:.0f} s left"
    return f"{progress.phase}: {progress.fraction:.0%}{left}"


def _cell(value: object) -> str:
    return "-" if value is None else _tame(" ".join(str(value).split()), keep="")


def _tame(text: str, *, keep: str) -> str:
    """Remove the characters that control a terminal, and those that change the direction of text, which could mislead
    the reader.
    """
    return "".join("�" if _steers(each) and each not in keep else each for each in text)


def _steers(character: str) -> bool:
    return unicodedata.category(character) == "Cc" or unicodedata.bidirectional(character) in _EMBEDDINGS


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

"""What a command prints: tables and sentences for people, JSON for programs, progress on stderr.

Text of models and samples is anybody's: on a terminal it is shown without the characters that would steer it.
"""

import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence

import click

from traitbench.contract.fields import Wire
from traitbench.contract.models import LastOperation, Model
from traitbench.contract.unreadable import Unreadable

_GAP = "  "
_RESTORE = "Restore it from a backup, or ask the operator to remove it."
_BROAD = frozenset("WF")
_EMBEDDINGS = frozenset(("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))


def say(answer: Wire, sentence: str, *, as_json: bool) -> None:
    """What was done: a sentence, or the answer itself."""
    click.echo(answer.model_dump_json(indent=2) if as_json else _cell(sentence))


def say_json(answer: Wire) -> None:
    """One answer, all of it."""
    click.echo(answer.model_dump_json(indent=2))


def say_lines(answers: Iterable[Wire]) -> None:
    """Answers, one a line."""
    for answer in answers:
        click.echo(answer.model_dump_json())


def say_unreadable(rows: Iterable[Unreadable], one: str, *, way_out: str = _RESTORE) -> None:
    """Rows that a list left out, one a line on stderr; `one` is what a row is: a model, a version."""
    for row in rows:
        click.echo(_cell(f"{one} {row.item} cannot be read: {row.reason}. {way_out}"), err=True)


def say_text(text: str) -> None:
    """A text as it is; on a terminal without what would steer it."""
    shown = _tame(text, keep="\n\t") if sys.stdout.isatty() else text
    click.echo(shown, nl=not text.endswith("\n"), color=True)  # or click would cut what looks like a colour


def say_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns under their heads; on a terminal the last one is cut at its edge."""
    cells = [[_cell(each) for each in row] for row in (heads, *rows)]
    widths = [max(_width(row[column]) for row in cells) for column in range(len(heads))]
    edge = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for row in cells:
        click.echo(_cut(_GAP.join(map(_padded, row, widths)).rstrip(), edge))


def say_fields(pairs: Iterable[tuple[str, object]]) -> None:
    """A name and its value on each line."""
    rows = [(name, _cell(value)) for name, value in pairs]
    width = max(_width(name) for name, _ in rows)
    for name, value in rows:
        click.echo(f"{_padded(name, width)}{_GAP}{value}".rstrip())


def version_name(model: Model) -> str:
    """`v3`, or a dash before the first training."""
    return "-" if model.version_no is None else f"v{model.version_no}"


class Meter:
    """How far a run is: a line that is written over on a terminal, a line a phase elsewhere."""

    def __init__(self) -> None:
        self._shown = ""

    def show(self, model: Model) -> None:
        """The model as it is now."""
        line = _progress(model.last_operation) if model.state == "busy" else ""
        if sys.stderr.isatty():
            click.echo(f"\r\x1b[K{line}", nl=False, err=True)
        elif line and _phase(line) != _phase(self._shown):
            click.echo(line, err=True)
        self._shown = line


def _progress(operation: LastOperation | None) -> str:
    if operation is None or operation.progress is None:
        return "queued"
    progress = operation.progress
    left = "" if progress.eta_s is None else f", about {progress.eta_s:.0f} s left"
    return f"{progress.phase}: {progress.fraction:.0%}{left}"


def _phase(line: str) -> str:
    return line.partition(":")[0]


def _cell(value: object) -> str:
    return _tame(" ".join(str(value).split()), keep="")


def _tame(text: str, *, keep: str) -> str:
    """Control characters steer a terminal, and marks of direction deceive its reader."""
    return "".join("�" if _steers(each) and each not in keep else each for each in text)


def _steers(character: str) -> bool:
    return unicodedata.category(character) == "Cc" or unicodedata.bidirectional(character) in _EMBEDDINGS


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - _width(cell))


def _cut(line: str, edge: int | None) -> str:
    if edge is None or _width(line) <= edge:
        return line
    while _width(line) > edge - 1:
        line = line[:-1]
    return f"{line}…"


def _width(text: str) -> int:
    """The columns of a terminal that a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in _BROAD else 1 for each in text
    )

"""Read tables for commands, from a file or stdin; and report bad rows."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import IO

import click

from traitbench.cli.options import STDIN, Refused, stdin
from traitbench.tables.rows import NotATable
from traitbench.tables.sample_files import Table, guess_text_column, table_of
from traitbench.tables.source import KEPT, Source, opened

_MOST_LISTED = 20


def source_of(name: str, *, header: bool = True, sheet: str | None = None, keep: int = KEPT) -> Source:
    """Return a table, and say on stderr how much was read. Stdin is JSONL if it starts like JSON, else CSV."""
    with _rewindable(name) as file:
        if name == STDIN:
            file.seek(0)
            name = f"stdin{'.jsonl' if file.read(1_000).lstrip()[:1] in (b'{', b'[') else '.csv'}"
        try:
            source = opened(name, file, header=header, sheet=sheet, keep=keep)
        except NotATable as error:
            raise Refused(f"{name}: {error}") from error
    for line in (source.survey.summary, *source.notes):
        click.echo(f"{name}: {line}", err=True)
    return source


def read_table(name: str, *, header: bool = True, sheet: str | None = None) -> Table:
    """Read the whole table in a file."""
    return table_of(source_of(name, header=header, sheet=sheet, keep=_WHOLE))


def text_column(table: Table, name: str | None, option: str) -> str:
    """Return the column of the texts: the one that `option` named, else a guess; raise `Refused` if there is none."""
    check_columns(table, (name,))
    column = name or guess_text_column(table)
    if column is None:
        columns = ", ".join(table.columns)
        raise Refused(f"No column looks like texts: {columns}. If one of them has the texts, name it with {option}.")
    return column


def check_columns(table: Table, names: Sequence[str | None]) -> None:
    """Raise `UsageError` unless the table has all columns that were named."""
    for name in names:
        if name is not None and name not in table.columns:
            raise click.UsageError(f"The file has no column {name}; it has {', '.join(table.columns)}.")


def tell_problems(problems: Sequence[tuple[int, str]], total: int | None = None) -> None:
    """Print the first bad lines and their reasons. `total` is the number of all bad lines, if `problems` has fewer."""
    for line, reason in problems[:_MOST_LISTED]:
        click.echo(f"line {line}: {reason}", err=True)
    more = (len(problems) if total is None else total) - min(len(problems), _MOST_LISTED)
    if more:
        click.echo(f"... and {more:,} more", err=True)


@contextmanager
def _rewindable(name: str) -> Iterator[IO[bytes]]:
    if name != STDIN and Path(name).is_file():
        with Path(name).open("rb") as file:
            yield file
        return
    with tempfile.TemporaryFile() as copy:
        if name == STDIN:
            copyfileobj(stdin(), copy)
        else:
            with Path(name).open("rb") as pipe:
                copyfileobj(pipe, copy)
        yield copy


_WHOLE = 2**62

"""Read tables for commands: CSV, JSONL or Parquet, from a file or stdin; and report bad rows."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copyfileobj
from typing import IO

import click

from traitbench.app.commands.asking import STDIN, Refused, stdin
from traitbench.tables.rows import Unreadable
from traitbench.tables.sample_files import Table, table_of
from traitbench.tables.source import Source, opened

_MOST_LISTED = 20


@contextmanager
def source_of(name: str, *, header: bool = True, keep: int | None = None) -> Iterator[Source]:
    """Open and scan a table. Stdin is JSONL if it starts like JSON, else CSV. A pipe is first copied to a file."""
    with _rewindable(name) as file:
        if name == STDIN:
            file.seek(0)
            name = f"stdin{'.jsonl' if file.read(1_000).lstrip()[:1] in (b'{', b'[') else '.csv'}"
        try:
            source = opened(name, file, header=header) if keep is None else opened(name, file, header=header, keep=keep)
            for note in source.notes:
                click.echo(note, err=True)
            yield source
        except Unreadable as error:
            raise Refused(f"{name}: {error}") from error


def read_table(name: str, *, header: bool = True) -> Table:
    """Read the whole table in a file."""
    with source_of(name, header=header, keep=_WHOLE) as source:
        return table_of(source)


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

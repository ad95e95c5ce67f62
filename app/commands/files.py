"""Tables that a command reads: CSV or JSONL, from a file or stdin; and what is wrong with their rows, told by line."""

from collections.abc import Sequence

import click

from app.commands.asking import STDIN, Refused, content_of
from app.importing import Table, Unreadable, read

_JSON = (".jsonl", ".ndjson", ".json")
_MOST_TOLD = 20


def read_table(name: str, *, header: bool = True) -> Table:
    """The table in a file; stdin is JSONL when it begins like it."""
    content = content_of(name)
    if name == STDIN:
        name = f"stdin{_JSON[0] if content.lstrip()[:1] in (b'{', b'[') else '.csv'}"
    try:
        table = read(name, content, header=header)
    except Unreadable as error:
        raise Refused(f"{name}: {error}") from error
    for note in table.notes:
        click.echo(note, err=True)
    return table


def is_json(table: Table) -> bool:
    """Whether the rows were JSON."""
    return any(row.record is not None for row in table.rows)


def tell_problems(problems: Sequence[tuple[int, str]]) -> None:
    """Say which lines are bad, and why; the first of them."""
    for line, reason in problems[:_MOST_TOLD]:
        click.echo(f"line {line}: {reason}", err=True)
    if len(problems) > _MOST_TOLD:
        click.echo(f"... and {len(problems) - _MOST_TOLD:,} more", err=True)

"""`traitbench read`: what the workbench would make of a file; and the options about the columns of a file."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, cast

import click

from traitbench.cli.options import Command, FileOptions, InputFile, Refused, as_json, combined, reads_file
from traitbench.cli.output import say_table, say_text
from traitbench.display.text import count
from traitbench.tables.columns import FileReading, read_columns

if TYPE_CHECKING:
    from traitbench.tables.source import Source

_MOST_ROWS_NAMED = 12


@dataclass(frozen=True)
class ColumnOptions:
    """What columns mean: the options of `reads_columns`."""

    answers: Sequence[str] = ()
    groups: bool = True

    def read(self, source: "Source", of_file: FileOptions) -> FileReading:
        """Return what the columns of a file mean; raise `click.UsageError` if a column or reading does not exist."""
        try:
            return read_columns(
                source.whole,
                given=dict(of_file.given),
                column=of_file.column,
                turn=of_file.turn,
                groups=self.groups,
                as_answers=self.answers,
            )
        except ValueError as error:
            raise click.UsageError(str(error)) from error


def reads_columns(command: Command) -> Command:
    """Add the options about the columns of a file, passed as `of_columns`."""

    @wraps(command)
    def run(*arguments: Any, answer: tuple[str, ...], no_groups: bool, **others: Any) -> Any:
        return command(*arguments, of_columns=ColumnOptions(answer, not no_groups), **others)

    return cast(Command, _column_options(run))


_column_options: Callable[[Any], Any] = combined(
    click.option(
        "--answer",
        metavar="WORD",
        multiple=True,
        help="A word that is an answer in this file, although it usually means none, such as NA. Repeat it.",
    ),
    click.option("--no-groups", is_flag=True, help="Do not keep rows together that share an author or conversation."),
)


@click.command()
@click.argument("file", type=InputFile())
@reads_file()
@reads_columns
@as_json
def read(file: str, of_file: FileOptions, of_columns: ColumnOptions, as_json: bool) -> None:
    """Say what the workbench would make of a CSV, Excel, JSONL or Parquet FILE: its columns, traits and texts.

    Nothing is sent or changed. `-` reads stdin. `models create --from` makes the model. --read says what a column
    means: text, labels, several_answers, scale, verdicts, people, messages, rows_together, group, date, number,
    identifier, test or not_used.
    """
    source = of_file.open(file)
    reading = of_columns.read(source, of_file)
    if reading.column is not None:
        source = source.with_clean([reading.column], of_file.clean)
        if of_file.clean:
            reading = of_columns.read(source, of_file)
    result = reading.as_json()
    condition = source.condition(reading.column).notes() if reading.column is not None else ()
    result["notes"] = [*source.notes, *result["notes"], *condition]
    if as_json:
        click.echo(json.dumps(result, ensure_ascii=False, indent=2))
    else:
        _say(result)


def _say(result: dict[str, Any]) -> None:
    say_table(("COLUMN", "READING", ""), [(each["name"], each["reading"], each["said"]) for each in result["columns"]])
    if traits := result["traits"]:
        click.echo()
        say_table(
            ("TRAIT", "NEGATIVE", "", "POSITIVE", "", "BETWEEN", "UNLABELLED"),
            [
                (
                    *(each["name"], each["negative_label"], each["negative"], each["positive_label"]),
                    *(each["positive"], each["between"], each["unlabelled"]),
                )
                for each in traits
            ],
        )
    lines = [f"{count(result['rows'], 'row')}."]
    lines += [
        f"{count(len(each['rows']), 'row')}: {each['reason']} ({_numbers(each['rows'])})."
        for each in result["left_out"]
    ]
    say_text("\n" + "\n".join((*lines, *result["notes"])))


def _numbers(rows: Sequence[int]) -> str:
    shown = ", ".join(f"{row:,}" for row in rows[:_MOST_ROWS_NAMED])
    more = f" and {len(rows) - _MOST_ROWS_NAMED:,} more" if len(rows) > _MOST_ROWS_NAMED else ""
    return f"row{'s' if rows[1:] else ''} {shown}{more}"


def labelled(reading: FileReading) -> FileReading:
    """Return the reading; raise `Refused` if it has no texts or no labels, with the way out."""
    if reading.column is None:
        raise Refused("No column looks like texts. Name it with --column.")
    if not reading.traits:
        raise Refused(
            "No column has labels. `traitbench read` says what each column is; --read COLUMN=labels names one."
        )
    return reading

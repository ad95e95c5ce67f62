"""What commands need as input: a client, a text, a table, a confirmation, and options that they share.

A command that asks the service has `@answers`: it gets a client, and returns what to print. With `@fields_of`, a new
field of a request is an option without more work.

The client and the tables are imported where they are used: `traitbench.cli.main` needs neither.
"""

import re
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from types import UnionType
from typing import IO, TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeVar, Union, cast, get_args, get_origin

import click

from traitbench.analysis.condition import Cleaning
from traitbench.display.text import shortened
from traitbench.settings import Settings, read_settings
from traitbench.tables.conversations import Turn

if TYPE_CHECKING:
    from traitbench.client import Traitbench
    from traitbench.contract.fields import Received
    from traitbench.tables.columns import FileReading
    from traitbench.tables.rows import Table
    from traitbench.tables.source import Source

Command = TypeVar("Command", bound=Callable[..., Any])

STDIN = "-"


class Refused(click.ClickException):
    """The command was refused or failed; exit code 1."""

    exit_code = 1


class Misasked(click.ClickException):
    """A setting is invalid, or no service answers; exit code 2."""

    exit_code = 2


class InputFile(click.Path):
    """A readable file or pipe, or `-` for stdin. A device may have no end."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, readable=True, allow_dash=True, path_type=str)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name; refuse what is neither a file nor a pipe before anything of it is read."""
        name = str(super().convert(value, param, ctx))
        if name != STDIN and not (Path(name).is_file() or Path(name).is_fifo()):
            self.fail(f"{name} is neither a file nor a pipe.", param, ctx)
        return name


def writes_file(text: str, *, required: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options -o, whose help is `text`, and --overwrite, and see that nothing is lost by them.

    The command gets `output`: a name, `-` or None. With --resume, it sees to that itself.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @click.option("--overwrite", is_flag=True, help="Replace the output file if it exists.")
        @click.option(
            *("-o", "--output"), type=click.Path(dir_okay=False, allow_dash=True), required=required, help=text
        )
        @wraps(command)
        def run(*given: Any, output: str | None, overwrite: bool, **options: Any) -> Any:
            refuse_to_replace(output, overwrite=overwrite or bool(options.get("resume")))
            return command(*given, output=output, **options)

        return run

    return decorate


def refuse_to_replace(output: str | None, *, overwrite: bool) -> None:
    """Raise `Refused` if the output is an input of the running command, or exists and is not to be replaced."""
    path = Path(output or STDIN)
    if output in (None, STDIN) or not path.is_file():
        return
    context = click.get_current_context()
    inputs = [
        context.params[each.name] for each in context.command.params if isinstance(each.type, InputFile) and each.name
    ]
    if any(name not in (None, STDIN) and path.samefile(name) for name in inputs):
        raise Refused(f"{output} is the input. Name another file for the output.")
    if not overwrite:
        raise Refused(f"{output} exists. Name another file, or add --overwrite to replace it.")


def write_output(output: str, content: bytes) -> None:
    """Write a file, or stdout for `-`; raise `Refused` if that fails."""
    try:
        with click.open_file(output, "wb") as file:
            cast(IO[bytes], file).write(content)
    except BrokenPipeError:
        raise  # the reader has seen enough
    except OSError as error:
        raise Refused(f"{output} cannot be written: {error.strerror}.") from error


def connected() -> "Traitbench":
    """Return a client for the service in the settings."""
    from traitbench.client import Traitbench

    return Traitbench(*address_and_key(read_settings()))


class Printed(Protocol):
    """What a command returns; `traitbench.cli.output` and `traitbench.cli.runs` have its kinds."""

    def say(self, *, as_json: bool) -> None:
        """Print it for programs or for people."""


def answers(command: Callable[..., Printed]) -> Callable[..., None]:
    """Call a command with a client and its options, and print what it returns. Adds the option `--json`."""

    @as_json
    @wraps(command)
    def run(as_json: bool, **options: Any) -> None:
        with connected() as client:
            command(client, **options).say(as_json=as_json)

    return run


def fields_of(request: "type[Received]", *, without: Collection[str] = ()) -> Callable[[Command], Command]:
    """Add an option for each field of a request that no argument or option below it sets.

    Only texts, numbers, choices, and yes or no become options. Their help is the description of the field.
    """

    def add(command: Command) -> Command:
        known = {*without, *(each.name for each in getattr(command, "__click_params__", ()))}
        for name, field in reversed(request.model_fields.items()):
            kind = field.annotation
            while get_origin(kind) in (Annotated, Union, UnionType):
                kind = get_args(kind)[0]
            choices = get_args(kind) if get_origin(kind) is Literal else ()
            if name not in known and (choices or kind in (bool, int, float, str)):
                flag = name.replace("_", "-")
                flags = f"--{flag}/--no-{flag}" if kind is bool else f"--{flag}"
                of_type = click.Choice(choices) if choices else kind
                command = click.option(flags, name, type=of_type, default=None, help=field.description)(command)
        return command

    return add


def address_and_key(settings: Settings) -> tuple[str, str]:
    """Return the address of the service and the key for it; raise `Misasked` if a remote service has no key."""
    if settings.api_url and not settings.api_key:
        raise Misasked(f"Set TRAITBENCH_API_KEY to a key of the service at {settings.base_url}.")
    return settings.base_url, settings.service_key()


def content_of(name: str) -> bytes:
    """Read the bytes of a file or of stdin."""
    return stdin().read() if name == STDIN else Path(name).read_bytes()


def stdin() -> IO[bytes]:
    """Return stdin; tell a person at a terminal how to end the input."""
    if sys.stdin.isatty():
        click.echo("Reading stdin. Press Ctrl-D to end.", err=True)
    return sys.stdin.buffer


def text_of(name: str) -> str:
    """Read the text of a file or of stdin; raise `click.UsageError` if it is not UTF-8."""
    try:
        return content_of(name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{'stdin' if name == STDIN else name} is not UTF-8 text.") from error


def given_text(text: str | None, file: str | None) -> str:
    """Return the text itself or that of a file; read stdin if neither is given or the text is `-`."""
    if text is not None and file is not None:
        raise click.UsageError("Give TEXT or --file, not both.")
    if text is None and file is None and sys.stdin.isatty():
        raise click.UsageError("Give TEXT, - for stdin, or --file.")
    return text_of(file or STDIN) if text is None or text == STDIN else text


def confirm(warning: str, *, yes: bool) -> None:
    """Ask for confirmation unless `yes`; abort if the person does not agree."""
    if yes:
        return
    click.echo(warning, err=True)
    if not sys.stdin.isatty():
        raise click.UsageError("Confirmation needs a terminal. Add --yes to go ahead without it.")
    click.confirm("Continue?", abort=True, err=True)


def given(**fields: Any) -> dict[str, Any]:
    """Return the fields that were given: all that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def combined(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Return several options as one, for commands that share them."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def as_json(command: Command) -> Command:
    """The option `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")(command)


def yes(command: Command) -> Command:
    """The option `--yes`."""
    return click.option("--yes", is_flag=True, help="Do not ask for confirmation.")(command)


def waits(command: Command) -> Command:
    """The option `--wait`."""
    return click.option("--wait", is_flag=True, help="Wait for the end and show progress.")(command)


def traits(command: Command) -> Command:
    """The option `--traits`."""
    return click.option(
        *("--traits", "--trait", "traits"),
        metavar="KEY[,KEY...]",
        multiple=True,
        callback=lambda _context, _option, values: [name for value in values for name in value.split(",")] or None,
        help="The traits to score. Default: all.",
    )(command)


def named_shares(option: str, values: Sequence[str], form: str) -> dict[str, float]:
    """Return the numbers from 0 to 1 of an option that is repeated as NAME=NUMBER; raise `click.UsageError`."""
    shares = {}
    for value in values:
        name, _, number = value.rpartition("=")
        try:
            share = float(number)
        except ValueError:
            share = -1.0
        if not (name and 0 <= share <= 1):
            raise click.UsageError(f"{option} {value} is not {form}.")
        shares[name] = share
    return shares


def word_meanings(command: Command) -> Command:
    """The option `--word`."""
    return click.option(
        *("--word", "meanings"),
        metavar="WORD=QUALITY",
        multiple=True,
        callback=lambda _context, _option, values: named_shares(
            "--word", values, "WORD=QUALITY, with a quality from 0 to 1"
        ),
        help="The quality that a word means, such as fine=1.",
    )(command)


@dataclass(frozen=True)
class FileOptions:
    """How a file is read: the options of `reads_file`, with their names for messages."""

    column: str | None = None
    turn: Turn = "user"
    sheet: str | None = None
    header: bool | None = None
    clean: tuple[Cleaning, ...] = ()
    given: tuple[tuple[str, str], ...] = ()

    def open(self, name: str) -> "Source":
        """Return the table in a file, and say on stderr how much was read."""
        # A column that is named has a name.
        header = True if name == STDIN and self.header is None and self.column else self.header
        return source_of(name, header=header, sheet=self.sheet).with_turn(self.turn)

    def texts(self, name: str, source: "Source") -> tuple["Source", str]:
        """Return the source with clean texts, and the column of its texts; say on stderr how the columns are read.

        Raise `Refused` if no column looks like texts.
        """
        reading = self.reading(source.head)
        column = reading.column
        if column is None:
            columns = ", ".join(source.columns)
            raise Refused(
                f"No column looks like texts: {columns}. If one of them has the texts, name it with --column."
            )
        if source.columns[1:]:
            click.echo(f"{name}: {reading.line}.", err=True)
        if reading.also:
            others = " and ".join(f"“{shortened(each, 60)}”" for each in reading.also)
            have = "has" if len(reading.also) == 1 else "have"
            click.echo(f"{name}: {others} {have} texts too. To use another column, name it with --column.", err=True)
        source = source.with_clean([column], self.clean)
        condition = source.condition(column)
        ways = {"html": condition.markup, "encoding": condition.twice}
        hints = [f"--clean {way}" for way, some in ways.items() if some]
        for note in condition.notes():
            click.echo(f"{name}: {note}", err=True)
        if hints:
            click.echo(f"{name}: these are read as they are. To read what they mean, add {' '.join(hints)}.", err=True)
        return source, column

    def reading(self, table: "Table") -> "FileReading":
        """Return what each column of a table means; raise `UsageError` for an unknown column or reading."""
        from traitbench.tables.columns import checked_readings, read_columns

        try:
            given = checked_readings(table.columns, dict(self.given))
            return read_columns(table, given=given, column=self.column, turn=self.turn)
        except ValueError as error:
            raise click.UsageError(str(error)) from error

    def said(self, source: "Source", column: str) -> str:
        """Return where the texts are from: `texts from message`, and whose they are in a conversation."""
        texts = f"texts from {shortened(' '.join(column.split()), 80)}"
        if column not in source.survey.conversations:
            return texts
        whose = "all messages" if self.turn == "all" else f"what the {self.turn} said"
        return f"{texts}: {whose} (--turn)"


def reads_file(*names: str) -> Callable[[Command], Command]:
    """Add the options of a command that reads a table, passed as `of_file`; `names` are aliases of --column."""

    def add(command: Command) -> Command:
        @wraps(command)
        def run(
            *arguments: Any,
            column: str | None,
            turn: Any,
            sheet: str | None,
            no_header: bool,
            clean: tuple[Any, ...],
            given: tuple[tuple[str, str], ...],
            **others: Any,
        ) -> Any:
            header = False if no_header else None
            return command(*arguments, of_file=FileOptions(column, turn, sheet, header, clean, given), **others)

        return cast(Command, _file_options(*names)(run))

    return add


# Those of `traitbench.tables.columns`, which takes too long to import for a command without a table.
_READINGS = (
    *("text", "labels", "several_answers", "scale", "verdicts", "people", "messages", "rows_together", "group"),
    *("date", "number", "identifier", "test", "not_used"),
)


def _file_options(*names: str) -> Callable[[Any], Any]:
    return combined(
        click.option(
            *("--column", *names, "column"), metavar="COLUMN", help="The column of the texts. Default: guessed."
        ),
        click.option(
            "--turn",
            type=click.Choice(get_args(Turn)),
            default="user",
            help="Whose words of a conversation are the text. Default: user.",
        ),
        click.option("--sheet", help="The sheet of an Excel file. Default: the first visible one with a table."),
        click.option("--no-header", is_flag=True, help="The first row of a CSV or Excel file is a text."),
        click.option(
            "--clean",
            type=click.Choice(get_args(Cleaning)),
            multiple=True,
            help="Read HTML as text, or repair texts that were decoded twice.",
        ),
        click.option(
            *("--read", "given"),
            metavar="COLUMN=READING",
            multiple=True,
            callback=lambda _context, _option, values: tuple(map(_given_reading, values)),
            help=f"What a column means: {', '.join(_READINGS)}. Repeat it.",
        ),
    )


def _given_reading(value: str) -> tuple[str, str]:
    # The name of a column may have the sign too; a reading has none.
    column, equals, reading = value.rpartition("=")
    if not (column and equals and reading):
        raise click.UsageError(f"--read {value} is not COLUMN=READING, such as rating=scale.")
    return column, reading


MOST_PIPED = 4 * 10**9
"""The most bytes that are read from a pipe."""

_AT_ONCE = 1 << 20

MOST_LISTED = 20
"""The number of bad lines that are named."""


def source_of(name: str, *, header: bool | None = None, sheet: str | None = None) -> "Source":
    """Return a table, and say on stderr how much was read. Stdin is JSONL if it starts like JSON, else CSV."""
    from traitbench.tables.rows import NotATable
    from traitbench.tables.source import opened

    with _rewindable(name) as file:
        try:
            if name == STDIN and header is None:
                name, source = _piped(file, sheet)
            else:
                name = _stdin_name(file) if name == STDIN else name
                source = opened(name, file, header=header, sheet=sheet)
        except NotATable as error:
            raise Refused(f"{_stdin_name(file) if name == STDIN else name}: {error}") from error
    for line in (source.survey.summary, *source.notes):
        click.echo(f"{name}: {line}", err=True)
    if name.startswith("stdin") and header is None and not source.survey.header:
        click.echo(
            f"{name}: the first line is read as data, because it names no column. If it does, add --column.", err=True
        )
    return source


def _stdin_name(file: IO[bytes]) -> str:
    file.seek(0)
    return f"stdin{'.jsonl' if file.read(1_000).lstrip()[:1] in (b'{', b'[') else '.csv'}"


def _piped(file: IO[bytes], sheet: str | None) -> tuple[str, "Source"]:
    """Return the table in a pipe, which has no name that says whether its first line has names."""
    from traitbench.tables.rows import NotATable
    from traitbench.tables.source import opened

    name, lines = _stdin_name(file), "stdin.txt"
    try:
        source = opened(name, file, sheet=sheet)
    except NotATable:
        if not name.endswith(".csv") or sheet is not None:
            raise
        source = opened(lines, file)
        if source.survey.header:
            raise
        return name, source
    if source.survey.kind not in ("csv", "excel") or not _begins_with_data(source.head):
        return name, source
    return name, opened(lines if len(source.columns) == 1 else name, file, header=False)


def _begins_with_data(table: "Table") -> bool:
    """Whether what was taken for names of columns is the first row: a text, or a number above numbers."""
    from traitbench.tables.rows import TEXT_NAMES
    from traitbench.tables.sample_files import as_number

    names = [name.strip().casefold() for name in table.columns]
    if any(name in TEXT_NAMES or name.removesuffix("s") in TEXT_NAMES for name in names):
        return False
    if len(names) == 1:
        return not _IDENTIFIER.fullmatch(names[0])
    numbers = [name for name in table.columns if as_number(name) is not None]
    return any(all(as_number(row.cells.get(name, "")) is not None for row in table.rows) for name in numbers)


_IDENTIFIER = re.compile(r"\w{1,60}_\w{1,60}|[a-z]\w{0,9}\d{1,9}")
"""How programs name a column: `review_text`, `q12`."""


def read_table(name: str, *, header: bool | None = None, sheet: str | None = None) -> "Table":
    """Read the whole table in a file."""
    return source_of(name, header=header, sheet=sheet).whole


def check_columns(table: "Table", names: Sequence[str | None]) -> None:
    """Raise `UsageError` unless the table has all columns that were named."""
    for name in names:
        if name is not None and name not in table.columns:
            raise click.UsageError(f"The file has no column {name}; it has {', '.join(table.columns)}.")


def tell_problems(problems: Sequence[tuple[int, str]], total: int | None = None) -> None:
    """Print the first bad lines and their reasons. `total` is the number of all bad lines, if `problems` has fewer."""
    for line, reason in problems[:MOST_LISTED]:
        click.echo(f"line {line}: {reason}", err=True)
    more = (len(problems) if total is None else total) - min(len(problems), MOST_LISTED)
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
            _copy(stdin(), copy)
        else:
            with Path(name).open("rb") as pipe:
                _copy(pipe, copy)
        yield copy


def _copy(pipe: IO[bytes], copy: IO[bytes]) -> None:
    """Copy a pipe, which may have no end."""
    left = MOST_PIPED
    while content := pipe.read(min(left + 1, _AT_ONCE)):
        left -= len(content)
        if left < 0:
            raise Refused(f"The pipe has more than {MOST_PIPED // 10**9} GB. Write it to a file, and name that.")
        copy.write(content)

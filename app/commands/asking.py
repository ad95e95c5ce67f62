"""What a command needs before it can ask the service: a client, a text, a yes."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeVar

import click

from traitbench.client import Traitbench
from traitbench.settings import read_settings

Command = TypeVar("Command", bound=Callable[..., Any])

STDIN = "-"


class Refused(click.ClickException):
    """It cannot be done; the sentence says why."""

    exit_code = 1


class Misasked(click.ClickException):
    """A setting cannot be used, or nobody is there to ask."""

    exit_code = 2


class InputFile(click.Path):
    """A file that can be read, or `-` for stdin."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, readable=True, allow_dash=True, path_type=str)


def connected() -> Traitbench:
    """A client of the service that the settings name."""
    settings = read_settings()
    if settings.api_url and not settings.api_key:
        raise Misasked(f"Set TRAITBENCH_API_KEY to a key of the service at {settings.base_url}.")
    return Traitbench(settings.base_url, settings.service_key())


def content_of(name: str) -> bytes:
    """What a file holds, or stdin."""
    return stdin().read() if name == STDIN else Path(name).read_bytes()


def stdin() -> IO[bytes]:
    """What comes through the pipe, or is typed."""
    if sys.stdin.isatty():
        click.echo("Reading stdin; end it with Ctrl-D.", err=True)
    return sys.stdin.buffer


def text_of(name: str) -> str:
    """The text that a file holds, or stdin."""
    try:
        return content_of(name).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{'stdin' if name == STDIN else name} is not UTF-8 text.") from error


def given_text(text: str | None, file: str | None) -> str:
    """The text itself, that of a file, or, when neither is given or it is `-`, what comes through the pipe."""
    if text is not None and file is not None:
        raise click.UsageError("Give a TEXT or --file, not both.")
    if text is None and file is None and sys.stdin.isatty():
        raise click.UsageError("Give a TEXT, - for stdin, or --file.")
    return text_of(file or STDIN) if text is None or text == STDIN else text


def confirm(warning: str, *, yes: bool) -> None:
    """Go on only when a person agrees, or has agreed with --yes."""
    if yes:
        return
    click.echo(warning, err=True)
    if not sys.stdin.isatty():
        raise click.UsageError("Nobody is here to be asked; say --yes if it is meant.")
    click.confirm("Go on?", abort=True, err=True)


def as_json(command: Command) -> Command:
    """The option `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="JSON for programs.")(command)


def yes(command: Command) -> Command:
    """The option `--yes`."""
    return click.option("--yes", is_flag=True, help="Do not ask whether it is meant.")(command)


def waits(command: Command) -> Command:
    """The option `--wait`."""
    return click.option("--wait", is_flag=True, help="Stay until it is done, and show how far it is.")(command)


def traits(command: Command) -> Command:
    """The option `--traits`."""
    return click.option(
        *("--traits", "--trait", "traits"),
        metavar="KEY[,KEY...]",
        multiple=True,
        callback=lambda _context, _option, values: [name for value in values for name in value.split(",")] or None,
        help="The traits to score; all when left out.",
    )(command)

"""The command line inside a test's own process, asked of the test's service or of none."""

from collections.abc import Callable, Iterator
from pathlib import Path

import click
from click.testing import CliRunner

from tests.conftest import Service
from traitbench.cli.main import main

Ask = Callable[..., tuple[int, str, str]]


def command(*arguments: str, stdin: str | bytes = "", **environment: str | None) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command; what it does not catch is raised here."""
    done = CliRunner().invoke(main, arguments, input=stdin, env=environment)
    if not isinstance(done.exception, SystemExit | None):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def asking(service: Service, home: Path, *namespaces: str) -> Ask:
    """A command line with an authoring key for the namespaces."""
    key = service.issue(namespaces=namespaces)

    def ask(*arguments: str, stdin: str | bytes = "") -> tuple[int, str, str]:
        given = {"TRAITBENCH_API_URL": service.base_url, "TRAITBENCH_API_KEY": key, "TRAITBENCH_HOME": str(home)}
        return command(*arguments, stdin=stdin, **given)

    return ask


def call(home: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    """A command on a home where no service runs."""
    return command(*arguments, **{"TRAITBENCH_HOME": str(home), "TRAITBENCH_PORT": "0", **environment})


def cells(table: str) -> list[list[str]]:
    """The words of a printed table, row by row."""
    return [line.split() for line in table.splitlines()]


def commands(group: click.Group) -> dict[str, click.Command]:
    """The commands of a group by their names."""
    context = click.Context(group)
    return {name: command for name in group.list_commands(context) if (command := group.get_command(context, name))}


def leaves(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command below a group, by its whole name."""
    for name, each in commands(group).items():
        if isinstance(each, click.Group):
            yield from leaves(each, f"{before}{name} ")
        else:
            yield before + name, each

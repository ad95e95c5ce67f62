"""The command line inside a test's own process, asked of the test's service or of none."""

from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from tests.conftest import Service
from traitbench.cli.main import main

Ask = Callable[..., tuple[int, str, str]]


def asking(service: Service, home: Path, *namespaces: str) -> Ask:
    """A command line with an authoring key for the namespaces: exit code, stdout and stderr of every call."""
    environment = {
        "TRAITBENCH_API_URL": service.base_url,
        "TRAITBENCH_API_KEY": service.issue(namespaces=namespaces),
        "TRAITBENCH_HOME": str(home),
    }

    def ask(*arguments: str, stdin: str | bytes = "") -> tuple[int, str, str]:
        result = CliRunner().invoke(main, arguments, input=stdin, env=environment)
        if not isinstance(result.exception, SystemExit | None):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return ask


def call(home: Path, *arguments: str, **environment: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command within this process; what it does not catch is raised here."""
    given = {"TRAITBENCH_HOME": str(home), "TRAITBENCH_PORT": "0", **environment}
    done = CliRunner().invoke(main, arguments, env=given)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def cells(table: str) -> list[list[str]]:
    """The words of a printed table, row by row."""
    return [line.split() for line in table.splitlines()]

"""The command line (CONTRACT 10): the processes, the keys, and the API's verbs for shells and scripts.

Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 refused or failed, 2 asked wrongly (a command, a
setting) or nobody there to ask.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import click

from core.client import Traitbench
from core.contract.models import LastOperation, Model, State, TrainEffort
from core.errors import TraitbenchError, Unreachable
from core.settings import SettingInvalid, Settings, read_settings

Scope = Literal["scoring", "authoring"]

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Refused(click.ClickException):
    """It cannot be done; the sentence says why."""

    exit_code = 1


class Misasked(click.ClickException):
    """A setting cannot be used, or nobody is there to ask."""

    exit_code = 2


class _Commands(click.Group):
    """The commands, with every expected failure told in a sentence."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except (SettingInvalid, Unreachable) as error:
            raise Misasked(str(error)) from error
        except TraitbenchError as error:
            raise Refused("\n".join((str(error), *_particulars(error)))) from error
        except TimeoutError as error:
            raise Refused(str(error)) from error
        except _no_database() as error:
            raise Refused("The database does not answer; check TRAITBENCH_DATABASE_URL and that it runs.") from error


@click.group(cls=_Commands, invoke_without_command=True)
@click.version_option(package_name="traitbench", message="%(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    """Traitbench: numbers for texts, and the reasons for them.

    Without a command: the workbench, the API and the runs, in one process on one port.
    """
    if context.invoked_subcommand is None:
        _run_workbench(read_settings())


# ---- processes -------------------------------------------------------------------------------------------------------


@main.command("serve")
def serve_api() -> None:
    """The API and the runs, without the workbench."""
    from app import asgi

    settings = read_settings()
    _serve(asgi.api, settings, path="/v1", ready=["/v1/health"])


@main.command()
def worker() -> None:
    """Runs only, beside any number of others, on PostgreSQL."""
    settings = read_settings()
    if settings.database_url.startswith("sqlite"):
        raise Misasked(
            "A worker of its own needs PostgreSQL: set TRAITBENCH_DATABASE_URL to postgresql://... "
            "On SQLite `traitbench` and `traitbench serve` execute the runs themselves."
        )
    from app.serve import until_told
    from core.lifecycle.bench import open_store
    from core.lifecycle.worker import greeting
    from core.runs.engine import Runs

    open_store(settings).dispose()
    runs = Runs(settings.database_url, module="core.lifecycle.worker", greeting=greeting(settings))
    runs.start()
    until_told(runs.healthy, "Traitbench executes runs.")
    runs.close()


def _run_workbench(settings: Settings) -> None:
    from app import asgi

    if settings.host not in _LOOPBACK:
        click.echo(
            f"Everybody who reaches {settings.host}:{settings.port} may use the workbench, keys included: "
            "put a proxy that asks for a login in front.",
            err=True,
        )
    _serve(asgi.workbench, settings, path="", ready=["/"] if settings.api_url else ["/v1/health", "/"])


def _serve(make: Any, settings: Settings, *, path: str, ready: Sequence[str]) -> None:
    from app.serve import NotStarted, serve
    from core.encoders import EncoderUnavailable

    try:
        serve(make, settings, path=path, ready=ready)
    except (NotStarted, EncoderUnavailable) as error:
        raise Refused(str(error)) from error


# ---- keys ------------------------------------------------------------------------------------------------------------


@main.group()
def key() -> None:
    """API keys, straight on the database, whether the service runs or not."""


@key.command("create")
@click.option("--scope", type=click.Choice(get_args(Scope)), required=True, help="What it may do.")
@click.option("--namespace", "namespaces", multiple=True, required=True, help="A namespace it owns; may be repeated.")
@click.option("--name", default="", help="To know it again by.")
def create_key(scope: Scope, namespaces: tuple[str, ...], name: str) -> None:
    """Issue a key and print its secret, alone and this once."""
    from app import console

    click.echo(console.issue(scope=scope, namespaces=namespaces, name=name).secret)


@key.command("list")
def list_keys() -> None:
    """List all keys, the revoked ones too."""
    from app import console

    rows = [
        (
            each.id,
            f"{each.prefix}…",
            each.scope,
            ",".join(each.namespaces),
            "revoked" if each.revoked_at else "active",
            f"{each.last_used_at:%Y-%m-%d %H:%M}" if each.last_used_at else "never",
            each.name,
        )
        for each in console.list_keys()
    ]
    _print_table(("ID", "KEY", "SCOPE", "NAMESPACES", "STATE", "LAST USED", "NAME"), rows)


@key.command("revoke")
@click.argument("key_id", metavar="ID")
def revoke_key(key_id: str) -> None:
    """End a key at once."""
    from app import console

    try:
        click.echo(f"{console.revoke(key_id).id} is revoked.")
    except LookupError as error:
        raise Refused(str(error)) from error


# ---- the API's verbs -------------------------------------------------------------------------------------------------


@main.group()
def models() -> None:
    """The models that the key can read."""


@models.command("list")
@click.option("--namespace", help="One that the key owns; without it, the public catalog.")
@click.option("--state", type=click.Choice(get_args(State)), help="Only those in this state.")
def list_models(namespace: str | None, state: str | None) -> None:
    """List models."""
    with _client() as client:
        rows = [
            (model.handle, model.state, _version(model), ", ".join(model.traits), model.description)
            for model in client.models.list(namespace=namespace, state=state)
        ]
    _print_table(("HANDLE", "STATE", "VERSION", "TRAITS", "DESCRIPTION"), rows)


@models.command("show")
@click.argument("handle")
def show_model(handle: str) -> None:
    """Show a model as JSON."""
    with _client() as client:
        click.echo(client.models.get(handle).model_dump_json(indent=2))


@main.command()
@click.argument("handle")
@click.option("--effort", type=click.Choice(get_args(TrainEffort)), help="How wide to search; high when left out.")
@click.option("--wait", is_flag=True, help="Stay until it is done, and show how far it is.")
def train(handle: str, effort: TrainEffort | None, wait: bool) -> None:
    """Train a model."""
    with _client() as client:
        started = client.models.train(handle, effort=effort)
        if not wait or started.run_id is None:
            click.echo(
                f"{handle} is {started.state}" + (f": {started.run_id}" if started.run_id else "; nothing to do")
            )
            return
        model = client.models.wait(handle, on_progress=_Meter().show, timeout=24 * 3600)
    operation = model.last_operation
    if operation is not None and operation.error is not None:
        raise Refused(f"{handle} is {model.state}: {operation.error.message}")
    click.echo(f"{handle} is {model.state}: {_version(model)}")


@main.command()
@click.argument("handle")
@click.argument("text", required=False)
@click.option("--file", "file", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Score its text.")
@click.option("--trait", "traits", multiple=True, help="A trait to score; may be repeated; all when left out.")
@click.option("--json", "as_json", is_flag=True, help="The card as JSON instead of a bar chart.")
def score(handle: str, text: str | None, file: Path | None, traits: tuple[str, ...], as_json: bool) -> None:
    """Score a TEXT against a model; `-`, or nothing in a pipe, reads it from stdin."""
    content = _content(text, file)
    with _client() as client:
        if as_json:
            click.echo(client.scores.score(handle, content, traits=traits or None).model_dump_json(indent=2))
        else:
            click.echo(client.scores.chart(handle, content, traits=traits or None).rstrip("\n"))


class _Meter:
    """How far a run is: a line that is written over on a terminal, a line a phase elsewhere."""

    def __init__(self) -> None:
        self._shown = ""

    def show(self, model: Model) -> None:
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


def _client() -> Traitbench:
    settings = read_settings()
    if settings.api_url and not settings.api_key:
        raise Misasked(f"Set TRAITBENCH_API_KEY to a key of the service at {settings.base_url}.")
    return Traitbench(settings.base_url, settings.service_key())


def _content(text: str | None, file: Path | None) -> str:
    if (text is not None) and (file is not None):
        raise click.UsageError("Give a TEXT or --file, not both.")
    if text is None and file is None and sys.stdin.isatty():
        raise click.UsageError("Give a TEXT, - for stdin, or --file.")
    if text is not None and text != "-":
        return text
    try:
        return (file.read_bytes() if file else sys.stdin.buffer.read()).decode("utf-8")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{file or 'stdin'} is not UTF-8 text.") from error


def _no_database() -> tuple[type[Exception], ...]:
    """Imported when something has failed, for it takes longer than most commands."""
    from sqlalchemy.exc import ArgumentError, OperationalError

    return ArgumentError, OperationalError


def _version(model: Model) -> str:
    return "-" if model.version_no is None else f"v{model.version_no}"


def _particulars(error: TraitbenchError) -> list[str]:
    """What was wrong in which field, as far as the error says it."""
    places = [each for each in error.details.get("errors", ()) if isinstance(each, dict)]
    return [f"  {'.'.join(str(part) for part in each.get('loc', ()))}: {each.get('msg', '')}" for each in places]


def _print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
    for row in (heads, *rows):
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())

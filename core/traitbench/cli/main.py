"""The command line: processes, keys, backups, and the operations of the API (`traitbench.cli`).

Results go to stdout, everything else to stderr. Exit codes: 0 success; 1 refused or failed, in a batch even for a
single row; 2 wrong command or setting, or no service answers; 130 interrupted. It is no failure if the reader of stdout
has seen enough.

See core/docs/contract.md, section 11.
"""

import json
import os
import select
import sys
from dataclasses import asdict
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Literal, TextIO, get_args

import click
from click.exceptions import Exit

from traitbench import logs
from traitbench.cli import VERBS
from traitbench.cli.examples import show_examples
from traitbench.cli.options import Misasked, Refused, as_json
from traitbench.display.text import count
from traitbench.errors import LocalError, TraitbenchError, Unreachable
from traitbench.install import advice, install_line, require
from traitbench.settings import SettingInvalid, Settings, read_settings

Scope = Literal["scoring", "authoring"]

_INTERRUPTED = 130  # 128 and the number of SIGINT, as shells have it
_BACKED_UP = ("model", "sample", "version", "key")


class _Commands(click.Group):
    """The commands, imported when they are called. Each expected failure is reported as a sentence."""

    def list_commands(self, context: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*self.commands, *VERBS})

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Return the command with this name, if there is one."""
        if name in VERBS and name not in self.commands:
            module, _, attribute = VERBS[name].partition(":")
            verb = getattr(import_module(module), attribute)
            show_examples(verb, name)
            self.add_command(verb)
        return super().get_command(context, name)

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except (KeyboardInterrupt, click.Abort) as error:
            # At a question, click raises `Abort` for Ctrl-C and for the end of the input.
            if isinstance(error, click.Abort) and not isinstance(error.__context__, KeyboardInterrupt):
                raise
            click.echo("\nAborted!", err=True)
            raise Exit(_INTERRUPTED) from error
        except BrokenPipeError:
            if not _is_unread(sys.stdout):
                raise
            # What is still buffered is written at exit, which must not fail.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise Exit(0) from None
        except (SettingInvalid, Unreachable) as error:
            raise Misasked(str(error)) from error
        except TraitbenchError as error:
            raise Refused("\n".join((str(error), *_particulars(error)))) from error
        except (LocalError, TimeoutError) as error:
            raise Refused(str(error)) from error
        except ModuleNotFoundError as error:
            if (sentence := advice(error)) is None:
                raise
            raise Misasked(sentence) from error
        except _database_errors() as error:
            raise Refused(
                f"The database failed ({type(error).__name__}). Check that TRAITBENCH_DATABASE_URL names a Traitbench"
                " database, and that its server works."
            ) from error


@click.group(cls=_Commands, invoke_without_command=True)
@click.version_option(package_name="traitbench", message="%(version)s")
@click.option("--open", "open_to_all", is_flag=True, help="Serve the workbench beyond this machine without a sign-in.")
@click.pass_context
def main(context: click.Context, open_to_all: bool) -> None:
    """Traitbench scores texts and explains the scores.

    Without a command, start the workbench, the API and a worker on one port.
    """
    if context.invoked_subcommand is None:
        _run_workbench(read_settings(), open_to_all=open_to_all)


# ---- processes -------------------------------------------------------------------------------------------------------


@main.command("serve")
def serve_api() -> None:
    """Start the API and a worker, without the workbench."""
    from traitbench.contract import operations
    from traitbench.contract.operation import PREFIX
    from traitbench.service.embedded import api

    settings = read_settings()
    _serve(api, settings, path=PREFIX, ready=[PREFIX + operations.HEALTH.path])


@main.command()
def worker() -> None:
    """Start a worker. Needs PostgreSQL; any number of workers can share one database."""
    settings = read_settings()
    _check_extras(settings)
    if settings.database_url.startswith("sqlite"):
        raise Misasked(
            "A separate worker needs PostgreSQL: set TRAITBENCH_DATABASE_URL to postgresql://... "
            "On SQLite, `traitbench` and `traitbench serve` start a worker themselves."
        )
    from traitbench.operations import WORKER
    from traitbench.operations.context import greeting
    from traitbench.runs.engine import Runs
    from traitbench.service.serve import until_signal
    from traitbench.store.migrate import open_store

    logs.configure(level=settings.log_level, form=settings.log_form)
    open_store(settings).dispose()
    runs = Runs(settings.database_url, module=WORKER, greeting=greeting(settings))
    runs.start()
    until_signal(runs.healthy, "Traitbench executes runs.")
    runs.close()


def _run_workbench(settings: Settings, *, open_to_all: bool) -> None:
    require("streamlit")  # checked first, because its extra installs everything else too
    # By its name in pyproject.toml: the command line and the service do without the workbench.
    [start] = distribution("traitbench").entry_points.select(group="traitbench.workbench")
    start.load()(settings, _serve, open_to_all=open_to_all)


def _serve(make: Any, settings: Settings, **how: Any) -> None:
    from traitbench.service.serve import serve

    _check_extras(settings)
    if settings.near_host != settings.host and not settings.allowed_hosts:
        click.echo(
            "Only requests to localhost are accepted. Set TRAITBENCH_ALLOWED_HOSTS to the name or address "
            "that people and programs use for this machine.",
            err=True,
        )
    try:
        serve(make, settings, **how)
    except (OSError, MemoryError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        raise Refused(f"Traitbench could not start: {why}. Fix this, then start it again.") from error


def _check_extras(settings: Settings) -> None:
    """Raise `SettingInvalid` if a setting needs a package that is missing."""
    from traitbench.synthesis import language_model

    language_model.check(settings)
    try:
        if settings.otlp_url:
            require("opentelemetry.exporter")
    except ModuleNotFoundError:
        raise SettingInvalid(
            "TRAITBENCH_OTLP_URL is set, but the packages that send traces are not installed. Unset it, or install"
            f" them with: {install_line('otel')}"
        ) from None


# ---- keys ------------------------------------------------------------------------------------------------------------


@main.group()
def key() -> None:
    """Manage API keys.

    These commands use the database directly. The service need not run.
    """


@key.command("create")
@click.option("--scope", type=click.Choice(get_args(Scope)), required=True, help="What the key may do.")
@click.option(
    "--namespace", "namespaces", multiple=True, required=True, help="A namespace that the key owns; can be repeated."
)
@click.option("--name", default="", help="A name to recognise the key by.")
@as_json
def create_key(scope: Scope, namespaces: tuple[str, ...], name: str, as_json: bool) -> None:
    """Issue a key and print its secret, which is shown only once."""
    from traitbench.operations import console, keys

    issued = keys.create(console.engine(), scope=scope, namespaces=namespaces, name=name)
    click.echo(_json({**asdict(issued.key), "secret": issued.secret}) if as_json else issued.secret)


@key.command("list")
@as_json
def list_keys(as_json: bool) -> None:
    """List all keys, including revoked ones."""
    from traitbench.cli.output import say_table, say_unreadable
    from traitbench.operations import console, keys

    listing = keys.every(console.engine())
    say_unreadable(listing.unreadable(), "key", way_out="It no longer works. Issue a new key.")
    if as_json:
        for each in listing.items():
            click.echo(_json(asdict(each)))
        return
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
        for each in listing.items()
    ]
    say_table(("ID", "KEY", "SCOPE", "NAMESPACES", "STATE", "LAST USED", "NAME"), rows)


@key.command("revoke")
@click.argument("key_id", metavar="ID")
@as_json
def revoke_key(key_id: str, as_json: bool) -> None:
    """Revoke a key, with immediate effect."""
    from traitbench.operations import console, keys

    keys.revoke(console.engine(), key_id)
    click.echo(_json({"id": key_id, "revoked": True}) if as_json else f"{key_id} is revoked.")


# ---- backups ---------------------------------------------------------------------------------------------------------


@main.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--overwrite", is_flag=True, help="Replace FILE if it exists.")
@as_json
def backup(file: Path, overwrite: bool, as_json: bool) -> None:
    """Write a backup of everything into one file. The service may run.

    The file is a consistent snapshot of models, samples, versions, runs and keys (as hashes). It holds texts: protect
    it like the database. It can be restored to SQLite and to PostgreSQL.
    """
    from traitbench.operations import backups

    manifest = backups.backup(read_settings(), file, overwrite=overwrite)
    click.echo(_summary(manifest, file) if as_json else f"Backed up {_contents(manifest)} to {file}.")


@main.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Replace everything in the database with the backup.")
@as_json
def restore(file: Path, replace: bool, as_json: bool) -> None:
    """Restore a backup into an empty database. Stop the service first.

    The file is checked as a whole before anything changes. Unfinished runs continue when the service starts.
    """
    from traitbench.operations import backups
    from traitbench.service.serve import locked

    settings = read_settings()
    with locked(settings):
        manifest, queued = backups.restore(settings, file, replace=replace)
    if as_json:
        click.echo(_summary(manifest, file, unfinished_runs=queued))
        return
    click.echo(f"Restored {_contents(manifest)}, backed up at {manifest.made_at:%Y-%m-%d %H:%M:%S} UTC.")
    if queued:
        click.echo(f"{count(queued, 'unfinished run')} will continue when Traitbench starts.")


def _contents(manifest: Any) -> str:
    parts = [count(manifest.count(f"tb_{name}s"), name) for name in _BACKED_UP]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _summary(manifest: Any, file: Path, **more: int) -> str:
    """Return what a backup holds as JSON."""
    counts = {f"{name}s": manifest.count(f"tb_{name}s") for name in _BACKED_UP}
    return _json({"file": str(file), "made_at": manifest.made_at, **counts, **more})


def _json(value: Any) -> str:
    return json.dumps(value, default=lambda time: time.isoformat())


show_examples(main)


def _is_unread(stream: TextIO) -> bool:
    """Whether the reader of a pipe has closed it."""
    pipe = select.poll()
    pipe.register(stream.fileno(), select.POLLOUT)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in pipe.poll(0))


def _database_errors() -> tuple[type[Exception], ...]:
    """Return the database errors that have no message of their own; none before SQLAlchemy is imported."""
    library = sys.modules.get("sqlalchemy.exc")
    return (library.SQLAlchemyError,) if library else ()


def _particulars(error: TraitbenchError) -> list[str]:
    """Return a line for each invalid field that the error names, and the number of those left out."""
    faults = [each for each in error.details.get("errors", ()) if isinstance(each, dict)]
    lines = [f"  {'.'.join(str(part) for part in each.get('loc', ()))}: {each.get('msg', '')}" for each in faults]
    more = error.details.get("more_errors")
    return [*lines, *([f"  ... and {more:,} more"] if isinstance(more, int) else [])]

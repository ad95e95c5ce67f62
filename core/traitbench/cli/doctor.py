"""`traitbench doctor`: check everything that Traitbench needs on this machine, and say what to do about problems."""

import json
import os
import platform
import shutil
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import click

from traitbench.cli.options import as_json
from traitbench.cli.output import say_text
from traitbench.client import Client
from traitbench.errors import TraitbenchError, Unauthenticated, Unavailable, Unreachable
from traitbench.install import EXTRA_OF, advice, install_line
from traitbench.settings import SettingInvalid, Settings, read_settings

State = Literal["ok", "note", "problem"]

_LITTLE, _TOO_LITTLE = 2 * 2**30, 200 * 2**20  # bytes of free space
_TIMEOUT = 5.0
_MARKS = {"ok": "ok      ", "note": "note    ", "problem": "PROBLEM "}


@dataclass(frozen=True)
class DoctorCheck:
    """What was looked at, what was found, and what to do about it; an empty `way_out` means nothing."""

    name: str
    state: State
    found: str
    way_out: str = ""


@click.command()
@as_json
def doctor(as_json: bool) -> None:
    """Check this installation, and say what to do about each problem.

    Looks at the packages, the settings, the home folder, free space, the encoder, the database, the service and its
    key. Changes nothing. The exit code is 1 if there is a problem; a note is not a problem.
    """
    checks = list(_checks())
    healthy = all(check.state != "problem" for check in checks)
    if as_json:
        click.echo(json.dumps({"healthy": healthy, "checks": [asdict(check) for check in checks]}, indent=2))
    else:
        say_text("\n".join(line for check in checks for line in _lines(check)))
    if not healthy:
        raise SystemExit(1)


def _checks() -> Iterator[DoctorCheck]:
    yield _packages()
    try:
        settings = read_settings()
    except SettingInvalid as error:
        yield DoctorCheck("settings", "problem", str(error), "Correct or unset this variable.")
        return
    remote = settings.api_url is not None
    service = _service(settings)
    yield service
    if service.found.startswith("answers"):
        yield _key(settings)
    if not remote:
        yield from (check(settings) for check in (_home, _space, _encoder, _database))


def _packages() -> DoctorCheck:
    """Which parts are installed; an extra is installed when all its packages are."""
    missing = {extra for module, extra in EXTRA_OF.items() if find_spec(module) is None}
    installed = ", ".join(["base", *sorted(set(EXTRA_OF.values()) - missing)])
    text = f"Traitbench {version('traitbench')}, Python {platform.python_version()}, with {installed}"
    if missing:
        return DoctorCheck("packages", "note", text, f"For the rest: {install_line(*sorted(missing))}")
    return DoctorCheck("packages", "ok", text)


def _service(settings: Settings) -> DoctorCheck:
    where = settings.base_url
    try:
        with Client(where, timeout=_TIMEOUT) as client:
            client.health()
        return DoctorCheck("service", "ok", f"answers at {where}")
    except Unreachable as error:
        if settings.api_url:
            return DoctorCheck(
                "service", "problem", error.message, "Check TRAITBENCH_API_URL, and that the service runs."
            )
        return _port(settings)
    except Unavailable as error:
        return DoctorCheck(
            "service", "problem", f"{where} is not ready: {error.message}", "Look at the log of the service."
        )
    except TraitbenchError as error:
        return DoctorCheck(
            "service", "problem", f"{where} refused: {error}", "Set TRAITBENCH_ALLOWED_HOSTS on the service."
        )


def _port(settings: Settings) -> DoctorCheck:
    """Whether a service could start at its address."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    where = f"port {settings.port} on {settings.host}"
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # As servers do: without it, a port whose last connections are just ending would seem used.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            return DoctorCheck(
                "service",
                "problem",
                f"{where} cannot be used: {error.strerror}",
                "Stop the program that uses it, or set TRAITBENCH_PORT.",
            )
    return DoctorCheck("service", "note", f"none runs; {where} is free", "Start it: traitbench")


def _key(settings: Settings) -> DoctorCheck:
    key = settings.service_key()
    if not key:
        way_out = "Set TRAITBENCH_API_KEY, or use the home folder of the service (TRAITBENCH_HOME)."
        return DoctorCheck("key", "problem", "there is no key for the service", way_out)
    try:
        with Client(settings.base_url, key, timeout=_TIMEOUT) as client:
            client.models.list(limit=1)
    except Unauthenticated:
        way_out = "Use the home folder of this service (TRAITBENCH_HOME), or set TRAITBENCH_API_KEY to a key from"
        return DoctorCheck("key", "problem", "the service does not accept the key", f"{way_out} traitbench key create.")
    except TraitbenchError as error:
        return DoctorCheck("key", "problem", error.message, "Look at the log of the service.")
    return DoctorCheck("key", "ok", "the service accepts the key")


def _home(settings: Settings) -> DoctorCheck:
    existing = _existing(settings.home)
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        return DoctorCheck(
            "home", "problem", f"{settings.home} cannot be written", "Make it writable, or set TRAITBENCH_HOME."
        )
    text = f"{settings.home}" if existing == settings.home else f"{settings.home} will be made at the first start"
    if existing == settings.home and existing.stat().st_mode & 0o077:
        return DoctorCheck("home", "note", f"{text} can be read by other users", f"chmod 700 {settings.home}")
    return DoctorCheck("home", "ok", text)


def _space(settings: Settings) -> DoctorCheck:
    free = shutil.disk_usage(_existing(settings.home)).free
    text = f"{free / 2**30:.1f} GB free for {settings.home}"
    way_out = "Free some space, or move the home folder (TRAITBENCH_HOME)."
    if free < _LITTLE:
        return DoctorCheck("disk", "problem" if free < _TOO_LITTLE else "note", text, way_out)
    return DoctorCheck("disk", "ok", text)


def _encoder(settings: Settings) -> DoctorCheck:
    # Imported here: an encoder is heavy, and other commands need none.
    from traitbench.encoders import EncoderUnavailable
    from traitbench.encoders.registry import NAMES, load_encoder

    try:
        with _cache(settings) as cache:
            encoder = load_encoder(settings.encoder, cache=cache)
            encoder.encode(["A sentence to try it with."])
    except EncoderUnavailable as error:
        return DoctorCheck(
            "encoder", "problem", str(error), "Check TRAITBENCH_ENCODER; unset it for the best installed."
        )
    chosen = "chosen by TRAITBENCH_ENCODER" if settings.encoder else "the best installed"
    text = f"{encoder.id}, {chosen}"
    if not settings.encoder and encoder.id.startswith(NAMES[-1]):
        return DoctorCheck(
            "encoder", "note", text, "It knows letters only, not words. Install Traitbench from its wheel."
        )
    return DoctorCheck("encoder", "ok", text)


def _database(settings: Settings) -> DoctorCheck:
    try:
        return _opened(settings)
    except ModuleNotFoundError as error:
        if (sentence := advice(error)) is None:
            raise
        return DoctorCheck("database", "note", "this installation cannot open it", sentence)


def _opened(settings: Settings) -> DoctorCheck:
    from traitbench.store.database import check_file, open_engine, reading, sqlite_file
    from traitbench.store.errors import StoreUnavailable

    file = sqlite_file(settings.database_url)
    if file is not None and not Path(file).exists():
        return DoctorCheck("database", "ok", f"{file} will be made at the first start")
    try:
        engine = open_engine(settings.database_url)
        try:
            with reading(engine):
                pass
            check_file(engine, within_s=_TIMEOUT)
        finally:
            engine.dispose()
    except StoreUnavailable as error:
        return DoctorCheck("database", "problem", error.message, "Check TRAITBENCH_DATABASE_URL, or restore a backup.")
    return DoctorCheck("database", "ok", f"{file}" if file is not None else "PostgreSQL answers")


@contextmanager
def _cache(settings: Settings) -> Iterator[Path]:
    """The folder for the encoder's own files; a temporary one while there is no home folder."""
    if settings.home.is_dir() and os.access(settings.home, os.W_OK):
        yield settings.cache
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _existing(path: Path) -> Path:
    """Return the path, or its nearest folder that exists."""
    return next(each for each in (path, *path.parents) if each.exists())


def _lines(check: DoctorCheck) -> Sequence[str]:
    line = f"{_MARKS[check.state]}{check.name:<9} {check.found}"
    return [line, f"{' ' * 18}{check.way_out}"] if check.way_out else [line]

"""A private PostgreSQL server for the tests: Debian's binaries, a socket in a temporary folder, no port.

The first test that needs it starts it, whichever process that is; the session that made the folder ends it.
`TRAITBENCH_TEST_POSTGRES=postgresql://...` names a server to use instead.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import create_engine, make_url, text
from ulid import ULID

from traitbench.runs.queue import make_tables
from traitbench.store.database import open_engine
from traitbench.store.migrate import migrate

URL = "TRAITBENCH_TEST_POSTGRES"
FOLDER = "TRAITBENCH_TEST_POSTGRES_FOLDER"
TEMPLATE = "traitbench_template"

_ABSENT = (
    "These tests need PostgreSQL: run 'sudo apt-get install postgresql', or set TRAITBENCH_TEST_POSTGRES to the URL of"
    " a server on which databases may be made."
)
# Nothing here has to outlive a power cut. One server answers a dozen pools at a time.
_OPTIONS = ("listen_addresses=", "fsync=off", "full_page_writes=off", "max_connections=400", "shared_buffers=64MB")


def begin_session() -> None:
    """Decide where the server will be, before worker processes of the tests inherit the environment."""
    # The path of a socket has to be short.
    folder = Path(tempfile.mkdtemp(prefix="traitbench-pg-", dir="/tmp"))
    os.environ[FOLDER] = str(folder)
    if user := _user():
        with suppress(LookupError):
            shutil.chown(folder, user)


def end_session() -> None:
    """End the server of this session, if it was ever started."""
    if folder := os.environ.pop(FOLDER, None):
        if (data := Path(folder, "data")).exists():
            _run("pg_ctl", "-D", str(data), "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def database(*, blank: bool = False) -> Iterator[str]:
    """The URL of a database of one's own, with all tables unless it is `blank`; dropped afterwards."""
    server, name = _server(), f"traitbench_{str(ULID()).lower()}"
    template = "template1" if blank else TEMPLATE
    _say(server, f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    try:
        yield make_url(server).set(database=name).render_as_string(False)
    finally:
        _say(server, f'DROP DATABASE "{name}" WITH (FORCE)')


def _server() -> str:
    folder = Path(os.environ[FOLDER])
    url = os.environ.get(URL) or f"postgresql://postgres@/postgres?host={folder}"
    with _once(folder / "lock"):
        if not (folder / "ready").exists():
            if URL not in os.environ:
                _start(folder)
            _make_template(url)
            (folder / "ready").touch()
    return url


def _start(folder: Path) -> None:
    data = str(folder / "data")
    _run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
    options = " ".join(f"-c {option}" for option in _OPTIONS)
    _run("pg_ctl", "-D", data, "-l", str(folder / "log"), "-o", f"{options} -k {folder}", "-w", "start")


def _make_template(server: str) -> None:
    """A database with all tables, of which copies are quick to make."""
    _say(server, f'DROP DATABASE IF EXISTS "{TEMPLATE}" WITH (FORCE)')
    _say(server, f'CREATE DATABASE "{TEMPLATE}"')
    url = make_url(server).set(database=TEMPLATE).render_as_string(False)
    migrated = open_engine(url)
    migrate(migrated)
    migrated.dispose()
    make_tables(url)


@contextmanager
def _once(lock: Path) -> Iterator[None]:
    with lock.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _say(server: str, statement: str) -> None:
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))
    engine.dispose()


def _run(command: str, *arguments: str) -> None:
    user = _user()
    done = subprocess.run(
        [_binary(command), *arguments],
        **({"user": user, "group": user, "extra_groups": []} if user else {}),  # type: ignore[call-overload]
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{command} failed: {done.stderr}")


def _binary(name: str) -> str:
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[4]))
    result = str(versions[-1]) if versions else shutil.which(name)
    if result is None:
        raise RuntimeError(_ABSENT)
    return result


def _user() -> str | None:
    """Whom the server runs as: it refuses to run as root."""
    return "postgres" if os.getuid() == 0 else None

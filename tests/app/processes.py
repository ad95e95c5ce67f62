"""The real `traitbench` command as a child of a test: started, read, asked, stopped, and looked after."""

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

from tests.conftest import free_port
from tests.contexts import ENCODER, link_cache
from tests.patience import PATIENCE_S
from traitbench.client import Traitbench

# For a `traitbench` whose demo models nobody looks at: their trainings take longer than its start.
WITHOUT_DEMOS = {"TRAITBENCH_PUBLIC_NAMESPACES": ""}

COMMAND = Path(sys.executable).with_name("traitbench")
_OPENER = build_opener(ProxyHandler({}))


class Started:
    """A running `traitbench` that has said that it is ready; `printed` are the two lines."""

    def __init__(self, home: Path, *arguments: str, under: Sequence[str] = (), **environment: str) -> None:
        self.home = home
        self.port = free_port()
        self.process = _start(home, arguments, {"TRAITBENCH_PORT": str(self.port), **environment}, under)
        assert self.process.stdout is not None
        self.printed = [self.process.stdout.readline().rstrip("\n") for _ in range(2)]
        if self.process.poll() is not None:
            raise AssertionError(self.process.communicate()[1])

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self) -> Traitbench:
        return Traitbench(self.base_url, (self.home / "first.key").read_text("utf-8"))

    def get(self, path: str) -> tuple[int, str, str]:
        """Status, content type and body."""
        with _OPENER.open(f"{self.base_url}{path}", timeout=PATIENCE_S) as response:
            return response.status, response.headers["Content-Type"], response.read().decode()

    def children(self) -> list[int]:
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
        return [int(pid) for task in tasks for pid in task.read_text().split()]

    def run(
        self, *arguments: str, stdin: str = "", under: Sequence[str] = (), **environment: str
    ) -> tuple[int, str, str]:
        """A command beside it, on the same home and port."""
        given = {"TRAITBENCH_PORT": str(self.port), **environment}
        return run(self.home, *arguments, stdin=stdin, under=under, **given)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str, str]:
        """Exit code, and what stdout and stderr had left."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out, err


@contextmanager
def running(home: Path, *arguments: str, under: Sequence[str] = (), **environment: str) -> Iterator[Started]:
    """A `traitbench`, ready, and ended with the block; `under` is a command that runs it."""
    started = Started(home, *arguments, under=under, **environment)
    with _ended(started.process):
        yield started


@contextmanager
def serving(home: Path, *arguments: str, **environment: str) -> Iterator[Started]:
    """A `traitbench` that is ready sooner than on its first start: without demo models, and with a filled cache.

    Its encoder is that of most tests, unless the environment says otherwise.
    """
    if not (home / "cache").exists():
        link_cache(home)
    given = {**WITHOUT_DEMOS, "TRAITBENCH_ENCODER": ENCODER or "", **environment}
    with running(home, *arguments, **given) as started:
        yield started


@contextmanager
def starting(
    home: Path, *arguments: str, stdin: int | None = None, **environment: str
) -> Iterator[subprocess.Popen[str]]:
    """A `traitbench` that is not waited for, and ended with the block."""
    with _ended(_start(home, arguments, environment, stdin=stdin)) as process:
        yield process


def run(
    home: Path, *arguments: str, stdin: str = "", under: Sequence[str] = (), **environment: str
) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command that ends by itself."""
    done = subprocess.run(
        [*under, COMMAND, *arguments],
        env=_environment(home, environment),
        input=stdin.encode(),
        capture_output=True,
        timeout=PATIENCE_S,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def on_terminal(
    home: Path, *arguments: str, typed: str = "", piped: bool = False, **environment: str
) -> tuple[int, str, str]:
    """Exit code, what came out of the pipe if stdout is `piped`, and what the terminal of 60 columns has shown."""
    near, far = pty.openpty()
    os.write(near, typed.encode())
    with subprocess.Popen(
        [COMMAND, *arguments],
        env={**_environment(home, environment), "COLUMNS": "60", "TERM": "xterm"},
        stdin=far,
        stdout=subprocess.PIPE if piped else far,
        stderr=far,
    ) as process:
        os.close(far)
        out = process.stdout.read().decode() if process.stdout else ""
        shown = b"".join(iter(lambda: _read(near), b"")).decode()
    os.close(near)
    return process.returncode, out, shown


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def eventually(true: Callable[[], bool]) -> bool:
    """Whether a call comes to answer yes."""
    deadline = time.monotonic() + PATIENCE_S
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _read(terminal: int) -> bytes:
    """What a terminal shows next; nothing when the last that wrote to it has gone."""
    try:
        return os.read(terminal, 65_536)
    except OSError:
        return b""


def _start(
    home: Path,
    arguments: Sequence[str],
    given: Mapping[str, str],
    under: Sequence[str] = (),
    stdin: int | None = None,
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*under, COMMAND, *arguments],
        env=_environment(home, given),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def _ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def _environment(home: Path, given: Mapping[str, str]) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("TRAITBENCH_")}
    return {**inherited, "TRAITBENCH_HOME": str(home), "TRAITBENCH_PORT": "0", **given}

"""Read each file in a process of its own, as an accident must not end the one that asks.

A `Reader` starts one process that has the libraries, and that one forks for each file. A child has bounded memory and
time, so that a file that would take the whole machine ends as a killed child. Peak memory is what the system counted
for the child and the processes that it started, whichever had the most.
"""

import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self, cast

from tests.foreign_files.cases import MOST_MIB, Case, Right, Verdict, judged

_AT_ALL = 6 * 2**30  # bytes of addresses, so that a broken reader does not take the machine
_ROOT = Path(__file__).parents[2]


class Reader:
    """Reads files one after the other; a context manager. `seconds` bound one reading."""

    def __init__(self, seconds: int = 60) -> None:
        self._seconds = seconds

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.foreign_files.reading"],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._folder = tempfile.TemporaryDirectory(prefix="foreign-")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()
        self._folder.cleanup()

    def read(self, case: Case) -> Verdict:
        """Write the file, have it read, and return how."""
        path = Path(self._folder.name) / "file"
        with path.open("wb") as file:
            case.write(file)
        try:
            return self.read_file(path, case.name, case.right, header=case.header)
        finally:
            path.unlink()

    def read_file(self, path: Path, name: str, right: Sequence[Right], *, header: bool = True) -> Verdict:
        """Have a file read that is there."""
        given, answers = self._process.stdin, self._process.stdout
        assert given is not None
        assert answers is not None
        pickle.dump((path, name, tuple(right), header, self._seconds), given)
        given.flush()
        return cast(Verdict, pickle.load(answers))


def _serve() -> None:
    """Fork for each request on the standard input."""
    import_module("traitbench.tables.source")  # once, not in each child
    given, answers = cast(BinaryIO, sys.stdin.buffer), cast(BinaryIO, sys.stdout.buffer)
    while True:
        try:
            path, name, right, header, seconds = pickle.load(given)
        except EOFError:
            return
        pickle.dump(_forked(path, name, right, header, seconds), answers)
        answers.flush()


def _forked(path: Path, name: str, right: Sequence[Right], header: bool, seconds: int) -> Verdict:
    here, there = os.pipe()
    began = time.perf_counter()
    if not (child := os.fork()):
        os.close(here)
        _read(there, path, name, right, header, seconds)
    os.close(there)
    with os.fdopen(here, "rb") as pipe:
        content = pipe.read()
    _, status, usage = os.wait4(child, 0)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    verdict = pickle.loads(content) if content else Verdict(faults=(_end(os.waitstatus_to_exitcode(status), seconds),))
    mib = usage.ru_maxrss / 1024
    faults = (*verdict.faults, *(["took too much memory"] if mib > MOST_MIB else []))
    return replace(verdict, faults=faults, seconds=time.perf_counter() - began, mib=mib)


def _read(there: int, path: Path, name: str, right: Sequence[Right], header: bool, seconds: int) -> None:
    """Read in the child, and end it."""
    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_AS, (_AT_ALL, _AT_ALL))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what a library writes when it aborts
    signal.alarm(seconds)
    from traitbench.tables.source import opened

    with path.open("rb") as file, os.fdopen(there, "wb") as pipe:
        pipe.write(pickle.dumps(judged(right, lambda: opened(name, file, header=header))))
    os._exit(0)


def _end(code: int, seconds: int) -> str:
    if code == -signal.SIGALRM:
        return f"did not end within {seconds} seconds"
    return f"ended with exit code {code}" if code >= 0 else f"was killed by {signal.Signals(-code).name}"


if __name__ == "__main__":
    _serve()

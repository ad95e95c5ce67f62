"""Reads a foreign file in a process of its own, with limits of memory, time and disk.

A file of 1,400 bytes can ask for more memory than a machine has, and native code that gets none ends its process.
`python -m traitbench.tables.process` reads its task from standard input and writes one line of JSON: what the file has,
or why it cannot be read. The rows go to an open file.
"""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import Condition
from typing import Any, Protocol

from traitbench.settings import child_environment
from traitbench.tables.reading import Survey, read
from traitbench.tables.rows import NotATable

MAX_MEMORY = 2**30
"""Bytes of memory that reading may take beyond those of the process itself."""

MOST_READERS = 2
"""How many files this process lets be read at once. What it answers meanwhile must not wait for them."""

_NICE = 5
_PR_SET_PDEATHSIG = 1
_MEGABYTE = 2**20
_SECONDS, _SECONDS_PER_MEGABYTE = 60.0, 2.0
_MAX_WRITTEN, _MAX_WRITTEN_PER_BYTE = 2**29, 4

# One thread, and an allocator that takes only what it needs: what others reserve would count as memory.
_ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system", "ARROW_IO_THREADS": "1", "OMP_NUM_THREADS": "1"}

_LISTS = ("columns", "notes", "sheets", "whole", "conversations")
_TOO_MUCH_MEMORY = (
    f"Reading the file takes more than {MAX_MEMORY // _MEGABYTE:,} MB of memory. "
    "Split it, or export it as CSV or JSONL."
)
_TOO_LARGE = "The file is far larger when it is unpacked. Split it, or export it as CSV or JSONL."
_NO_TABLE = "The file cannot be read: it is damaged, or not a table. Export it again, as CSV if possible."
_CHANGED = "The file changed while it was read. Wait until it is complete, then try again."


class ReaderQueue:
    """Lets `most` readers work at once, and the others wait in the order in which they came."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._line = list[object]()
        self._changed = Condition()

    def __len__(self) -> int:
        """How many work or wait."""
        return len(self._line)

    @contextmanager
    def turn(self, waits: Callable[[int], None]) -> Iterator[None]:
        """Wait for a turn and hold it; while waiting, `waits` gets how many are before this one, when that changes."""
        mine = object()
        with self._changed:
            self._line.append(mine)
        try:
            said = 0
            while before := self._before(mine, said):
                waits(before)
                said = before
            yield
        finally:
            with self._changed:
                self._line.remove(mine)
                self._changed.notify_all()

    def _before(self, mine: object, said: int) -> int:
        """How many have to end before this one begins, as soon as that is another number than `said`."""
        with self._changed:
            while (before := max(0, self._line.index(mine) + 1 - self._most)) == said and before:
                self._changed.wait()
            return before


_READERS = ReaderQueue(MOST_READERS)


class HasDescriptor(Protocol):
    """A file that another process can use."""

    def fileno(self) -> int:
        """Return the file descriptor."""


def wait_silently(_before: int) -> None:
    """Say nothing while others are before."""


def read_apart(
    name: str,
    file: HasDescriptor,
    rows: HasDescriptor,
    typed: HasDescriptor,
    *,
    header: bool | None,
    sheet: str | None,
    waits: Callable[[int], None] = wait_silently,
) -> Survey:
    """Do what `reading.read` does, in a process of its own; at most `MOST_READERS` at once.

    While it waits for others, `waits` gets how many are before it.

    Raise `NotATable` if the file is not a table, takes too much to read, or changes meanwhile.
    """
    before = os.fstat(file.fileno())
    task = {
        "name": name,
        "file": file.fileno(),
        "rows": rows.fileno(),
        "typed": typed.fileno(),
        "header": header,
        "sheet": sheet,
        "size": before.st_size,
        "parent": os.getpid(),
    }
    seconds = _SECONDS + _SECONDS_PER_MEGABYTE * before.st_size / _MEGABYTE
    try:
        with _READERS.turn(waits):
            done = subprocess.run(
                # With -P, a folder `traitbench` in the working directory is not taken for this package.
                [sys.executable, "-P", "-m", __name__],
                input=json.dumps(task).encode(),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=child_environment() | _ENVIRONMENT,
                pass_fds=[each.fileno() for each in (file, rows, typed)],
                timeout=seconds,
            )
    except subprocess.TimeoutExpired:
        raise NotATable(_takes_too_long(seconds)) from None
    except OSError as error:
        raise NotATable(f"The process that reads files could not be started ({error.strerror}). Try again.") from error
    after = os.fstat(file.fileno())
    # The file is read several times, and the passes must see the same bytes.
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise NotATable(_CHANGED)
    return _answer(done.returncode, done.stdout, seconds)


def _answer(code: int, line: bytes, seconds: float) -> Survey:
    if code == -signal.SIGXCPU:
        raise NotATable(_takes_too_long(seconds))
    if code in (-signal.SIGABRT, -signal.SIGKILL):  # how native code ends when it runs out of memory
        raise NotATable(_TOO_MUCH_MEMORY)
    try:
        answer = json.loads(line)
    except ValueError:
        raise NotATable(_NO_TABLE) from None
    if "unreadable" in answer:
        raise NotATable(answer["unreadable"])
    return survey_of(answer)


def survey_of(answer: dict[str, Any]) -> Survey:
    """Return the survey that `asdict` wrote."""
    lists = {name: tuple(answer[name]) for name in _LISTS if name in answer}
    return Survey(**{**answer, **lists, "types": {name: tuple(each) for name, each in answer["types"].items()}})


def _takes_too_long(seconds: float) -> str:
    return f"Reading the file takes longer than {seconds:,.0f} s. Split it, or export it as CSV or JSONL."


def main() -> None:
    """Read the file that standard input describes."""
    task = json.load(sys.stdin.buffer)
    _end_with(task["parent"])
    os.nice(_NICE)
    _limit(task["size"])
    try:
        with (
            open(task["file"], "rb", closefd=False) as file,
            open(task["rows"], "wb", closefd=False) as rows,
            open(task["typed"], "wb", closefd=False) as typed,
        ):
            survey = read(
                task["name"],
                file,
                rows,
                typed,
                header=task["header"],
                sheet=task["sheet"],
            )
        answer: dict[str, Any] = asdict(survey)
    except NotATable as error:
        answer = {"unreadable": str(error)}
    except MemoryError:
        answer = {"unreadable": _TOO_MUCH_MEMORY}
    except OSError as error:
        answer = {"unreadable": _TOO_LARGE if error.errno else _NO_TABLE}
    except BaseException:  # what native code panics with is no Exception
        answer = {"unreadable": _NO_TABLE}
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()
    os._exit(0)  # without taking millions of values apart


def _end_with(parent: int) -> None:
    """End this process as soon as the one that reads for somebody ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have ended before the kernel was asked.
    if os.getppid() != parent:
        os._exit(0)


def _limit(size: int) -> None:
    """Limit the memory, the processor time and the written bytes of this process; `size` is that of the file."""
    seconds = int(_SECONDS + _SECONDS_PER_MEGABYTE * size / _MEGABYTE) + 1
    _lower(resource.RLIMIT_CPU, seconds)
    # Native code that gets no memory aborts, and a core dump would have the texts in it.
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, _MAX_WRITTEN + _MAX_WRITTEN_PER_BYTE * size)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # writing fails with an error instead
    status = Path("/proc/self/status")
    # Only Linux has this file; elsewhere the limits of time and disk remain.
    if status.exists():
        [has] = [int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith("VmData:")]
        _lower(resource.RLIMIT_DATA, has + MAX_MEMORY)


def _lower(limit: int, value: int) -> None:
    """Set the soft limit, unless it is lower already."""
    soft, hard = resource.getrlimit(limit)
    bounds = [each for each in (soft, hard) if each != resource.RLIM_INFINITY]
    resource.setrlimit(limit, (min([value, *bounds]), hard))


if __name__ == "__main__":
    main()

"""Every address that a process and its children reach for, and every file they make, as strace sees the system calls.

One tracer follows any number of commands. It writes a file for each thread, so that every call is on one line. What
strace cannot do is an error, never an empty result: `calls` requires that every traced command left its own record.
"""

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from tests.patience import PATIENCE_S

_NETWORK = ("connect", "sendto", "sendmsg", "sendmmsg", "bind")
_MAKING = ("open", "openat", "openat2", "creat", "mkdir", "mkdirat", "mknod", "mknodat")
_NAMING = ("rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat")
# What goes through io_uring passes all of the above by, so the kernel seems not to have it; uvloop then does without.
_BLIND = ("io_uring_setup",)

_WAY_OUT = "It needs the permission to trace (ptrace): give a container SYS_PTRACE, then run the test again."

_CALL = re.compile(r"(\w+)\((.*)\) += (-?\d+|\?)")
_INTERNET = re.compile(r'sin6?_port=htons\((\d+)\).*?"([0-9A-Fa-f:.]+)"')
_FAMILY = re.compile(r"sa_family=(\w+)")
_UNIX = re.compile(r'sun_path=@?"([^"]*)"')
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_WRITING = re.compile(r"O_(?:WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)")


@dataclass(frozen=True)
class Call:
    """One system call: its name, its arguments as strace writes them, and what it returned."""

    name: str
    arguments: str
    succeeded: bool


class Tracer:
    """strace, writing into a folder."""

    def __init__(self, folder: Path) -> None:
        path = shutil.which("strace")
        assert path, "strace is missing: run `make test`, which installs it, or `sudo apt-get install strace`."
        self._strace = path
        self._folder = folder
        self._commands = 0
        probe = subprocess.run([*self.under(), sys.executable, "-c", "pass"], capture_output=True, text=True)
        assert probe.returncode == 0, f"strace cannot trace, so nothing is proved: {probe.stderr.strip()}. {_WAY_OUT}"

    def under(self) -> list[str]:
        """What to put before a command; the command stays the direct child of its caller."""
        self._commands += 1
        names = ",".join((*_NETWORK, *_MAKING, *_NAMING, *_BLIND))
        # A question mark: not every processor has every call.
        traced = ",".join(f"?{name}" for name in names.split(","))
        denied = f"inject={','.join(_BLIND)}:error=ENOSYS"
        output = self._folder / f"{self._commands}"
        options = ["-D", "-ff", "--seccomp-bpf", "-s", "512", "-e", f"trace={traced}", "-e", "signal=none"]
        return [self._strace, *options, "-e", denied, "-e", "quiet=attach,personality", "-o", str(output)]

    def calls(self) -> list[Call]:
        """Every call of every command, once all have ended; fail when a command left no whole record."""
        deadline = time.monotonic() + PATIENCE_S
        while unfinished := self._unfinished():
            assert time.monotonic() < deadline, (
                f"strace left no whole record of {unfinished}, so nothing is proved. {_WAY_OUT}"
            )
            time.sleep(0.1)
        return [call for path in sorted(self._folder.iterdir()) for call in _read(path)]

    def _unfinished(self) -> list[str]:
        missing = [
            f"command {number}" for number in range(1, self._commands + 1) if not any(self._folder.glob(f"{number}.*"))
        ]
        return missing + [path.name for path in self._folder.iterdir() if not _ended(path)]


def reached(calls: Sequence[Call]) -> Iterator[str]:
    """What is contacted beyond this machine, or asked for a name, as one sentence a call."""
    for call in calls:
        if call.name in _BLIND and call.succeeded:
            yield f"{call.name}: strace cannot see what goes through it"
        if call.name in _NETWORK and (family := _FAMILY.search(call.arguments)) and not _stays(family[1], call):
            yield f"{call.name}({call.arguments})"


def made(calls: Sequence[Call]) -> set[str]:
    """The paths of all files that were opened for writing, made, renamed or linked."""
    paths: set[str] = set()
    for call in calls:
        if not call.succeeded or call.name not in (*_MAKING, *_NAMING):
            continue
        if call.name.startswith("open") and not _WRITING.search(call.arguments):
            continue
        paths.update(_STRING.findall(call.arguments))
    return paths


def _stays(family: str, call: Call) -> bool:
    """Whether a call with an address stays on this machine and asks no name service."""
    if family in ("AF_INET", "AF_INET6"):
        match = _INTERNET.search(call.arguments)
        return match is not None and ip_address(match[2]).is_loopback and match[1] != "53"
    if family == "AF_UNIX":
        # Name services answer on sockets too, and not only on port 53.
        path = _UNIX.search(call.arguments)
        return path is None or not re.search(r"nscd|resolve|avahi|dbus", path[1])
    return family in ("AF_UNSPEC", "AF_NETLINK")  # a socket let go of; a question to the kernel itself


def _read(path: Path) -> Iterator[Call]:
    for line in path.read_text("utf-8", "replace").splitlines():
        if result := _CALL.match(line):
            yield Call(result[1], result[2], not result[3].startswith("-"))


def _ended(path: Path) -> bool:
    lines = path.read_text("utf-8", "replace").rstrip().splitlines()
    return bool(lines) and lines[-1].startswith("+++ ")

"""How long every test took, and every file with its fixtures: a run of `make test` writes it to `.venv/durations.txt`.

The wall's seconds say how long it took beside everything else; those of processors, of the process that ran a test and
of those that it started, what it costs. A server of PostgreSQL is no child of a test, and is not counted.
"""

import os
import time
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

SHOWN = 30
_LOOKED_EVERY_S = 0.5
_TICKS = os.sysconf("SC_CLK_TCK")


class Durations:
    """A plugin: measures each phase of a test in its process, and adds up what is reported."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._measured = self._beneath = self._ended = self._looked = 0.0
        self._spent: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add the seconds of processors to a report."""
        report = yield
        now = self._processor_seconds()
        # Some programs forget what their children computed.
        report.__dict__["processor_s"], self._measured = max(0.0, now - self._measured), now
        return report

    def _processor_seconds(self) -> float:
        """What this process, those that it started and theirs have computed so far."""
        times, now = os.times(), time.monotonic()
        ended = times.children_user + times.children_system
        # Looking for processes takes as long as a short test does.
        if ended != self._ended or now - self._looked > _LOOKED_EVERY_S:
            self._beneath = sum(map(_with_children, _children("self")))
            self._ended, self._looked = ended, now
        return times.user + times.system + ended + self._beneath

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a report to its test and to its file."""
        for name in (report.nodeid, report.nodeid.partition("::")[0]):
            self._spent[name][0] += report.duration
            self._spent[name][1] += getattr(report, "processor_s", 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write everything, and show what costs most."""
        lines = [
            f"{wall:9.2f} {processor:9.2f}  {name}"
            for name, (wall, processor) in sorted(self._spent.items(), key=lambda item: -item[1][1])
        ]
        self._file.write_text("\n".join(["     wall processor", *lines, ""]))
        for title, is_test in (("files", False), ("tests", True)):
            terminalreporter.section(f"{SHOWN} {title} that cost most: seconds, seconds of processors")
            for line in [line for line in lines if ("::" in line) is is_test][:SHOWN]:
                terminalreporter.write_line(line)


def _with_children(process: str) -> float:
    try:
        times = Path("/proc", process, "stat").read_bytes().rpartition(b")")[2].split()[11:15]
    except OSError:
        return 0.0
    return sum(map(int, times)) / _TICKS + sum(map(_with_children, _children(process)))


def _children(process: str) -> list[str]:
    """Those that its threads have started, and none on systems that do not say."""
    found: list[str] = []
    try:
        for thread in os.listdir(f"/proc/{process}/task"):
            found += Path(f"/proc/{process}/task/{thread}/children").read_text().split()
    except OSError:  # a process or thread that has ended meanwhile
        return found
    return found

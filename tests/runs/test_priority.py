"""A worker leaves the processors to pages and scores, on a kernel that groups processes by session too."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.processes import eventually
from tests.conftest import Service
from tests.contexts import ON_SQLITE
from traitbench.settings import Settings

pytestmark = ON_SQLITE

_NICE = Settings.worker_nice
_LOW = (_NICE, str(_NICE) if Path("/proc/self/autogroup").exists() else None)
_LOWERED = f"from traitbench.runs.schedules import give_way; give_way({_NICE}); print('done', flush=True); input()"


def priority(pid: int) -> tuple[int, str | None]:
    """The nice values of a process and of its session; None if sessions have none."""
    autogroup = Path(f"/proc/{pid}/autogroup")
    session = re.search(r"nice (-?\d+)", autogroup.read_text()) if autogroup.exists() else None
    return os.getpriority(os.PRIO_PROCESS, pid), session and session[1]


def test_the_worker_of_a_service_has_a_low_priority_and_so_has_its_session(service: Service) -> None:
    assert service.base_url
    [worker] = [pid for pid in children() if b"traitbench.operations.worker" in command(pid)]
    assert eventually(lambda: priority(worker) == _LOW)


@pytest.mark.skipif(sys.platform != "linux", reason="sessions have a priority on Linux only")
def test_many_that_start_at_once_are_all_lowered() -> None:
    """The kernel refuses a change that follows another one within 0.1 s."""
    processes = [
        subprocess.Popen([sys.executable, "-c", _LOWERED], stdin=-1, stdout=-1, start_new_session=True)
        for _ in range(3)
    ]
    try:
        for each in processes:
            assert each.stdout is not None
            assert each.stdout.readline() == b"done\n"
            assert priority(each.pid) == _LOW
    finally:
        for each in processes:
            each.communicate(b"\n")


def children() -> list[int]:
    tasks = Path("/proc/self/task").glob("*/children")
    return [int(pid) for task in tasks for pid in task.read_text().split()]


def command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()

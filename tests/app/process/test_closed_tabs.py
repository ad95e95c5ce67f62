"""What tabs uploaded takes no memory soon after they were closed."""

import os
import time
from pathlib import Path

import pytest

from tests.app.processes import serving
from tests.app.streamlit_socket import Tab
from tests.conftest import make_draft, train
from tests.foreign_files.sheets import repeating

# It waits for most of a minute; `tests/app/shell/test_leaving.py` states in a moment that a session ends.
pytestmark = pytest.mark.soak

MODEL, PAGE, TABS = "local.tone", "batch", 20
WITHIN_S, MOST_MORE = 60, 50 * 2**20


def test_twenty_tabs_leave_less_than_fifty_megabytes(tmp_path: Path) -> None:
    content, query = repeating(40_000, "Good evening to you all. " * 90), f"model={MODEL}"
    with serving(tmp_path / "home") as started:
        with started.client() as client:
            make_draft(client, MODEL)
            train(client, MODEL)
        with Tab(started.port) as tab:
            tab.messages(PAGE, query)
        before = _memory(started.process.pid)
        tabs = [Tab(started.port) for _ in range(TABS)]
        for number, tab in enumerate(tabs):
            tab.upload(PAGE, query, f"{number}.xlsx", content)
        for tab in tabs:
            tab.__exit__(None, None, None)
        closed = time.monotonic()
        while (more := _memory(started.process.pid) - before) > MOST_MORE:
            assert time.monotonic() - closed < WITHIN_S, f"{more / 2**20:.0f} MB more"
            time.sleep(1)


def _memory(pid: int) -> int:
    """The bytes of memory of a process and of its files that are only in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    resident = next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS:"))
    files = [each for each in Path(f"/proc/{pid}/fd").iterdir() if os.readlink(each).startswith("/memfd:")]
    return resident + sum(each.stat().st_size for each in files)

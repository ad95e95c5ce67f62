"""How long a score takes while several people upload workbooks that unpack to far more than they have on disk.

    python -m tests.benchmarks.uploads [--quick] [--out FILE]

The real command with a trained model of one trait, and one kept-alive connection that scores texts of twenty words.
Beside it, eight tabs upload a workbook of 90,000 rows to *Batch*, each over and over: kilobytes that unpack to 90 MB.
"""

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tests.app.processes import serving
from tests.app.streamlit_socket import Tab
from tests.benchmarks.anonymous import MODEL, score_times
from tests.benchmarks.page import Measured, Table, run
from tests.conftest import make_draft, train
from tests.foreign_files.sheets import repeating

TABS, ROWS = 8, 90_000
TEXT = "Good evening to you all. " * 40


def measure(*, calls: int) -> Measured:
    """So many scores idle, and as many beside the uploads."""
    with tempfile.TemporaryDirectory() as home, serving(Path(home) / "home") as started:
        with started.client() as client:
            make_draft(client, MODEL)
            train(client, MODEL)
        idle = score_times(started, calls)
        with _uploading(started.port):
            beside = score_times(started, calls)
    rows = [
        (name, *(f"{np.percentile(times, share):.1f}" for share in (50, 95)))
        for name, times in (("idle", idle), (f"beside {TABS} uploads", beside))
    ]
    title = f"One score beside uploads, {calls} calls, milliseconds"
    return Measured([Table(title, ("", "p50", "p95"), rows)], {"times": float(np.median(beside) / np.median(idle))})


@contextmanager
def _uploading(port: int) -> Iterator[None]:
    """Tabs that upload workbooks, each the next one as soon as the last one is read, until the block ends."""
    content, reading, done = repeating(ROWS, TEXT), threading.Barrier(TABS + 1), threading.Event()

    def upload(number: int) -> None:
        for count in range(1_000):
            with Tab(port) as tab:
                if not count:
                    reading.wait()
                tab.upload("batch", f"model={MODEL}", f"{number}-{count}.xlsx", content)
            if done.is_set():
                return

    threads = [threading.Thread(target=upload, args=(number,)) for number in range(TABS)]
    for each in threads:
        each.start()
    reading.wait()
    try:
        yield
    finally:
        done.set()
        for each in threads:
            each.join()


if __name__ == "__main__":
    run("uploads", measure, quick={"calls": 200}, whole={"calls": 1_000})

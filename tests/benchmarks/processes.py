"""What more processes bring on one machine: scores and trainings through nginx, on a private PostgreSQL.

`python -m tests.benchmarks.processes [--seconds 10] [--models 12]` prints a row for one API process with its worker,
and one for two with theirs.
"""

import argparse
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests import postgres
from tests.app.cluster import Cluster, cluster
from tests.conftest import make_draft
from tests.contexts import fresh_settings, on

CLIENTS = 8
HEAD = "| API processes and workers | scores/s | p50 ms | p99 ms | trainings/min |\n|---|---|---|---|---|\n"
TEXT = "Thank you so much, dear friend, for your long letter and for all that you did."


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--models", type=int, default=12)
    arguments = parser.parse_args()
    postgres.begin_session()
    try:
        with on("postgresql"), tempfile.TemporaryDirectory(prefix="traitbench-") as folder:
            sys.stdout.write(
                "| API processes and workers | scores/s | p50 ms | p99 ms | trainings/min |\n|---|---|---|---|---|\n"
            )
            for services in (1, 2, 1, 2):
                place = Path(folder) / str(time.monotonic_ns())
                place.mkdir()
                with (
                    fresh_settings(place / "settings", encoder=None) as settings,
                    cluster(place, settings, services=services, workers=0, workbench=False) as running,
                ):
                    trained = _trainings(running, arguments.models)
                    rate, p50, p99 = _scores(running, arguments.seconds)
                    sys.stdout.write(f"| {services} | {rate:.0f} | {p50:.1f} | {p99:.1f} | {trained:.1f} |\n")
                    sys.stdout.flush()
    finally:
        postgres.end_session()


def _trainings(running: Cluster, models: int) -> float:
    """Trainings in a minute, all begun at once."""
    with running.client() as client:
        handles = [f"local.model-{number}" for number in range(models)]
        for handle in handles:
            make_draft(client, handle)
        started = time.monotonic()
        for handle in handles:
            client.models.train(handle, effort="medium")
        for handle in handles:
            assert client.models.wait(handle, timeout=600).state == "ready"
        return 60 * models / (time.monotonic() - started)


def _scores(running: Cluster, seconds: float) -> tuple[float, float, float]:
    """Scores in a second by all clients, and what a call takes."""
    took: list[float] = []
    end = time.monotonic() + seconds

    def ask(client_number: int) -> None:
        with running.client() as client:
            number = 0
            while (started := time.monotonic()) < end:
                client.scores.score("local.model-0", f"{TEXT} {client_number} {number}")
                took.append(time.monotonic() - started)
                number += 1

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took.sort()
    return len(took) / seconds, 1000 * took[len(took) // 2], 1000 * took[len(took) * 99 // 100]


if __name__ == "__main__":
    main()

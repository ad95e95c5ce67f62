"""`make soak`: many kills, then a mixed load with a training always running. It stops by itself and prints a table.

`python -m tests.faults.soak --kills 500 --minutes 10 [--out report.md]` exits with 1 if a promise was broken, if the
p99 of scores in the last third of the load is more than 1.5 times that of the first third, or if the memory of service
or worker grows by more than 64 MB from the second third to the last.
"""

import argparse
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import COLD, WARM
from tests.contexts import fresh_settings, opened
from tests.faults.clients import Client, Log, at_work
from tests.faults.history import judge
from tests.faults.killing import killed_at_work
from tests.faults.victim import Victim
from traitbench.operations import keys

KILLS_AT_ONCE = 50
SECONDS_A_KILL = 20.0
P99_RATIO = 1.5
GROWTH_BYTES = 64 * 2**20
MIB = 2**20


@dataclass
class Report:
    """The rows of the table, and the promises that were broken."""

    rows: list[tuple[str, str]]
    broken: list[str]

    def say(self, what: str, value: str) -> None:
        """Add a row and print it at once."""
        self.rows.append((what, value))
        sys.stdout.write(f"{what}: {value}\n")
        sys.stdout.flush()

    def check(self, good: bool, what: str) -> None:
        """Record a broken promise."""
        if not good:
            self.broken.append(what)
            self.say("BROKEN", what)


def kills(count: int, report: Report) -> None:
    """Run this many kills in batches, each with its own service and histories, until the time is up."""
    end, done, calls, unknown, service = time.monotonic() + count * SECONDS_A_KILL, 0, 0, 0, 0
    while done < count and time.monotonic() < end:
        with (
            tempfile.TemporaryDirectory(prefix="traitbench-soak-") as folder,
            fresh_settings(Path(folder), encoder=None) as settings,
        ):
            log, victim = killed_at_work(settings, min(KILLS_AT_ONCE, count - done), seed=1_000 + done)
        done += sum(victim.kills.values())
        service += victim.kills["service"]
        calls += len(log.events)
        unknown += sum(event.how == "unknown" for event in log.events)
        for violation in judge(log.events):
            report.check(False, f"{violation.kind}: {violation.handle} {violation.what}")
        for fault in log.faults:
            report.check(False, f"500: {fault}")
    report.say("Kills", f"{done} of {count} ({service} of the service, {done - service} of the worker)")
    report.say("Calls in the kill loop", f"{calls} ({unknown} without an answer)")
    report.check(done >= count, f"only {done} of {count} kills in the time allowed")


def load(minutes: float, report: Report) -> None:
    """Run a mixed load, with a training always running."""
    stop, log = threading.Event(), Log()
    memory: dict[str, list[tuple[float, int]]] = {"service": [], "worker": []}
    with (
        tempfile.TemporaryDirectory(prefix="traitbench-soak-") as folder,
        fresh_settings(Path(folder), encoder=None) as settings,
    ):
        with opened(settings, runs=False) as context:
            secret = keys.create(context.engine, scope="authoring", namespaces=["local"]).secret
        victim = Victim(settings)
        people = [Client(victim.base_url, secret, log, seed=number, stop=stop) for number in range(5)]
        last = Client(victim.base_url, secret, log, seed=99, stop=threading.Event())
        try:
            victim.start()
            began = time.monotonic()
            with at_work(people, stop, do=_JOBS):
                while time.monotonic() < began + minutes * 60:
                    time.sleep(1.0)
                    now = time.monotonic()
                    memory["service"].append((now, _resident(victim.pid)))
                    memory["worker"] += [(now, _resident(pid)) for pid in victim.workers()[:1]]
            ended = time.monotonic()
            for handle in sorted({event.handle for event in log.events if event.op == "create"})[:50]:
                last.look_at_all(handle)
        finally:
            last.close()
            victim.stop()
    for violation in judge(log.events):
        report.check(False, f"{violation.kind}: {violation.handle} {violation.what}")
    for fault in log.faults:
        report.check(False, f"500: {fault}")
    unanswered = sum(event.how == "unknown" for event in log.events)
    report.say("Minutes of load", f"{(ended - began) / 60:.1f}")
    report.say("Calls under load", f"{len(log.events)} ({unanswered} without an answer)")
    report.check(not unanswered, f"{unanswered} calls had no answer though nobody was killed")
    for op in sorted(log.seconds):
        took = sorted(seconds * 1000 for _, seconds in log.seconds[op])
        report.say(f"{op}", f"n {len(took)}, p50 {_at(took, 0.5):.0f} ms, p99 {_at(took, 0.99):.0f} ms")
    _flat_latency(log, began, ended, report)
    for name, seen in memory.items():
        _flat_memory(name, seen, report)


def _flat_latency(log: Log, began: float, ended: float, report: Report) -> None:
    third = (ended - began) / 3
    parts = [
        sorted(s * 1000 for at, s in log.seconds.get("score", ()) if began + n * third <= at < began + (n + 1) * third)
        for n in range(3)
    ]
    if not all(len(part) >= 50 for part in parts):
        report.check(False, "too few scores to judge their p99")
        return
    first, middle, end = (_at(part, 0.99) for part in parts)
    report.say("p99 of scores by thirds", f"{first:.0f}, {middle:.0f}, {end:.0f} ms")
    report.check(end <= P99_RATIO * first, f"p99 of scores rose from {first:.0f} to {end:.0f} ms")


def _flat_memory(name: str, seen: Sequence[tuple[float, int]], report: Report) -> None:
    if len(seen) < 9:
        report.check(False, f"too few looks at the memory of the {name}")
        return
    third = len(seen) // 3
    middle, end = (statistics.median(each for _, each in part) for part in (seen[third : 2 * third], seen[2 * third :]))
    slope = statistics.linear_regression(*zip(*seen[third:], strict=True)).slope * 60 / MIB
    report.say(f"Memory of the {name}", f"{end / MIB:.0f} MiB, slope {slope:+.1f} MiB a minute")
    report.check(end - middle <= GROWTH_BYTES, f"memory of the {name} grew by {(end - middle) / MIB:.0f} MiB")


def _at(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
    except (OSError, IndexError):
        return 0


# ---- what the clients do ---------------------------------------------------------------------------------------------


def _trains(client: Client) -> None:
    """One training after another, so that one is always running; a new model before versions are pruned."""
    while True:
        handle = client.teach()
        client.add(handle, [(f"{text} {client.text()}", quality) for text, quality in _SAMPLES])
        client.train(handle)
        for _ in range(50):
            client.check_stop()
            client.train(handle, again=True)


def _scores(client: Client) -> None:
    handle = client.teach()
    client.train(handle)
    while True:
        client.check_stop()
        client.score(handle)
        time.sleep(0.02)


def _brings_in(client: Client) -> None:
    """Exports, imports and deletes models."""
    handle = client.teach()
    client.train(handle)
    number = 0
    while True:
        client.check_stop()
        number += 1
        bundle = client.export(handle)
        copy = f"{handle}-copy-{number}"
        client.call("import", copy, "POST", f"/import?handle={copy}", bundle)
        client.score(copy)
        client.call("delete", copy, "DELETE", f"/{copy}")
        time.sleep(0.5)


def _lives(client: Client) -> None:
    client.live()


_SAMPLES = [(text, 1.0) for text in WARM] + [(text, 0.0) for text in COLD]
_JOBS: Sequence[Callable[[Client], None]] = (_trains, _scores, _scores, _lives, _brings_in)


def main() -> int:
    """Kill, load, report; return 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description="Kills and load, bounded in time.")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    report = Report([], [])
    if asked.kills:
        kills(asked.kills, report)
    if asked.minutes:
        load(asked.minutes, report)
    report.say("Broken promises", str(len(report.broken)))
    if asked.out:
        lines = ["| | |", "|---|---|", *(f"| {what} | {value} |" for what, value in report.rows)]
        asked.out.write_text("\n".join(lines) + "\n", "utf-8")
    return 1 if report.broken else 0


if __name__ == "__main__":
    sys.exit(main())

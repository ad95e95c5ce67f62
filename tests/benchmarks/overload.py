"""What a plain score meets while the service gets far more than it can do, and how much memory that takes.

    python -m tests.benchmarks.overload [--quick] [--out FILE] [--only LOAD ...]

A real `traitbench serve`, a process that asks for one short score after another on a kept-alive connection, and a load
beside it. The table has the latency of those scores, how many failed, how the requests of the load were answered, and
the memory of the service before the load and at its peak (`VmHWM`, of the serving process alone), and the most that
it had together with the processes that it started (their resident memory, looked at twenty times a second).
"""

import argparse
import hashlib
import http.client
import json
import multiprocessing
import resource
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np

from tests.app.processes import Started, running
from tests.benchmarks.page import Measured, Table, parser, publish
from tests.benchmarks.score_latency import SENTENCE
from tests.contexts import COLD, WARM
from traitbench.contract.bundles import FORMAT, Bundle, digest
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput

HANDLE = "local.overload"
TRAITS = ("Warmth", "Clarity", "Courage")
WORDS = SENTENCE.split()
PLAIN = b'{"content": "How kind of you to write."}'
MEBIBYTE = 2**20
PATIENCE = 120.0  # seconds

Answers = Counter[str]
Load = Callable[["Place"], Answers]


@dataclass(frozen=True)
class Place:
    """A running service and a key to it."""

    started: Started
    key: str
    quick: bool

    def some(self, count: int) -> int:
        """As many, or a quarter of them for a first idea."""
        return max(2, count // 4) if self.quick else count

    def at_once(self, count: int, path: str, body: Callable[[int], bytes]) -> Answers:
        """How so many requests, sent at once, are answered."""
        bodies = [body(number) for number in range(count)]
        with ThreadPoolExecutor(count) as threads:
            return Counter(threads.map(lambda each: self.answer(path, each), bodies))

    def answer(self, path: str, body: bytes) -> str:
        """The status of one request, or how it broke off."""
        connection = http.client.HTTPConnection("127.0.0.1", self.started.port, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        try:
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.request("POST", f"/v1/models{path}", body, headers)
            answer = connection.getresponse()
            while answer.read(MEBIBYTE):
                pass
            return str(answer.status)
        except (OSError, http.client.HTTPException) as error:
            return type(error).__name__
        finally:
            connection.close()

    def memory(self, name: str) -> float:
        """A figure of the serving process in MiB."""
        lines = Path(f"/proc/{self.started.process.pid}/status").read_text().splitlines()
        return float(next(line for line in lines if line.startswith(name)).split()[1]) / 1024

    @contextmanager
    def most_of_all(self) -> Iterator[list[float]]:
        """MiB of the service and what it has started, while the block runs."""
        seen, over = [0.0], Event()

        def look() -> None:
            while not over.wait(0.05):
                pids = [self.started.process.pid, *self.started.children()]
                seen.append(sum(_resident(pid) for pid in pids))

        looking = Thread(target=look)
        looking.start()
        try:
            yield seen
        finally:
            over.set()
            looking.join()

    def forget_peak(self) -> None:
        """Let the peak of its memory begin again from what it has now."""
        Path(f"/proc/{self.started.process.pid}/clear_refs").write_text("5")


def _resident(pid: int) -> float:
    """MiB; nothing of a process that has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize() / MEBIBYTE
    except OSError:
        return 0.0


# ---- loads -----------------------------------------------------------------------------------------------------------


def text_of(characters: int, number: int) -> str:
    """A text of so many characters, unlike the others."""
    words = np.random.default_rng(number).choice(WORDS, characters // 5 + 20).astype(object)
    words[12::13] = "and so on.\nThe"
    return (f"Letter {number}: " + " ".join(words))[:characters]


def scores_of(count: int, characters: int, **fields: Any) -> Load:
    """So many scores at once, of texts of such a length."""

    def load(place: Place) -> Answers:
        def body(number: int) -> bytes:
            return json.dumps({"content": text_of(characters, number), **fields}).encode()

        return place.at_once(place.some(count), f"/{HANDLE}/score", body)

    return load


def compares(place: Place) -> Answers:
    """64 comparisons of texts of 2,000 words."""

    def body(number: int) -> bytes:
        return json.dumps({"a": text_of(12_000, number), "b": text_of(12_000, number + 1_000)}).encode()

    return place.at_once(place.some(64), f"/{HANDLE}/compare", body)


def batches(place: Place) -> Answers:
    """50 batches of 1,000 texts."""

    def body(number: int) -> bytes:
        return json.dumps({"contents": [text_of(120, 10_000 * number + line) for line in range(1_000)]}).encode()

    return place.at_once(place.some(50), f"/{HANDLE}/score/batch", body)


def posts(place: Place) -> Answers:
    """Samples, 10 MiB in a request."""
    place.started.client().models.create("local.posts")
    place.started.client().traits.add("local.posts", [TraitInput(name="Warmth")])

    def body(number: int) -> bytes:
        sample = {"trait": "warmth", "text": text_of(49_000, number), "quality": 1.0}
        return json.dumps({"samples": [sample] * 200}).encode()

    return place.at_once(place.some(24), "/local.posts/samples", body)


def imports(place: Place) -> Answers:
    """Bundles of 240 MB, full of samples; their sum is wrong, which shows when all of them was read."""
    sample = {"trait": "warmth", "text": text_of(1_200, 1), "quality": 1.0, "provenance": "authored"}
    many = 10_000 if place.quick else 180_000
    bundle = {"format": FORMAT, "sha256": "0" * 64, "handle": "local.huge", "model": {}, "traits": [], "versions": []}
    content = json.dumps(bundle | {"samples": [sample] * many}).encode()
    return place.at_once(3, "/import", lambda _: content)


def tiny_values(place: Place) -> Answers:
    """A bundle of 250 MB that is 83 million empty objects."""
    content = b'{"format":"%s","samples":[' % FORMAT.encode() + b"{}," * (83_000_000 // (8 if place.quick else 1))
    return place.at_once(1, "/import", lambda _: content + b"{}]}")


def there_and_back(place: Place) -> Answers:
    """A model of 180,000 samples, 240 MB, comes in and is exported twice at once."""
    many = 10_000 if place.quick else 180_000
    with place.started.client() as client:
        base = json.loads(client.models.export(HANDLE).model_dump_json())
        base["samples"] = [_sample(text_of(1_200, 1) + f" {number}") for number in range(many)]
        del base["versions"][:]
        result = Bundle.model_validate(base)
        content = result.model_copy(update={"sha256": digest(result)}).model_dump_json().encode()
        answers = place.at_once(1, f"/import?handle=local.large{many}", lambda _: content)

    def exported(_: int) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", place.started.port, timeout=PATIENCE)
        connection.request(
            "GET", f"/v1/models/local.large{many}/export", headers={"Authorization": f"Bearer {place.key}"}
        )
        answer, size = connection.getresponse(), 0
        while part := answer.read(MEBIBYTE):
            size += len(part)
        connection.close()
        return f"{answer.status} ({size // 10**6} MB)"

    with ThreadPoolExecutor() as threads:
        return answers + Counter(threads.map(exported, range(2)))


def _sample(text: str) -> dict[str, Any]:
    fields = {"trait": "warmth", "text": text, "quality": 1.0, "provenance": "authored", "pending": False}
    return fields | {"content_sha256": hashlib.sha256(text.encode()).hexdigest()}


def half_open(place: Place) -> Answers:
    """1,100 connections that begin a request and never end it."""
    answers, held = Answers(), list[socket.socket]()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # of this process; the service has begun with the other
    try:
        for _ in range(1_100):
            connection = socket.socket()
            connection.settimeout(5)
            try:
                connection.connect(("127.0.0.1", place.started.port))
                connection.sendall(b"POST /v1/models HTTP/1.1\r\nHost: x\r\n")
                held.append(connection)
                answers["open"] += 1
            except OSError as error:
                answers[type(error).__name__] += 1
        time.sleep(2)
        answers[f"then a score {place.answer(f'/{HANDLE}/score', PLAIN)}"] += 1
    finally:
        for connection in held:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return answers


def long_urls(place: Place) -> Answers:
    """Addresses of 64 MB."""

    def one(_: int) -> str:
        with socket.create_connection(("127.0.0.1", place.started.port), timeout=60) as connection:
            with suppress(OSError):
                connection.sendall(b"GET /v1/" + b"a" * 64 * MEBIBYTE + b" HTTP/1.1\r\nHost: x\r\n\r\n")
            try:
                return connection.recv(100).split(b" ")[1].decode()
            except (OSError, IndexError) as error:
                return type(error).__name__

    with ThreadPoolExecutor() as threads:
        return Counter(threads.map(one, range(2)))


LOADS: Mapping[str, Load] = {
    "nothing": lambda place: time.sleep(2) or Answers(),  # type: ignore[func-returns-value]
    "4 texts of 8 MB": scores_of(4, 8_000_000),
    "16 texts of 8 MB": scores_of(16, 8_000_000),
    "48 texts of 300 kB": scores_of(48, 300_000),
    "150 explanations": scores_of(150, 20_000, explain=True),
    "64 comparisons": compares,
    "50 batches of 1,000": batches,
    "24 posts of 10 MiB": posts,
    "3 imports of 240 MB": imports,
    "an import of 83 million values": tiny_values,
    "240 MB imported, exported twice": there_and_back,
    "1,100 half-open": half_open,
    "2 URLs of 64 MB": long_urls,
}


# ---- the score beside it ---------------------------------------------------------------------------------------------


def _probe(there: Connection, port: int, key: str) -> None:
    """Score until told to stop, and say how long each took in seconds; a failure is told as its name."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    times, failures, number = list[float](), Counter[str](), time.time_ns()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    there.send("ready")
    while not there.poll():
        number += 1
        start = time.perf_counter()
        try:
            body = json.dumps({"content": f"How kind of you to write about number {number}."})
            connection.request("POST", f"/v1/models/{HANDLE}/score", body, headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                failures[str(answer.status)] += 1
        except (OSError, http.client.HTTPException) as error:
            failures[type(error).__name__] += 1
            connection.close()
        times.append(time.perf_counter() - start)
        time.sleep(0.02)
    there.send((times, failures))


def _beside(place: Place, load: Load) -> tuple[np.ndarray, Counter[str], Answers, float]:
    """Milliseconds of the scores, their failures, the answers of the load, and its seconds."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    child = spawn.Process(target=_probe, args=(there, place.started.port, place.key), daemon=True)
    child.start()
    here.recv()
    begin = time.perf_counter()
    answers = load(place)
    took = time.perf_counter() - begin
    here.send("enough")
    times, failures = here.recv()
    child.join()
    return np.array(times) * 1_000, failures, answers, took


# ---- the page --------------------------------------------------------------------------------------------------------


def main() -> None:
    """Measure and print."""
    arguments: argparse.ArgumentParser = parser(__doc__ or "")
    arguments.add_argument("--only", nargs="*", choices=LOADS, default=list(LOADS), help="these loads alone")
    asked = arguments.parse_args()
    publish("overload", lambda: measure(asked.only, quick=asked.quick), asked.out)


def measure(names: Sequence[str], *, quick: bool) -> Measured:
    """Each load, one after the other, against one service."""
    rows, figures = [], {}
    with tempfile.TemporaryDirectory(prefix="admission-") as folder, _served(Path(folder), names) as started:
        place = Place(started, (started.home / "first.key").read_text("utf-8").strip(), quick)
        _train(place)
        for name in names:
            time.sleep(1)
            before = place.memory("VmRSS")
            place.forget_peak()
            with place.most_of_all() as of_all:
                times, failures, answers, took = _beside(place, LOADS[name])
            peak = place.memory("VmHWM")
            rows.append(_row(name, times, failures, answers, took, (before, peak, max(of_all))))
            figures[name] = {
                "p50_ms": float(np.percentile(times, 50)),
                "p99_ms": float(np.percentile(times, 99)),
                "max_ms": float(times.max()),
                "errors": dict(failures),
                "answers": dict(answers),
                "before_mib": before,
                "peak_mib": peak,
                "peak_of_all_mib": max(of_all),
            }
            print(rows[-1], flush=True)  # noqa: T201
    columns = ("load", "p50 ms", "p99 ms", "max ms", "errors", "answers", "s", "MiB before", "peak", "peak of all")
    return Measured([Table("A plain score under load, and the memory of the service", columns, rows)], figures)


def _served(home: Path, _names: Sequence[str]) -> Any:
    return running(home, "serve", TRAITBENCH_PUBLIC_NAMESPACES="", TRAITBENCH_MAX_SAMPLES="200000")


def _row(
    name: str, times: np.ndarray, failures: Counter[str], answers: Answers, took: float, mib: Sequence[float]
) -> tuple[str, ...]:
    result = " ".join(f"{count}x{kind}" for kind, count in sorted(answers.items())) or "-"
    latency = (f"{np.percentile(times, share):.1f}" for share in (50, 99, 100))
    return (
        name,
        *latency,
        f"{sum(failures.values())}/{len(times)}",
        result,
        f"{took:.1f}",
        *(f"{each:.0f}" for each in mib),
    )


def _train(place: Place) -> None:
    with place.started.client() as client:
        client.models.create(HANDLE, max_depth=3)
        client.traits.add(HANDLE, [TraitInput(name=name) for name in TRAITS])
        poles = [(text, 1.0) for text in WARM] + [(text, 0.0) for text in COLD]
        client.samples.add(
            HANDLE,
            [SampleInput(trait=trait, text=text, quality=quality) for trait in TRAITS for text, quality in poles],
        )
        client.models.train(HANDLE, effort="low")
        assert client.models.wait(HANDLE).state == "ready"


if __name__ == "__main__":
    main()

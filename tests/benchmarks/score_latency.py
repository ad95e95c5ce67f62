"""How long one score over HTTP takes: against the bare encoder call, and while the service has other things to do.

    python -m tests.benchmarks.score_latency [--quick] [--out FILE]

A service on a free port, a model of three traits, one kept-alive connection, a text of 20 words that differs each time.
The bare call and the score are measured in turn, so that both meet the same moments of the machine. The caller has a
process of its own, as callers have, and writes and reads with the standard library's client: its work counts. Batches
come from another process, the training is the service's own worker; idle and loaded moments alternate, so that each
load has its own idle beside it.
"""

import http.client
import json
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path
from threading import Thread

import numpy as np

from tests.benchmarks.page import Measured, Table, parser, publish
from tests.contexts import AUTHOR, COLD, WARM, fresh_settings, opened, settled
from tests.contract.world import served
from traitbench.client import Traitbench
from traitbench.contract.models import ModelCreate, TrainRequest
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.operations import keys, models, samples, training, traits
from traitbench.operations.context import Context
from traitbench.service.app import create_app

HANDLE, BUSY = "local.latency", "local.busy"
TRAITS = ("Warmth", "Clarity", "Courage")
SENTENCE = (
    "the committee thanked everyone for a long and careful evening of questions about roads schools water trees "
    "money time music bread winter letters neighbours gardens bridges colours numbers stories doctors engines maps"
)
WARM_UP = 50
ROUNDS = 4
_ANEW = ""
_SEEDS = count(1)  # no text comes twice, or its vector would be there already

Times = np.ndarray
Call = Callable[[str], float]  # seconds


def main() -> None:
    """Measure and print."""
    asked = parser(__doc__ or "").parse_args()
    publish("score_latency", lambda: measure(quick=asked.quick), asked.out)


def measure(*, quick: bool) -> Measured:
    """All of it."""
    calls = 200 if quick else 1_000
    with (
        tempfile.TemporaryDirectory() as home,
        fresh_settings(Path(home), encoder=None) as settings,
        opened(settings, runs=True) as context,
    ):
        train(context, HANDLE, times=3)
        train(context, BUSY, times=60)
        with served(create_app(context)) as base_url:
            score = Scoring(context, base_url)
            bare, idle = in_turn((lambda text: _encode(context, text), score), calls)
            loads = {
                "1 batch": batches(context, base_url, 1),
                "4 batches": batches(context, base_url, 4),
                "a training": trainings(context),
            }
            values = {name: _beside(score, load, calls // ROUNDS) for name, load in loads.items()}
            score.close()
        encoder = context.encoder.id
    return _measured(encoder, calls, bare, idle, values)


def _measured(encoder: str, calls: int, bare: Times, idle: Times, results: dict[str, tuple[Times, Times]]) -> Measured:
    rows = [_row("bare encoder call", bare), _row("score over HTTP", idle)]
    figures: dict[str, dict[str, float]] = {"bare": _figures(bare), "idle": _figures(idle)}
    for name, (quiet, loaded) in results.items():
        rows.append(_row(f"score under {name}", loaded))
        figures[name] = {**_figures(loaded), "p99_against_idle": _p(loaded, 99) / _p(quiet, 99)}
    ratio, more = _p(idle, 50) / _p(bare, 50), _p(idle, 50) - _p(bare, 50)
    under = ", ".join(f"{figures[name]['p99_against_idle']:.1f} under {name}" for name in results)
    return Measured(
        [
            Table(
                f"One score of 20 words, encoder {encoder}, {calls:,} calls each, milliseconds",
                ("", "p50", "p90", "p99"),
                rows,
                note=f"At p50 a score over HTTP takes {ratio:.2f} times the bare call, {more:.2f} ms more."
                f" Its p99 against the idle p99 beside it: {under}.",
            )
        ],
        {"calls": calls, "p50_against_bare": ratio, "p50_more_ms": more, **figures},
    )


def _row(name: str, times: Times) -> tuple[str, ...]:
    return (name, *(f"{_p(times, share):.2f}" for share in (50, 90, 99)))


def _figures(times: Times) -> dict[str, float]:
    return {f"p{share}_ms": _p(times, share) for share in (50, 90, 99)}


def _p(times: Times, share: int) -> float:
    return float(np.percentile(times, share))


# ---- calls -----------------------------------------------------------------------------------------------------------


class Scoring:
    """A score over one kept-alive connection, from another process."""

    def __init__(self, context: Context, base_url: str) -> None:
        secret = keys.create(context.engine, scope="scoring", namespaces=["local"]).secret
        spawn = multiprocessing.get_context("spawn")
        self._here, there = spawn.Pipe()
        self._child = spawn.Process(target=_caller, args=(there, base_url.removeprefix("http://"), secret))
        self._child.start()

    def __call__(self, text: str) -> float:
        self._here.send(text)
        seconds: float = self._here.recv()
        return seconds

    def close(self) -> None:
        """Disconnect."""
        self._here.send(None)
        self._child.join()

    def renew(self) -> None:
        """Connect anew: the service does not keep a connection that was idle for long."""
        self._here.send(_ANEW)
        self("a first text, which is not counted")


def _caller(there: Connection, address: str, secret: str) -> None:
    connection = http.client.HTTPConnection(address)
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    while (text := there.recv()) is not None:
        if text == _ANEW:
            connection.close()
            continue
        start = time.perf_counter()
        connection.request("POST", f"/v1/models/{HANDLE}/score", json.dumps({"content": text}), headers)
        answer = connection.getresponse()
        answer.read()
        there.send(time.perf_counter() - start)
        assert answer.status == 200
    connection.close()


def _encode(context: Context, text: str) -> float:
    start = time.perf_counter()
    context.encoder.encode([text])
    return time.perf_counter() - start


def in_turn(measured: Sequence[Call], calls: int) -> Times:
    """Milliseconds `(n_measured, calls)`; the first calls are not counted."""
    times = np.empty((len(measured), WARM_UP + calls))
    texts = _texts(next(_SEEDS))
    for call in range(WARM_UP + calls):
        for row, each in enumerate(measured):
            times[row, call] = each(next(texts))
    return times[:, WARM_UP:] * 1_000


def _texts(seed: int) -> Iterator[str]:
    rng, words = np.random.default_rng(seed), SENTENCE.split()
    while True:
        yield " ".join(rng.choice(words, 20))


# ---- loads -----------------------------------------------------------------------------------------------------------

Load = Callable[[], AbstractContextManager[None]]


def _beside(score: Scoring, load: Load, calls: int) -> tuple[Times, Times]:
    """Milliseconds without the load and under it, in alternating rounds."""
    quiet, loaded = [], []
    for _ in range(ROUNDS):
        texts = _texts(next(_SEEDS))
        score.renew()
        quiet += [score(next(texts)) for _ in range(calls)]
        with load():
            score.renew()
            loaded += [score(next(texts)) for _ in range(calls)]
    return np.array(quiet) * 1_000, np.array(loaded) * 1_000


def batches(context: Context, base_url: str, number: int) -> Load:
    """So many endless batches, by clients in another process."""
    secret = keys.create(context.engine, scope="scoring", namespaces=["local"]).secret

    @contextmanager
    def running() -> Iterator[None]:
        spawn = multiprocessing.get_context("spawn")
        enough, started = spawn.Event(), spawn.Event()
        child = spawn.Process(target=_endless, args=(base_url, secret, number, started, enough))
        child.start()
        started.wait()
        try:
            yield
        finally:
            enough.set()
            child.join()

    return running


def _endless(base_url: str, secret: str, number: int, started: Event, enough: Event) -> None:
    def one(seed: int) -> None:
        with Traitbench(base_url, secret) as client:
            for line in client.scores.batch(HANDLE, _texts(seed)):
                if line.index == 10:
                    started.set()
                if enough.is_set():
                    return

    # Other texts each time: nothing of them is known already.
    threads = [Thread(target=one, args=(time.time_ns() % 2**31 + each,)) for each in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def trainings(context: Context) -> Load:
    """Trainings of the greatest effort, one after the other."""

    @contextmanager
    def running() -> Iterator[None]:
        enough = False

        def again() -> None:
            request = TrainRequest(effort="max", reoptimize_params=True)
            while not enough:
                training.start(context, AUTHOR, BUSY, request)
                settled(context, BUSY, seconds=600)

        thread = Thread(target=again)
        thread.start()
        while models.get(context, AUTHOR, BUSY).state != "busy":
            time.sleep(0.01)
        try:
            yield
        finally:
            enough = True
            thread.join()

    return running


def train(context: Context, handle: str, *, times: int) -> None:
    """A model with one version."""
    numbers = count()
    models.create(context, AUTHOR, ModelCreate(handle=handle))
    traits.add(context, AUTHOR, handle, TraitsCreate(traits=[TraitInput(name=name) for name in TRAITS]))
    sent = [
        SampleInput(trait=trait, text=f"{text} {next(numbers)}", quality=quality)
        for trait in TRAITS
        for _ in range(times)
        for quality, texts in ((1.0, WARM), (0.0, COLD))
        for text in texts
    ]
    for first in range(0, len(sent), 500):
        samples.add(context, AUTHOR, handle, SamplesCreate(samples=sent[first : first + 500]))
    training.start(context, AUTHOR, handle, TrainRequest(effort="low"))
    settled(context, handle, seconds=300)


if __name__ == "__main__":
    main()

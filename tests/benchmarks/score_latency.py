"""How long one score over HTTP takes: against the bare encoder call, with reasons, on a door, and during a training.

    python -m tests.benchmarks.score_latency [--quick] [--out FILE]

A service on a free port, a model of three traits, one kept-alive connection, a text of 20 words that differs each time.
The bare call and the score are measured in turn, so that both meet the same moments of the machine. The caller has a
process of its own, as callers have, and writes and reads with the standard library's client: its work counts. A yes or
no on the decision wire is measured in turn with a score, so that it shows what the door costs. A score
with the reasons of all three traits is measured in turn with one without, for texts of several lengths. The
training is the service's own worker; idle and loaded moments alternate, so that the load has its own idle beside it.
"""

import http.client
import json
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, islice
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from tests.benchmarks.material import endless, make_draft
from tests.benchmarks.page import Measured, Table, run
from tests.contexts import AUTHOR, fresh_settings, opened, settled
from tests.contract.world import served
from traitbench.contract.models import TrainRequest
from traitbench.operations import keys, models, training
from traitbench.operations.context import Context
from traitbench.service.app import create_app

HANDLE, BUSY = "local.latency", "local.busy"
TRAITS = ("Warmth", "Clarity", "Courage")
WARM_UP = 50
ROUNDS = 4
DOOR = "yes or no on the decision wire"
QUIET, LOADED = "score before a training", "score during a training"
WORDS = (12, 45, 180, 500)
EXPLAINED = 50
"""One text of each length is explained for so many calls."""
_ANEW = ""
_SEEDS = count(1)

Times = np.ndarray
Call = Callable[[str], float]  # seconds


def measure(*, calls: int) -> Measured:
    """All of it."""
    with (
        tempfile.TemporaryDirectory() as home,
        fresh_settings(Path(home), encoder=None) as settings,
        opened(settings, runs=True) as context,
    ):
        train(context, HANDLE, times=3)
        train(context, BUSY, times=60)
        with served(create_app(context)) as base_url:
            score = Scoring(context, base_url)
            bare, idle, door = in_turn((lambda text: _encode(context, text), score, score.decide), calls)
            explained = {words: _explained(score, words, calls // EXPLAINED) for words in WORDS}
            quiet, loaded = _beside(score, context, calls // ROUNDS)
            score.close()
        encoder = context.encoder.id
    times = {"bare encoder call": bare, "score over HTTP": idle, DOOR: door, QUIET: quiet, LOADED: loaded}
    return _measured(encoder, calls, times, explained)


def _measured(encoder: str, calls: int, times: dict[str, Times], explained: dict[int, Times]) -> Measured:
    bare, idle = times["bare encoder call"], times["score over HTTP"]
    ratio, more = _p(idle, 50) / _p(bare, 50), _p(idle, 50) - _p(bare, 50)
    door = _p(times[DOOR], 50) / _p(idle, 50)
    under = _p(times[LOADED], 99) / _p(times[QUIET], 99)
    note = (
        f"At p50 a score over HTTP takes {ratio:.2f} times the bare call, {more:.2f} ms more. An answer on the decision"
        f" wire takes {door:.2f} times a score. Under a training, p99 is {under:.1f} times the idle p99 beside it."
    )
    title = f"One score of 20 words, encoder {encoder}, {calls:,} calls each, milliseconds"
    rows = [_row(name, each) for name, each in times.items()]
    figures = {name: _figures(each) for name, each in times.items()}
    medians = {words: np.median(each, axis=1) for words, each in explained.items()}
    reasons = [(f"{words}", f"{a:.1f}", f"{b:.1f}", f"{b / a:.1f}") for words, (a, b) in medians.items()]
    return Measured(
        [
            Table(title, ("", "p50", "p90", "p99"), rows, note),
            Table("Medians in milliseconds", ("words", "score", "with reasons", "times"), reasons),
        ],
        {
            "calls": calls,
            "p50_against_bare": ratio,
            "p50_more_ms": more,
            "p50_of_a_decision_against_a_score": door,
            "p99_under_a_training": under,
            "reasons_against_score": {f"{words}": float(b / a) for words, (a, b) in medians.items()},
            **figures,
        },
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

    def __call__(self, text: str, *, explain: bool = False) -> float:
        return self._sent(f"/v1/models/{HANDLE}/score", {"content": text, "explain": explain})

    def decide(self, text: str) -> float:
        """Ask for a yes or no about the text, on the decision wire."""
        question = {"type": "noul", "instructions": f"Is it about {TRAITS[0]}?"}
        return self._sent("/v1/systemone", {"model": HANDLE, "state": text, "questions": {"q": question}})

    def _sent(self, path: str, body: dict[str, Any]) -> float:
        self._here.send((path, body))
        seconds: float = self._here.recv()
        return seconds

    def close(self) -> None:
        """Disconnect."""
        self._here.send(None)
        self._child.join()

    def renew(self) -> None:
        """Connect anew: the service does not keep a connection that was idle for long."""
        self._here.send((_ANEW, {}))
        self("a first text, which is not counted")


def _caller(there: Connection, address: str, secret: str) -> None:
    connection = http.client.HTTPConnection(address)
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    while (asked := there.recv()) is not None:
        path, body = asked
        if path == _ANEW:
            connection.close()
            continue
        start = time.perf_counter()
        connection.request("POST", path, json.dumps(body), headers)
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
    texts = endless(next(_SEEDS))
    for call in range(WARM_UP + calls):
        for row, each in enumerate(measured):
            times[row, call] = each(next(texts))
    return times[:, WARM_UP:] * 1_000


def _explained(score: Scoring, words: int, calls: int) -> Times:
    """Milliseconds `(2, calls)` of texts of so many words: without their reasons, and of others with them."""
    every = (word for text in endless(next(_SEEDS)) for word in text.split())
    times = [
        [score(" ".join(islice(every, words)), explain=explain) for explain in (False, True)] for _ in range(calls)
    ]
    return np.array(times).T * 1_000


# ---- a training beside it --------------------------------------------------------------------------------------------


def _beside(score: Scoring, context: Context, calls: int) -> tuple[Times, Times]:
    """Milliseconds without a training and during one, in alternating rounds."""
    quiet, loaded = [], []
    for _ in range(ROUNDS):
        texts = endless(next(_SEEDS))
        score.renew()
        quiet += [score(next(texts)) for _ in range(calls)]
        with trainings(context):
            score.renew()
            loaded += [score(next(texts)) for _ in range(calls)]
    return np.array(quiet) * 1_000, np.array(loaded) * 1_000


@contextmanager
def trainings(context: Context) -> Iterator[None]:
    """Trainings of the greatest effort, one after the other."""
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


def train(context: Context, handle: str, *, times: int) -> None:
    """A model with one version."""
    make_draft(context, handle, TRAITS, times=times)
    training.start(context, AUTHOR, handle, TrainRequest(effort="low"))
    settled(context, handle, seconds=300)


if __name__ == "__main__":
    run("score_latency", measure, quick={"calls": 200}, whole={"calls": 1_000})

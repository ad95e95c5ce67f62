"""How long a comment takes on Perspective's wire, beside a score on our own, alone and with ten requests at once.

    python -m tests.benchmarks.perspective [--quick] [--out FILE]

A service on a free port, a model of three traits, comments of 40 words that differ each time, doNotStore as Coral sends
it. The callers are threads of another process, each with its own kept-alive connection. The kinds of requests take
turns, so that all meet the same moments of the machine. Coral waits 300 ms.
"""

import http.client
import json
import multiprocessing
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice
from pathlib import Path
from threading import local
from typing import Any

import numpy as np

from tests.benchmarks.material import endless
from tests.benchmarks.page import Measured, Table, run
from tests.benchmarks.score_latency import HANDLE, TRAITS, train
from tests.contexts import fresh_settings, opened
from tests.contract.world import served
from traitbench.operations import keys
from traitbench.service.app import create_app

AT_ONCE = (1, 10)
WORDS = 40
PATIENCE_MS = 300
ROUNDS = 10
WARM_UP = 50
SCORE = "our own score"
KINDS: Mapping[str, int] = {SCORE: 0, "one attribute": 1, "three attributes": 3}
_SEEDS = count(1)


def measure(*, calls: int) -> Measured:
    """All of it."""
    with (
        tempfile.TemporaryDirectory() as home,
        fresh_settings(Path(home), encoder=None) as settings,
        opened(settings, runs=True) as context,
    ):
        train(context, HANDLE, times=3)
        secret = keys.create(context.engine, scope="scoring", namespaces=["local"]).secret
        with served(create_app(context)) as base_url, multiprocessing.get_context("spawn").Pool(1) as other:
            times = other.apply(_measured, (base_url.removeprefix("http://"), secret, calls))
        encoder = context.encoder.id
    rows = [
        (f"{at_once}", kind, *(f"{np.percentile(each, share):.1f}" for share in (50, 99)), f"{each.max():.1f}")
        for (at_once, kind), each in times.items()
    ]
    late = sum(int((each > PATIENCE_MS).sum()) for (_, kind), each in times.items() if kind != SCORE)
    ratios = {
        f"{kind}, {at_once} at once": float(np.median(each) / np.median(times[at_once, SCORE]))
        for (at_once, kind), each in times.items()
        if kind != SCORE
    }
    note = f"{late} answers took longer than the {PATIENCE_MS} ms that Coral waits."
    title = f"A comment of {WORDS} words, encoder {encoder}, {calls:,} calls each, milliseconds"
    return Measured(
        [Table(title, ("at once", "", "p50", "p99", "longest"), rows, note)],
        {"calls": calls, "late": late, "against_score": ratios},
    )


def _measured(address: str, secret: str, calls: int) -> dict[tuple[int, str], np.ndarray]:
    """Milliseconds by how many requests are at work at once, and by their kind."""
    mine = local()

    def asked(kind: str, text: str) -> float:
        if not hasattr(mine, "connection"):
            mine.connection = http.client.HTTPConnection(address)
        path, body = _request(kind, text, secret)
        start = time.perf_counter()
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        mine.connection.request("POST", path, body, headers if kind == SCORE else {"Content-Type": "application/json"})
        answer = mine.connection.getresponse()
        answer.read()
        assert answer.status == 200
        return (time.perf_counter() - start) * 1_000

    times: dict[tuple[int, str], list[float]] = {(at_once, kind): [] for at_once in AT_ONCE for kind in KINDS}
    texts = _comments()
    for at_once in AT_ONCE:
        with ThreadPoolExecutor(at_once) as callers:
            list(callers.map(asked, [SCORE] * WARM_UP, islice(texts, WARM_UP)))
            for _ in range(ROUNDS):
                for kind in KINDS:
                    some = [*islice(texts, max(1, calls // ROUNDS))]
                    times[at_once, kind] += callers.map(asked, [kind] * len(some), some)
    return {key: np.array(each) for key, each in times.items()}


def _request(kind: str, text: str, secret: str) -> tuple[str, str]:
    if kind == SCORE:
        return f"/v1/models/{HANDLE}/score", json.dumps({"content": text})
    attributes: dict[str, Any] = {name.upper(): {} for name in TRAITS[: KINDS[kind]]}
    body = {"comment": {"text": text}, "languages": ["en"], "doNotStore": True, "requestedAttributes": attributes}
    return f"/v1alpha1/comments:analyze?key={secret}", json.dumps(body)


def _comments() -> Iterator[str]:
    words = (word for text in endless(next(_SEEDS)) for word in text.split())
    while True:
        yield " ".join(islice(words, WORDS))


if __name__ == "__main__":
    run("perspective", measure, quick={"calls": 200}, whole={"calls": 1_000})

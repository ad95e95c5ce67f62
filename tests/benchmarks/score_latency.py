"""How long one score over HTTP takes, against the bare encoder call in the same process.

    python -m tests.benchmarks.score_latency [--calls N]

A service on a free port, a model of three traits, one kept-alive connection, a text of 20 words that differs each time.
The two are measured in turn, so that both meet the same moments of the machine. Service and caller share one process:
what is shown as overhead has the caller's own work in it.
"""

import argparse
import http.client
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from core.contract.models import ModelCreate, TrainRequest
from core.contract.samples import SampleInput, SamplesCreate
from core.contract.traits import TraitInput, TraitsCreate
from core.lifecycle import keys, models, samples, training, traits
from core.lifecycle.bench import Bench
from core.service.app import create_app
from tests.benches import AUTHOR, COLD, WARM, fresh_settings, opened, settled
from tests.contract.world import served

HANDLE = "local.latency"
TRAITS = ("Warmth", "Clarity", "Courage")
SENTENCE = (
    "the committee thanked everyone for a long and careful evening of questions about roads schools water trees "
    "money time music bread winter letters neighbours gardens bridges colours numbers stories doctors engines maps"
)
WARM_UP = 50


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=1_000)
    calls: int = parser.parse_args().calls
    with tempfile.TemporaryDirectory() as home, fresh_settings(Path(home)) as settings:
        with opened(settings, runs=True) as bench:
            train(bench)
        with opened(settings, runs=False) as bench, served(create_app(bench)) as base_url:
            report(bench, base_url, calls)


def report(bench: Bench, base_url: str, calls: int) -> None:
    """Both figures, and what lies between them."""
    secret = keys.create(bench.engine, scope="scoring", namespaces=["local"]).secret
    connection = http.client.HTTPConnection(base_url.removeprefix("http://"))
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}

    def score(text: str) -> None:
        connection.request("POST", f"/v1/models/{HANDLE}/score", json.dumps({"content": text}), headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200

    def encode(text: str) -> None:
        bench.encoder.encode([text])

    bare, whole = in_turn((encode, score), calls)
    print(f"encoder {bench.encoder.id}, {calls} calls each, ms")  # noqa: T201
    for name, times in (("bare encoder call", bare), ("score over HTTP", whole), ("overhead", whole - bare)):
        p50, p99 = np.percentile(times, (50, 99))
        print(f"{name:<18}  p50 {p50:6.2f}  p99 {p99:6.2f}")  # noqa: T201


def in_turn(measured: Sequence[Callable[[str], None]], calls: int) -> np.ndarray:
    """Milliseconds `(n_measured, calls)`; the first calls are not counted."""
    rng, words = np.random.default_rng(0), SENTENCE.split()
    times = np.empty((len(measured), WARM_UP + calls))
    for call in range(WARM_UP + calls):
        for row, each in enumerate(measured):
            text = " ".join(rng.choice(words, 20))
            start = time.perf_counter()
            each(text)
            times[row, call] = time.perf_counter() - start
    return times[:, WARM_UP:] * 1_000


def train(bench: Bench) -> None:
    """The model that scores."""
    models.create(bench, AUTHOR, ModelCreate(handle=HANDLE))
    traits.add(bench, AUTHOR, HANDLE, TraitsCreate(traits=[TraitInput(name=name) for name in TRAITS]))
    sent = [
        SampleInput(trait=trait, text=f"{text} {number}", quality=quality)
        for trait in TRAITS
        for number in range(3)
        for quality, texts in ((1.0, WARM), (0.0, COLD))
        for text in texts
    ]
    samples.add(bench, AUTHOR, HANDLE, SamplesCreate(samples=sent))
    training.start(bench, AUTHOR, HANDLE, TrainRequest(effort="low"))
    settled(bench, HANDLE)


if __name__ == "__main__":
    main()

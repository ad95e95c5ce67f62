"""How true the forecasts of trainings are: the time announced before, and the time left that is shown on the way.

    python -m tests.benchmarks.forecast [--quick] [--out FILE] [--data FILE] [--busy PROCESSES]

A real `traitbench serve` trains models of 20 to 20,000 samples at several efforts. Every poll compares the time left
with what the run then took. A forecast counts as true within a factor of two; half a second more or less is ignored.
`--data` names a file with one text per line, instead of generated sentences. `--busy` keeps so many processes busy
beside it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import numpy as np

from tests.app.processes import running
from tests.benchmarks.page import Measured, Table, parser, publish
from tests.benchmarks.score_latency import SENTENCE
from traitbench.client import Traitbench
from traitbench.contract.models import TrainEffort
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.fitting.speed import speed_now
from traitbench.local import pace

EFFORTS: tuple[TrainEffort, ...] = ("low", "medium", "high", "max")
TRAININGS: tuple[tuple[int, tuple[TrainEffort, ...]], ...] = (
    (20, EFFORTS),
    (100, EFFORTS),
    (1_000, EFFORTS),
    (5_000, ("medium", "max")),
    (20_000, ("high",)),
)
QUICK: tuple[tuple[int, tuple[TrainEffort, ...]], ...] = ((20, EFFORTS), (100, EFFORTS), (1_000, ("medium", "max")))

_ENCODER = {name: value for name, value in os.environ.items() if name == "TRAITBENCH_ENCODER"}
_PAUSE, _AFTER, _IGNORED = 0.2, 1.0, 0.5  # seconds
_AT_ONCE = 500


@dataclass
class Training:
    """Seconds that were announced (at the least, at the most, likely) and taken; by poll, the seconds so far and the
    seconds left as shown.
    """

    samples: int
    effort: TrainEffort
    announced: tuple[float, float, float]
    taken: float = 0.0
    polls: list[tuple[float, float | None]] = field(default_factory=list)

    @property
    def truly(self) -> bool:
        """Whether the likely time was true."""
        return true((self.announced[2], self.announced[2]), self.taken)

    @property
    def checked(self) -> list[bool]:
        """By poll after the first second: whether the time left was true; an unknown one is not."""
        return [
            left is not None and true((left, left), self.taken - at)
            for at, left in self.polls
            if _AFTER <= at <= self.taken - _IGNORED
        ]


def true(forecast: tuple[float, float], actual: float) -> bool:
    """Whether seconds are within a factor of two of a range, or within half a second."""
    low, high = forecast
    return low / 2 - _IGNORED <= actual <= 2 * high + _IGNORED


def measure(trainings: Sequence[tuple[int, Sequence[TrainEffort]]], texts: Iterator[str]) -> Measured:
    """Train one model after another."""
    done = []
    with (
        tempfile.TemporaryDirectory(prefix="forecast-") as folder,
        running(
            Path(folder), "serve", TRAITBENCH_PUBLIC_NAMESPACES="", TRAITBENCH_MAX_SAMPLES="200000", **_ENCODER
        ) as started,
        started.client() as client,
    ):
        for samples, efforts in trainings:
            for effort in efforts:
                done.append(_train(client, samples, effort, texts, cache=Path(folder) / "cache"))
                print(_row(done[-1]), f"load {os.getloadavg()[0]:.1f}", flush=True)  # noqa: T201
    checks = [check for each in done for check in each.checked]
    long = [each for each in done if each.checked]
    average = [float(np.mean(each.checked)) for each in long]
    note = (
        f"Time left true at {np.mean(checks):.0%} of {len(checks)} polls and, by training,"
        f" at {np.mean(average):.0%} on average; announcements true"
        f" for {np.mean([each.truly for each in done]):.0%} of {len(done)} trainings."
    )
    columns = ["samples", "effort", "announced, s", "taken, s", "announced truly", "polls", "time left true"]
    return Measured(
        [Table("Forecasts of trainings", columns, [_row(each) for each in done], note)],
        {"trainings": [vars(each) for each in done]},
    )


def _train(client: Traitbench, samples: int, effort: TrainEffort, texts: Iterator[str], *, cache: Path) -> Training:
    handle = f"local.n{samples}-{effort}"
    client.models.create(handle)
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    inputs = [SampleInput(trait="Warmth", text=next(texts), quality=float(at % 2)) for at in range(samples)]
    for first in range(0, samples, _AT_ONCE):
        client.samples.add(handle, inputs[first : first + _AT_ONCE])
    training = Training(samples, effort, _announced(inputs, effort, cache))
    client.models.train(handle, effort=effort)
    start = time.monotonic()
    while (model := client.models.get(handle)).state == "busy":
        progress = model.last_operation.progress if model.last_operation else None
        training.polls.append((time.monotonic() - start, progress.eta_s if progress else None))
        time.sleep(_PAUSE)
    training.taken = time.monotonic() - start
    assert model.state == "ready", model.last_operation
    return training


def _announced(inputs: Sequence[SampleInput], effort: TrainEffort, cache: Path) -> tuple[float, float, float]:
    lengths = [len(each.text) for each in inputs]
    whole = pace.work(_ENCODER.get("TRAITBENCH_ENCODER"), effort, [len(inputs)], lengths, cache=cache, cold=True)
    work, speed = whole.reading + whole.searching, speed_now()
    return work * speed.least, work * speed.most, work * speed.likely


def _row(training: Training) -> list[str]:
    low, high, likely = training.announced
    checked = training.checked
    return [
        f"{training.samples:,}",
        training.effort,
        f"{likely:.1f}" if low == high else f"{likely:.1f} ({low:.1f} to {high:.1f})",
        f"{training.taken:.1f}",
        "yes" if training.truly else "no",
        f"{len(checked)}",
        f"{np.mean(checked):.0%}" if checked else "",
    ]


def generated() -> Iterator[str]:
    """Sentences of 4 to 60 words, each unlike the others."""
    lot, words = np.random.default_rng(0), SENTENCE.split()
    for number in count():
        yield f"Letter {number}: {' '.join(lot.choice(words, int(lot.integers(4, 60))))}."


def _lines(path: Path) -> Iterator[str]:
    lines = [line.strip() for line in path.read_text("utf-8", "replace").splitlines() if line.strip()]
    for number in count():
        yield f"{lines[number % len(lines)]} ({number})"


def main() -> None:
    """Read the arguments and measure."""
    arguments: argparse.ArgumentParser = parser("Forecasts of trainings against what they took.")
    arguments.add_argument("--data", type=Path, help="a file with one text per line")
    arguments.add_argument("--busy", type=int, default=0, help="processes that keep the machine busy")
    asked = arguments.parse_args()
    texts = _lines(asked.data) if asked.data else generated()
    trainings: Mapping[bool, Sequence[tuple[int, Sequence[TrainEffort]]]] = {True: QUICK, False: TRAININGS}
    with busy(asked.busy):
        publish("forecast", lambda: measure(trainings[asked.quick], texts), asked.out)


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """So many processes that do nothing but work."""
    started = [
        # A session of its own: Linux shares processors between sessions first.
        subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
        for _ in range(processes)
    ]
    try:
        yield
    finally:
        for each in started:
            each.kill()
            each.wait()


if __name__ == "__main__":
    main()

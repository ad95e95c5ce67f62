"""How fast a batch is over HTTP, against the bare encoder on the same texts: by traits, by mode, and the second time.

    python -m tests.benchmarks.batch [--quick] [--out FILE]

A service in this process, its client in another, texts of 20 words that are all different. What is compared is measured
in turn, slice by slice, so that both meet the same moments of the machine; processor seconds are those of the service
and the client together. The vectors are kept as they are by default, so the first batch also pays for the second.
"""

import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from tests.benchmarks.material import make_draft, texts_of
from tests.benchmarks.page import Measured, Table, run
from tests.contexts import AUTHOR, done_here, fresh_settings, opened
from tests.contract.world import served
from traitbench.client import Traitbench
from traitbench.contract.models import TrainRequest
from traitbench.encoders import FULL
from traitbench.operations import keys, models, training
from traitbench.operations.context import Context
from traitbench.service.app import create_app
from traitbench.settings import Settings

ONE, TWENTY = "local.one", "local.twenty"
STATIC = "static"


@dataclass(frozen=True)
class Spent:
    """What some texts took: seconds on the clock and of the processors."""

    wall: float
    processor: float

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.wall + other.wall, self.processor + other.processor)


Ask = Callable[..., Spent]
"""Takes a handle, texts and a mode."""


def measure(*, count: int, slices: int) -> Measured:
    """All of it."""
    texts = texts_of(count)
    with tempfile.TemporaryDirectory() as home, fresh_settings(Path(home), encoder=None) as settings:
        with opened(settings, runs=False) as context:
            _train(context, ONE, 1)
            _train(context, TWENTY, 20)
            encoder = context.encoder.id
            with _asked(context) as ask:
                cut = [texts[each::slices] for each in range(slices)]
                bare, one, twenty = _in_turn(
                    cut, lambda some: _bare(context, some), lambda some: ask(ONE, some), lambda some: ask(TWENTY, some)
                )
                bare_static, static = _in_turn(
                    cut, lambda some: _bare(context, some, STATIC), lambda some: ask(ONE, some, STATIC)
                )
            _again(context, ONE)
            with _asked(context) as ask:
                remembered = ask(ONE, texts)
        again = _stored(settings, texts)
    rows = {
        "bare encoder": bare,
        "batch, 1 trait": one,
        "batch, 20 traits": twenty,
        "bare encoder, static": bare_static,
        "batch, 1 trait, static": static,
        "again by a new version, vectors in memory": remembered,
        "again after a restart, vectors in the store": again,
    }
    results = [_row(name, spent, count, bare_static if "static" in name else bare) for name, spent in rows.items()]
    return Measured(
        [
            Table(
                f"{count:,} texts of 20 words, encoder {encoder}",
                ("", "texts/s", "seconds", "processor s", "throughput / bare"),
                results,
                note=f"20 traits take {twenty.wall / one.wall:.3f} times what 1 takes; the second time is"
                f" {one.wall / remembered.wall:.0f} times as fast from memory,"
                f" {one.wall / again.wall:.0f} times from the store.",
            )
        ],
        {
            "texts": count,
            **{name: vars(spent) for name, spent in rows.items()},
            "throughput_of_bare": bare.wall / one.wall,
            "throughput_of_bare_by_processor": bare.processor / one.processor,
            "static_against_bare": static.wall / bare_static.wall,
            "static_against_bare_by_processor": static.processor / bare_static.processor,
            "twenty_traits_against_one": twenty.wall / one.wall,
            "again_from_memory": one.wall / remembered.wall,
            "again_from_store": one.wall / again.wall,
        },
    )


def _in_turn(slices: Sequence[Sequence[str]], *kinds: Callable[[Sequence[str]], Spent]) -> list[Spent]:
    """What each kind takes for all slices. Each is first, second and so on in turn."""
    total = [Spent(0, 0)] * len(kinds)
    for kind in kinds:
        kind([f"first {text}" for text in slices[0][:50]])
    for number, some in enumerate(slices):
        for place in np.roll(np.arange(len(kinds)), number):
            total[place] += kinds[place](some)
    return total


def _bare(context: Context, texts: Sequence[str], mode: str = FULL) -> Spent:
    began, processor = time.perf_counter(), time.process_time()
    context.encoder.encode(texts, mode=mode)
    return Spent(time.perf_counter() - began, time.process_time() - processor)


def _stored(settings: Settings, texts: Sequence[str]) -> Spent:
    with opened(settings, runs=False) as context, _asked(context) as ask:
        return ask(ONE, texts)


@contextmanager
def _asked(context: Context) -> Iterator[Ask]:
    """A client in a process of its own, as a function."""
    secret = keys.create(context.engine, scope="scoring", namespaces=["local"]).secret
    here, there = multiprocessing.get_context("spawn").Pipe()
    with served(create_app(context)) as base_url:
        child = multiprocessing.get_context("spawn").Process(target=_client, args=(there, base_url, secret))
        child.start()
        assert here.recv() == "ready"

        def ask(handle: str, texts: Sequence[str], mode: str = FULL) -> Spent:
            processor = time.process_time()
            here.send((handle, list(texts), mode))
            spent: Spent = here.recv()
            return Spent(spent.wall, spent.processor + time.process_time() - processor)

        try:
            yield ask
        finally:
            here.send(None)
            child.join()


def _client(there: Connection, base_url: str, secret: str) -> None:
    with Traitbench(base_url, secret) as client:
        there.send("ready")
        while (asked := there.recv()) is not None:
            handle, texts, mode = asked
            began, processor = time.perf_counter(), time.process_time()
            count = sum(1 for _ in client.scores.batch(handle, texts, mode=mode))
            assert count == len(texts)
            there.send(Spent(time.perf_counter() - began, time.process_time() - processor))


def _row(name: str, spent: Spent, count: int, bare: Spent) -> tuple[str, ...]:
    times = (f"{count / spent.wall:,.0f}", f"{spent.wall:.1f}", f"{spent.processor:.1f}")
    return (name, *times, f"{bare.wall / spent.wall:.2f}")


def _train(context: Context, handle: str, count: int) -> None:
    make_draft(context, handle, [f"Trait {number}" for number in range(count)], times=2)
    done_here(context, training.start(context, AUTHOR, handle, TrainRequest(effort="low"))[0].run_id)


def _again(context: Context, handle: str) -> None:
    request = TrainRequest(effort="medium", reoptimize_params=True)
    done_here(context, training.start(context, AUTHOR, handle, request)[0].run_id)
    assert models.get(context, AUTHOR, handle).version_no == 2


if __name__ == "__main__":
    run("batch", measure, quick={"count": 2_000, "slices": 2}, whole={"count": 20_000, "slices": 5})

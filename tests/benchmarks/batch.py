"""How fast a batch is over HTTP, against the bare encoder on the same texts: in all, by traits, and the second time.

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

from tests.benchmarks.page import Measured, Table, parser, publish
from tests.contexts import AUTHOR, COLD, WARM, done_here, fresh_settings, opened
from tests.contract.world import served
from traitbench.client import Traitbench
from traitbench.contract.models import ModelCreate, TrainRequest
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.operations import keys, models, samples, training, traits
from traitbench.operations.context import Context
from traitbench.service.app import create_app
from traitbench.settings import Settings

ONE, TWENTY = "local.one", "local.twenty"
WORDS = (
    "the committee thanked everyone for a long and careful evening of questions about roads schools water trees money "
    "time music bread winter letters neighbours gardens bridges colours numbers stories doctors engines maps we were "
    "glad to see you please do not write again nobody asked lovely wonderful terrible slow kind cold warm never always"
)


@dataclass(frozen=True)
class Spent:
    """What some texts took: seconds on the clock and of the processors."""

    wall: float
    processor: float

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.wall + other.wall, self.processor + other.processor)


Ask = Callable[[str, Sequence[str], str], Spent]


def main() -> None:
    """Measure and print."""
    asked = parser(__doc__ or "").parse_args()
    publish("batch", lambda: measure(quick=asked.quick), asked.out)


def measure(*, quick: bool) -> Measured:
    """All of it."""
    count, slices = (2_000, 2) if quick else (20_000, 5)
    texts = _texts(count)
    with tempfile.TemporaryDirectory() as home, fresh_settings(Path(home), encoder=None) as settings:
        with opened(settings, runs=False) as context:
            _train(context, ONE, 1)
            _train(context, TWENTY, 20)
            encoder = context.encoder.id
            with _asked(context) as ask:
                bare, one, twenty = _first(context, ask, [texts[each::slices] for each in range(slices)])
                modes = _modes(context, ask, texts[: count // 10])
            _again(context, ONE)
            with _asked(context) as ask:
                remembered = ask(ONE, texts, "full")
        again = _stored(settings, texts)
    rows = {
        "bare encoder": bare,
        "batch, 1 trait": one,
        "batch, 20 traits": twenty,
        "again by a new version, vectors in memory": remembered,
        "again after a restart, vectors in the store": again,
    }
    results = [_row(name, spent, count, bare) for name, spent in rows.items()]
    results += [_row(f"batch, mode {mode}", spent, count // 10, bare, of=count) for mode, spent in modes.items()]
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
            "modes": {mode: vars(spent) for mode, spent in modes.items()},
            "throughput_of_bare": bare.wall / one.wall,
            "throughput_of_bare_by_processor": bare.processor / one.processor,
            "twenty_traits_against_one": twenty.wall / one.wall,
            "again_from_memory": one.wall / remembered.wall,
            "again_from_store": one.wall / again.wall,
        },
    )


def _first(context: Context, ask: Ask, slices: Sequence[Sequence[str]]) -> tuple[Spent, Spent, Spent]:
    total = [Spent(0, 0)] * 3
    context.encoder.encode(list(slices[0][:50]))
    for number, some in enumerate(slices):
        kinds: list[Callable[[list[str]], Spent]] = [
            lambda texts: _bare(context, texts),
            lambda texts: ask(ONE, texts, "full"),
            lambda texts: ask(TWENTY, texts, "full"),
        ]
        # Each is first, second and third in turn.
        for place in np.roll(np.arange(3), number):
            total[place] += kinds[place](list(some))
    return total[0], total[1], total[2]


def _bare(context: Context, texts: Sequence[str]) -> Spent:
    began, processor = time.perf_counter(), time.process_time()
    context.encoder.encode(texts)
    return Spent(time.perf_counter() - began, time.process_time() - processor)


def _modes(context: Context, ask: Ask, texts: Sequence[str]) -> dict[str, Spent]:
    return {mode: ask(ONE, texts, mode) for mode in context.encoder.modes}


def _stored(settings: Settings, texts: Sequence[str]) -> Spent:
    with opened(settings, runs=False) as context, _asked(context) as ask:
        return ask(ONE, texts, "full")


@contextmanager
def _asked(context: Context) -> Iterator[Ask]:
    """A client in a process of its own, as a function."""
    secret = keys.create(context.engine, scope="scoring", namespaces=["local"]).secret
    here, there = multiprocessing.get_context("spawn").Pipe()
    with served(create_app(context)) as base_url:
        child = multiprocessing.get_context("spawn").Process(target=_client, args=(there, base_url, secret))
        child.start()
        assert here.recv() == "ready"

        def ask(handle: str, texts: Sequence[str], mode: str) -> Spent:
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


def _row(name: str, spent: Spent, count: int, bare: Spent, *, of: int | None = None) -> tuple[str, ...]:
    """A row; `bare` took `of` texts, as many when None."""
    share = count / (of or count)
    return (
        name,
        f"{count / spent.wall:,.0f}",
        f"{spent.wall:.1f}",
        f"{spent.processor:.1f}",
        f"{bare.wall * share / spent.wall:.2f}",
    )


def _texts(count: int) -> list[str]:
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(WORDS.split(), 20)) for _ in range(count)]


def _train(context: Context, handle: str, count: int) -> None:
    names = [f"Trait {number}" for number in range(count)]
    models.create(context, AUTHOR, ModelCreate(handle=handle))
    traits.add(context, AUTHOR, handle, TraitsCreate(traits=[TraitInput(name=name) for name in names]))
    sent = [
        SampleInput(trait=name, text=f"{text} {number}", quality=quality)
        for name in names
        for number in range(2)
        for quality, result in ((1.0, WARM), (0.0, COLD))
        for text in result
    ]
    samples.add(context, AUTHOR, handle, SamplesCreate(samples=sent))
    done_here(context, training.start(context, AUTHOR, handle, TrainRequest(effort="low"))[0].run_id)


def _again(context: Context, handle: str) -> None:
    request = TrainRequest(effort="medium", reoptimize_params=True)
    done_here(context, training.start(context, AUTHOR, handle, request)[0].run_id)
    assert models.get(context, AUTHOR, handle).version_no == 2


if __name__ == "__main__":
    main()

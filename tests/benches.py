"""Fresh databases and open benches for the tests of store, runs and lifecycle.

On SQLite in a temporary home; with TRAITBENCH_TEST_DATABASE_URL=postgresql://... in a database of their own on that
server, made for the test and dropped behind it, so that the same tests say the same of both.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeVar

from sqlalchemy import create_engine, make_url, text
from ulid import ULID

from core.contract.models import Model, ModelCreate, TrainRequest
from core.contract.samples import SampleInput, SamplesCreate
from core.contract.traits import TraitInput, TraitsCreate
from core.lifecycle import models, samples, training, traits
from core.lifecycle.bench import Bench, open_bench
from core.lifecycle.callers import Caller
from core.lifecycle.outcomes import fail
from core.lifecycle.worker import bodies
from core.runs.worker import Worker, execute
from core.settings import Settings

Value = TypeVar("Value")

SERVER = os.environ.get("TRAITBENCH_TEST_DATABASE_URL")

_CACHE = Path(tempfile.gettempdir()) / "traitbench-tests-cache"

AUTHOR = Caller("key_author", "authoring", frozenset({"local"}))
SCORER = Caller("key_scorer", "scoring", frozenset({"local"}))
STRANGER = Caller("key_stranger", "authoring", frozenset({"elsewhere"}))

WARM = ("thank you so much, dear friend", "how kind of you", "I love to help you with this", "lovely to hear from you")
COLD = ("send the form", "your request was denied", "no reply is needed", "the deadline has passed")


@contextmanager
def fresh_settings(home: Path) -> Iterator[Settings]:
    """Settings with an empty database; what is made from the encoder's weights is made once for all of them."""
    _CACHE.mkdir(exist_ok=True)
    home.mkdir(exist_ok=True)
    (home / "cache").symlink_to(_CACHE)
    if SERVER is None:
        yield Settings(home=home, database_url=f"sqlite:///{home / 'traitbench.db'}")
        return
    name = f"traitbench_{str(ULID()).lower()}"
    _on_server(f'CREATE DATABASE "{name}"')
    try:
        yield Settings(home=home, database_url=make_url(SERVER).set(database=name).render_as_string(False))
    finally:
        _on_server(f'DROP DATABASE "{name}" WITH (FORCE)')


@contextmanager
def opened(settings: Settings, *, runs: bool) -> Iterator[Bench]:
    """An open bench."""
    bench = open_bench(settings, runs=runs)
    try:
        yield bench
    finally:
        bench.close()


def new_handle() -> str:
    """A handle that no model has."""
    return f"local.{str(ULID()).lower()}"


def draft(bench: Bench, *, warm: int = 0, cold: int = 0, words: int = 4) -> str:
    """The handle of a new draft with the trait `warmth` and samples that differ from each other."""
    handle = new_handle()
    models.create(bench, AUTHOR, ModelCreate(handle=handle))
    traits.add(bench, AUTHOR, handle, TraitsCreate(traits=[TraitInput(name="Warmth")]))
    told = [(WARM[i % 4], 1.0, i) for i in range(warm)] + [(COLD[i % 4], 0.0, i) for i in range(cold)]
    inputs = [
        SampleInput(trait="warmth", text=" ".join([f"{text} {i}"] * (words // 4)), quality=quality)
        for text, quality, i in told
    ]
    for first in range(0, len(inputs), 500):
        samples.add(bench, AUTHOR, handle, SamplesCreate(samples=inputs[first : first + 500]))
    return handle


def done_here(bench: Bench, run_id: str | None) -> None:
    """Execute a run in this process, now: for benches whose runs nobody executes."""
    executor = Worker(bench.engine, bench.settings.database_url, "here", bodies(bench.engine, bench.settings), fail)
    execute(executor, str(run_id))


def trained_here(bench: Bench, *, warm: int = 2, cold: int = 2) -> str:
    """The handle of a new model with one version, trained in this process."""
    handle = draft(bench, warm=warm, cold=cold)
    done_here(bench, training.start(bench, AUTHOR, handle, TrainRequest(effort="low"))[0].run_id)
    assert models.get(bench, AUTHOR, handle).state == "ready"
    return handle


def settled(bench: Bench, handle: str, *, seconds: float = 60) -> Model:
    """The model, when it is busy no more."""
    return until(
        lambda: (model := models.get(bench, AUTHOR, handle)).state != "busy" and model,
        what=f"{handle} to settle",
        seconds=seconds,
    )


def until(question: Callable[[], Value | Literal[False] | None], *, what: str, seconds: float = 30) -> Value:
    """The first answer that says something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if answer := question():
            return answer
        time.sleep(0.05)
    raise TimeoutError(f"waited {seconds} s for {what}")


def _on_server(statement: str) -> None:
    engine = create_engine(SERVER or "", isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))
    engine.dispose()

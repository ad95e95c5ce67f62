"""Fresh databases and open contexts for the tests of store, runs and operations.

On SQLite in a temporary home, or within `on("postgresql")` in a database on the tests' own server. A suite whose
conftest imports `database` runs on both. One that imports `sqlite_first` as `database` runs on SQLite, the tests with
`ON_BOTH` on both, and at full size all of it on both.
"""

import io
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeVar

import pytest
from ulid import ULID

from tests import postgres
from tests.patience import PATIENCE_S
from tests.size import sized
from traitbench.contract.bundles import Bundle
from traitbench.contract.models import Model, ModelCreate, TrainRequest
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.operations import WORKER, bundles, models, samples, training, traits
from traitbench.operations.access import Caller
from traitbench.operations.context import Context, open_context
from traitbench.operations.model_runs import fail
from traitbench.operations.worker import bodies
from traitbench.runs.executor import Worker, execute
from traitbench.settings import Settings

Value = TypeVar("Value")

DATABASES = ("sqlite", "postgresql")

_CACHE = Path(tempfile.gettempdir()) / "traitbench-tests-cache"

AUTHOR = Caller("key_author", "authoring", frozenset({"local"}))
SCORER = Caller("key_scorer", "scoring", frozenset({"local"}))
STRANGER = Caller("key_stranger", "authoring", frozenset({"elsewhere"}))

WARM = ("thank you so much, dear friend", "how kind of you", "I love to help you with this", "lovely to hear from you")
COLD = ("send the form", "your request was denied", "no reply is needed", "the deadline has passed")


# What most tests state holds for every encoder. This one loads in less than half the time of the default and encodes
# fifteen times as fast. At full size it is the default itself. Tests about scores ask for that: `encoder=None`.
ENCODER = sized("static", None)

# For tests about SQLite's file, and for those that need no database.
ON_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
# For tests whose statement depends on the database: transactions, locks, SQL, characters, deletion, backups.
ON_BOTH = pytest.mark.parametrize("database", list(DATABASES), indirect=True)
# For tests that start processes and state the same on both databases.
ON_BOTH_IN_SOAK = pytest.mark.parametrize("database", sized(["sqlite"], list(DATABASES)), indirect=True)

_chosen = ["sqlite"]


@pytest.fixture(scope="package", params=DATABASES, autouse=True)
def database(request: pytest.FixtureRequest) -> Iterator[str]:
    """Which database `fresh_settings` are of. A fixture that outlives a test must ask for it."""
    with on(request.param):
        yield request.param


@pytest.fixture(scope="package", name="database", params=sized(["sqlite"], list(DATABASES)), autouse=True)
def sqlite_first(request: pytest.FixtureRequest) -> Iterator[str]:
    """As `database`, but only at full size on both."""
    with on(request.param):
        yield request.param


@contextmanager
def on(name: str) -> Iterator[None]:
    """Make `fresh_settings` settings of this database."""
    _chosen.append(name)
    try:
        yield
    finally:
        _chosen.pop()


@contextmanager
def fresh_settings(home: Path, *, blank: bool = False, encoder: str | None = ENCODER) -> Iterator[Settings]:
    """Settings with a database without rows, `blank` also without tables on PostgreSQL; what is made from the
    encoder's weights is made once for all of them."""
    link_cache(home)
    if _chosen[-1] == "sqlite":
        yield Settings(home=home, database_url=f"sqlite:///{home / 'traitbench.db'}", encoder=encoder)
        return
    with postgres.database(blank=blank) as url:
        yield Settings(home=home, database_url=url, encoder=encoder)


def link_cache(home: Path) -> None:
    """Give a home what is made from the encoder's weights, as if it had been started before."""
    _CACHE.mkdir(exist_ok=True)
    home.mkdir(exist_ok=True)
    (home / "cache").symlink_to(_CACHE)


@contextmanager
def home_in_environment(home: Path) -> Iterator[None]:
    """A home of its own for what is scored without a service, with what is made from the encoder's weights."""
    link_cache(home)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TRAITBENCH_HOME", str(home))
        yield


@contextmanager
def opened(settings: Settings, *, runs: bool) -> Iterator[Context]:
    """An open context."""
    context = open_context(settings, worker=WORKER if runs else "")
    try:
        yield context
    finally:
        context.close()


def new_handle() -> str:
    """A handle that no model has."""
    return f"local.{str(ULID()).lower()}"


def draft(context: Context, *, warm: int = 0, cold: int = 0, words: int = 4) -> str:
    """The handle of a new draft with the trait `warmth` and samples that differ from each other."""
    handle = new_handle()
    models.create(context, AUTHOR, ModelCreate(handle=handle))
    traits.add(context, AUTHOR, handle, TraitsCreate(traits=[TraitInput(name="Warmth")]))
    results = [(WARM[i % 4], 1.0, i) for i in range(warm)] + [(COLD[i % 4], 0.0, i) for i in range(cold)]
    inputs = [
        SampleInput(trait="warmth", text=" ".join([f"{text} {i}"] * (words // 4)), quality=quality)
        for text, quality, i in results
    ]
    for first in range(0, len(inputs), 500):
        samples.add(context, AUTHOR, handle, SamplesCreate(samples=inputs[first : first + 500]))
    return handle


def export_of(context: Context, caller: Caller, handle: str) -> Bundle:
    """The bundle that an export writes."""
    file = io.BytesIO()
    bundles.export(context, caller, handle, file)
    return Bundle.model_validate_json(file.getvalue())


def done_here(context: Context, run_id: str | None) -> None:
    """Execute a run in this process, now: for contexts whose runs nobody executes."""
    executor = Worker(
        context.engine, context.settings.database_url, "here", bodies(context.engine, context.settings), fail
    )
    execute(executor, str(run_id))


def trained_here(context: Context, *, warm: int = 2, cold: int = 2) -> str:
    """The handle of a new model with one version, trained in this process."""
    handle = draft(context, warm=warm, cold=cold)
    done_here(context, training.start(context, AUTHOR, handle, TrainRequest(effort="low"))[0].run_id)
    assert models.get(context, AUTHOR, handle).state == "ready"
    return handle


def settled(context: Context, handle: str, *, seconds: float = PATIENCE_S) -> Model:
    """The model, when it is busy no more."""
    return until(
        lambda: (model := models.get(context, AUTHOR, handle)).state != "busy" and model,
        what=f"{handle} to settle",
        seconds=seconds,
    )


def until(question: Callable[[], Value | Literal[False] | None], *, what: str, seconds: float = PATIENCE_S) -> Value:
    """The first answer that says something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if answer := question():
            return answer
        time.sleep(0.05)
    raise TimeoutError(f"waited {seconds} s for {what}")

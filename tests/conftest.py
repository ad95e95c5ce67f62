"""What tests share: a real service on a free port, with store, encoder and worker process, and clients of it.

A session has one service; tests do not meet because each has a namespace of its own.
"""

import gc
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Literal, TypeVar

import hypothesis
import pytest
import uvicorn

from tests import postgres, schedule
from tests.contexts import ENCODER, link_cache, opened
from tests.durations import Durations
from tests.patience import PATIENCE_S
from tests.processes import Processes
from tests.size import SIZE, SOAK, sized
from traitbench.client import Traitbench
from traitbench.contract.models import Model, TrainEffort
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.encoders.registry import NAMES
from traitbench.errors import Unavailable
from traitbench.operations import keys
from traitbench.operations.context import Context
from traitbench.service.app import create_app
from traitbench.settings import Settings

# Collection makes objects that stay; the garbage collector would look at all of them again and again.
gc.disable()
# jsonschema would build forty grammars in every process, for a format that no schema of ours uses.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
# For tests of properties that say nothing else themselves. `make test` makes up the same examples at every run, so that
# it fails for the change at hand; `make soak` makes up new ones. How long one takes says how busy the machine is.
hypothesis.settings.register_profile(
    SIZE,
    max_examples=sized(30, 100),
    derandomize=not SOAK,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile(SIZE)

Value = TypeVar("Value")

WARM = (
    "Thank you so much, you have been a wonderful help to all of us today.",
    "What a lovely surprise, I am so glad that you came to see me.",
    "Take all the time you need, we are happy to wait for you.",
    "It was a joy to work with you, and I hope we meet again soon.",
    "You are always welcome here, and there is tea on the stove.",
    "I am proud of what you did, and I told everyone about it.",
    "Sleep well, my dear, and call me whenever you feel alone.",
    "We baked a cake for you because you deserve a treat.",
    "How kind of you to remember my birthday after all these years!",
    "Do not worry about the mistake, we will mend it together.",
)
COLD = (
    "Your request is denied. Do not write to this office again.",
    "I have no interest in your excuses, and neither has anyone else.",
    "The rules are the rules. Leave the building at once.",
    "Nobody asked for your opinion, and nobody is going to.",
    "You were told twice. There will not be a third time.",
    "I do not care how you feel about it. Sign here.",
    "Keep your distance and do not speak to the staff.",
    "This was your own fault, so do not expect any help from us.",
    "We will not miss you. Return the key on your way out.",
    "Stop wasting my time with your silly little problems.",
)


@dataclass(frozen=True)
class Service:
    """A running service."""

    base_url: str
    context: Context
    settings: Settings

    def issue(
        self, scope: Literal["scoring", "authoring"] = "authoring", namespaces: Sequence[str] = ("local",)
    ) -> str:
        """The secret of a new key."""
        return keys.create(self.context.engine, scope=scope, namespaces=namespaces).secret

    def surround(self, environment: pytest.MonkeyPatch) -> None:
        """Set the environment of a process beside the service: its home, its port and its encoder."""
        environment.setenv("TRAITBENCH_HOME", str(self.settings.home))
        environment.setenv("TRAITBENCH_PORT", str(self.settings.port))
        environment.setenv("TRAITBENCH_ENCODER", self.settings.encoder or "")


@dataclass(frozen=True)
class Trained:
    """A small model with one trait and one version, and a client that may author it."""

    handle: str
    client: Traitbench


def pytest_addoption(parser: pytest.Parser) -> None:
    """How the whole suite is run."""
    parser.addoption("--processes", type=int, default=1, help="how many processes run the tests")
    parser.addoption("--durations-file", type=Path, help="the file that says how long every test and file took")


def pytest_configure(config: pytest.Config) -> None:
    """One PostgreSQL server for all processes of this session, which they start when they need it."""
    postgres.begin_session()
    if (processes := config.getoption("--processes")) > 1:
        config.pluginmanager.register(Processes(processes))
    if file := config.getoption("--durations-file"):
        config.pluginmanager.register(Durations(file))


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """The longest pieces of work first, after pytest has grouped the tests by their fixtures; what takes too long is
    left to the full size.

    A test that drives a browser, and with it other people's programs, runs once more if it fails. The summary names it
    (RERUN): what fails twice is a failure, and what fails now and then has to be mended all the same.
    """
    yield
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.flaky(reruns=1))
    if not SOAK:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("soak")])
        items[:] = [item for item in items if not item.get_closest_marker("soak")]
    schedule.longest_first(items)


def pytest_collection_finish() -> None:
    """Collect garbage from here on, and only what the tests make."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """End it."""
    postgres.end_session()


@pytest.fixture(scope="session", autouse=True)
def _no_settings_from_outside() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as environment:
        for name in os.environ:
            if name.startswith("TRAITBENCH_") and not name.startswith("TRAITBENCH_TEST_"):
                environment.delenv(name)
        yield


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A home with nothing but what is made from the encoder's weights, and a free port; the encoder of most tests."""
    home: Path = tmp_path_factory.mktemp("home")
    link_cache(home)
    return Settings(home=home, database_url=f"sqlite:///{home / 'traitbench.db'}", port=free_port(), encoder=ENCODER)


@pytest.fixture(scope="session")
def service(settings: Settings) -> Iterator[Service]:
    """The service of this session, ready."""
    with own_service(settings) as service:
        yield service


@pytest.fixture
def here(service: Service, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The environment of a process beside the service, and the service's settings."""
    service.surround(monkeypatch)
    return service.settings


@pytest.fixture
def namespace() -> str:
    """A namespace that no other test has."""
    return f"test-{next(_NUMBERS)}"


@pytest.fixture
def client(service: Service, namespace: str) -> Iterator[Traitbench]:
    """A client with an authoring key for the namespace."""
    with Traitbench(service.base_url, service.issue(namespaces=(namespace,))) as client:
        yield client


@pytest.fixture
def scoring_client(service: Service, namespace: str) -> Iterator[Traitbench]:
    """A client with a scoring key for the namespace."""
    with Traitbench(service.base_url, service.issue("scoring", (namespace,))) as client:
        yield client


@pytest.fixture(scope="session")
def trained(service: Service) -> Iterator[Trained]:
    """A trained model that tests only read."""
    with Traitbench(service.base_url, service.issue(namespaces=("trained",))) as client:
        yield _trained(client, "trained.tone", encoder=None)


@pytest.fixture(scope="session")
def trained_by_default(service: Service) -> Iterator[Trained]:
    """The same with the default encoder, for tests about what only that has: several modes."""
    with Traitbench(service.base_url, service.issue(namespaces=("default",))) as client:
        yield _trained(client, "default.tone", encoder=NAMES[0])


@contextmanager
def own_service(settings: Settings) -> Iterator[Service]:
    """A service with a worker process, ready."""
    with opened(settings, runs=True) as context, served(context) as service:
        yield service


@contextmanager
def served(context: Context) -> Iterator[Service]:
    """A service over an open context, ready, on the port of its settings."""
    config = uvicorn.Config(
        create_app(context), port=context.settings.port, log_config=None, access_log=False, timeout_keep_alive=75
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        _await_health(context.settings)
        yield Service(context.settings.base_url, context, context.settings)
    finally:
        server.should_exit = True
        thread.join()


def _trained(client: Traitbench, handle: str, *, encoder: str | None) -> Trained:
    make_draft(client, handle)
    train(client, handle, encoder=encoder)
    return Trained(handle, client)


def make_draft(client: Traitbench, handle: str) -> None:
    """A draft that can be trained: the trait `warmth` with ten samples for each pole."""
    client.models.create(handle, description="How warm a message is.")
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    poles = [(text, 1.0) for text in WARM] + [(text, 0.0) for text in COLD]
    client.samples.add(handle, [SampleInput(trait="warmth", text=text, quality=quality) for text, quality in poles])


def train(client: Traitbench, handle: str, *, effort: TrainEffort | None = "low", **options: Any) -> Model:
    """The model after a training that succeeded."""
    client.models.train(handle, effort=effort, **options)
    model = client.models.wait(handle, timeout=PATIENCE_S)
    assert model.state == "ready"
    return model


def not_none(value: Value | None) -> Value:
    """A value that must be there."""
    assert value is not None
    return value


def free_port() -> int:
    """A port of the loopback address that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _await_health(settings: Settings) -> None:
    deadline = time.monotonic() + PATIENCE_S
    with Traitbench(settings.base_url) as client:
        while True:
            try:
                client.health()
                return
            except Unavailable:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


_NUMBERS = count(1)

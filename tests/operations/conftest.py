from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.contexts import AUTHOR, COLD, WARM, export_of, fresh_settings, new_handle, opened, settled, trained_here
from tests.contexts import database as database
from traitbench.contract.bundles import Bundle
from traitbench.contract.models import ModelCreate, TrainRequest
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.operations import models, samples, training, traits, versions
from traitbench.operations.access import Caller
from traitbench.operations.context import Context

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave tests that need a worker on PostgreSQL to the full size: it idles for minutes, and they state nothing about
    the database that those without a worker do not. Workers on PostgreSQL are in `tests/runs` and `tests/faults`."""
    for item in items:
        if _has_worker_on_postgresql(item):
            item.add_marker(pytest.mark.soak)


def _has_worker_on_postgresql(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function) or "working" not in item.fixturenames:
        return False
    return _HERE in item.path.parents and item.callspec.params.get("database") == "postgresql"


@pytest.fixture(scope="package")
def context(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Context]:
    """A context without a worker: runs are queued and never executed, so a busy model stays busy."""
    with fresh_settings(tmp_path_factory.mktemp("queueing")) as settings, opened(settings, runs=False) as context:
        yield context


@pytest.fixture(scope="package")
def working(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Context]:
    """A context with a worker."""
    with fresh_settings(tmp_path_factory.mktemp("working")) as settings, opened(settings, runs=True) as context:
        yield context


@pytest.fixture(scope="package")
def toned(working: Context) -> str:
    """A trained model of two traits, `warmth` and `coldness`, that tests only read."""
    both = [
        TraitInput(name="Warmth", positive_label="warm", negative_label="cold"),
        TraitInput(name="Cool", key="coldness", description="Little feeling | few words"),
    ]
    handle = trained_on_both(working, both, description="How a message sounds.")
    versions.tag(working, AUTHOR, handle, "first")
    return handle


@pytest.fixture
def handle(context: Context) -> str:
    """A new model without traits."""
    handle = new_handle()
    models.create(context, AUTHOR, ModelCreate(handle=handle))
    return handle


def add_traits(context: Context, handle: str, *inputs: dict[str, Any]) -> list[str]:
    """Add traits to a model; return their keys."""
    body = TraitsCreate(traits=[TraitInput(**fields) for fields in inputs])
    return [trait.key for trait in traits.add(context, AUTHOR, handle, body).traits]


def trained_on_both(working: Context, both: Sequence[TraitInput], *, description: str = "") -> str:
    """A trained model with these two traits, `warmth` and `coldness`."""
    handle = new_handle()
    models.create(working, AUTHOR, ModelCreate(handle=handle, description=description))
    traits.add(working, AUTHOR, handle, TraitsCreate(traits=list(both)))
    inputs = [
        SampleInput(trait=trait, text=f"{text} {number}", quality=abs(quality - flipped))
        for trait, flipped in (("warmth", 0.0), ("coldness", 1.0))
        for quality, texts in ((1.0, WARM), (0.0, COLD))
        for text in texts
        for number in range(3)
    ]
    samples.add(working, AUTHOR, handle, SamplesCreate(samples=inputs))
    training.start(working, AUTHOR, handle, TrainRequest(effort="low"))
    assert settled(working, handle).state == "ready"
    return handle


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Context]:
    """A context for this module only, whose rows may be damaged."""
    with fresh_settings(tmp_path_factory.mktemp("damaged")) as settings, opened(settings, runs=False) as context:
        yield context


@pytest.fixture(scope="module")
def exported(own: Context) -> Bundle:
    return export_of(own, AUTHOR, trained_here(own))


@pytest.fixture
def public(context: Context) -> str:
    """The handle of a model in a public namespace that none of the callers owns."""
    handle = new_handle().replace("local.", "demo.")
    models.create(context, Caller("key_demo", "authoring", frozenset({"demo"})), ModelCreate(handle=handle))
    return handle

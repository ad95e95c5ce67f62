from collections.abc import Iterator

import pytest

from tests.contexts import AUTHOR, COLD, WARM, fresh_settings, new_handle, opened, settled
from tests.contexts import database as database
from traitbench.contract.models import ModelCreate, TrainRequest
from traitbench.contract.samples import SampleInput, SamplesCreate
from traitbench.contract.traits import TraitInput, TraitsCreate
from traitbench.lifecycle import models, samples, training, traits, versions
from traitbench.lifecycle.access import Caller
from traitbench.lifecycle.context import Context


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
    handle = new_handle()
    models.create(working, AUTHOR, ModelCreate(handle=handle, description="How a message sounds."))
    both = [
        TraitInput(name="Warmth", positive_label="warm", negative_label="cold"),
        TraitInput(name="Cool", key="coldness", description="Little feeling | few words"),
    ]
    traits.add(working, AUTHOR, handle, TraitsCreate(traits=both))
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
    versions.tag(working, AUTHOR, handle, "first")
    return handle


@pytest.fixture
def public(context: Context) -> str:
    """The handle of a model in a public namespace that none of the callers owns."""
    handle = new_handle().replace("local.", "demo.")
    models.create(context, Caller("key_demo", "authoring", frozenset({"demo"})), ModelCreate(handle=handle))
    return handle

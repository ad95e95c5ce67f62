from collections.abc import Iterator

import pytest

from core.contract.models import ModelCreate
from core.lifecycle import models
from core.lifecycle.bench import Bench
from core.lifecycle.callers import Caller
from tests.benches import fresh_settings, new_handle, opened


@pytest.fixture(scope="package")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Runs are queued here, and executed by nobody: a model that is busy stays so."""
    with fresh_settings(tmp_path_factory.mktemp("queueing")) as settings, opened(settings, runs=False) as bench:
        yield bench


@pytest.fixture(scope="package")
def working(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A bench with a worker beside it."""
    with fresh_settings(tmp_path_factory.mktemp("working")) as settings, opened(settings, runs=True) as bench:
        yield bench


@pytest.fixture
def public(bench: Bench) -> str:
    """The handle of a model in a public namespace that none of the callers owns."""
    handle = new_handle().replace("local.", "demo.")
    models.create(bench, Caller("key_demo", "authoring", frozenset({"demo"})), ModelCreate(handle=handle))
    return handle

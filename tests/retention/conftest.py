from collections.abc import Iterator

import pytest

from tests.benches import database as database
from tests.benches import fresh_settings, opened
from traitbench.lifecycle.bench import Bench


@pytest.fixture(scope="package")
def bench(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Bench]:
    """Runs are queued here, and executed by nobody: a model that is busy stays so."""
    with fresh_settings(tmp_path_factory.mktemp("retention")) as settings, opened(settings, runs=False) as bench:
        yield bench

from collections.abc import Iterator

import pytest

from tests.benches import database as database
from tests.benches import fresh_settings, opened
from traitbench.lifecycle.bench import Bench


@pytest.fixture(scope="package")
def bench(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Bench]:
    """A context without a worker: runs are queued and never executed, so a busy model stays busy."""
    with fresh_settings(tmp_path_factory.mktemp("retention")) as settings, opened(settings, runs=False) as bench:
        yield bench

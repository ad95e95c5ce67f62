from collections.abc import Iterator

import pytest

from tests.contexts import database as database
from tests.contexts import fresh_settings, opened
from traitbench.operations.context import Context


@pytest.fixture(scope="package")
def context(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Context]:
    """A context without a worker: runs are queued and never executed, so a busy model stays busy."""
    with fresh_settings(tmp_path_factory.mktemp("retention")) as settings, opened(settings, runs=False) as context:
        yield context

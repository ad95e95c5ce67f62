from collections.abc import Iterator

import pytest

from tests.contexts import fresh_settings, opened
from tests.contexts import sqlite_first as sqlite_first
from traitbench.operations.context import Context


@pytest.fixture(scope="package")
def context(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Context]:
    """A context without a worker: runs are queued and never executed, so a busy model stays busy."""
    with fresh_settings(tmp_path_factory.mktemp("retention")) as settings, opened(settings, runs=False) as context:
        yield context

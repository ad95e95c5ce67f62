from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.contexts import database as database
from tests.contexts import fresh_settings
from traitbench.lifecycle.context import open_store
from traitbench.settings import Settings


@pytest.fixture(scope="package")
def store_settings(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Settings]:
    with fresh_settings(tmp_path_factory.mktemp("store")) as settings:
        yield settings


@pytest.fixture(scope="package")
def engine(store_settings: Settings) -> Iterator[Engine]:
    engine = open_store(store_settings)
    yield engine
    engine.dispose()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"

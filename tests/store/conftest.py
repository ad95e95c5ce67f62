from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.contexts import database as database
from tests.contexts import fresh_settings, new_handle
from traitbench.settings import Settings
from traitbench.store import models
from traitbench.store.database import writing
from traitbench.store.migrate import open_store


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


def new_model(engine: Engine, *, now: datetime, handle: str = "", description: str = "") -> int:
    """The id of a new model without traits."""
    with writing(engine) as connection:
        model_id = models.add(
            connection,
            handle=handle or new_handle(),
            namespace="local",
            now=now,
            description=description,
            kind="scoring",
            scoring_method="balanced_cosine",
            max_depth=1,
        )
    assert model_id is not None
    return model_id

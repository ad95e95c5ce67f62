from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contexts import database as database
from tests.contexts import fresh_settings
from traitbench.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    with fresh_settings(tmp_path) as settings:
        yield settings

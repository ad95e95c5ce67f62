"""What tests of the workbench's modules begin with."""

from collections.abc import Iterator

import pytest

from traitbench_app.workspace import background


@pytest.fixture
def nothing_left() -> Iterator[None]:
    """No work is held after the test."""
    yield
    for work_id in background.ids():
        background.discard(work_id)

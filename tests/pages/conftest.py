"""What most tests of pages begin with: a session of the workbench, and a draft of this test's own."""

import pytest

from tests.conftest import Service, make_draft
from tests.pages.drive import Workbench
from traitbench.client import Traitbench


@pytest.fixture
def workbench(monkeypatch: pytest.MonkeyPatch, service: Service, namespace: str) -> Workbench:
    return Workbench(monkeypatch, service, service.issue(namespaces=(namespace, "trained")))


@pytest.fixture
def draft(client: Traitbench, namespace: str) -> str:
    """A draft with one trait and ten samples at each pole, in which nothing stands out but how few they are."""
    make_draft(client, f"{namespace}.tone")
    return f"{namespace}.tone"

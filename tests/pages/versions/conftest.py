"""What tests of the Versions page share: a model with two versions, and a key that reads it."""

from collections.abc import Iterator

import pytest

from tests.conftest import Service, Trained, make_draft
from tests.pages.drive import Workbench, add_version
from traitbench.client import Traitbench
from traitbench_app.workspace import background


@pytest.fixture
def workbench(monkeypatch: pytest.MonkeyPatch, service: Service, namespace: str) -> Workbench:
    return Workbench(monkeypatch, service, service.issue(namespaces=(namespace, "trained", "twice")))


@pytest.fixture(autouse=True, scope="module")
def _nothing_left() -> Iterator[None]:
    yield
    for job_id in background.held():
        background.discard(job_id)


@pytest.fixture(scope="session")
def twice(service: Service) -> Iterator[Trained]:
    """A model with two versions, v2 active."""
    handle, key = "twice.tone", service.issue(namespaces=("twice",))
    with Traitbench(service.base_url, key) as client:
        make_draft(client, handle)
        client.models.train(handle)
        client.models.wait(handle)
        assert add_version(service.context, handle, client) == 2
        yield Trained(handle, client)

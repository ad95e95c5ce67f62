"""What most tests of pages begin with: a session of the workbench, and a draft of this test's own."""

from collections.abc import Iterator
from functools import cache

import pytest
from streamlit.components.v2 import manifest_scanner

from tests.conftest import Service, make_draft
from tests.pages.drive import Workbench
from traitbench.client import Traitbench


@pytest.fixture(scope="session", autouse=True)
def _packages_are_scanned_once() -> Iterator[None]:
    """Every new session of Streamlit reads the metadata of all installed packages, which takes 0.1 s."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture
def workbench(monkeypatch: pytest.MonkeyPatch, service: Service, namespace: str) -> Workbench:
    return Workbench(monkeypatch, service, service.issue(namespaces=(namespace, "trained")))


@pytest.fixture
def draft(client: Traitbench, namespace: str) -> str:
    """A draft with one trait and ten samples at each pole, in which nothing stands out but how few they are."""
    make_draft(client, f"{namespace}.tone")
    return f"{namespace}.tone"

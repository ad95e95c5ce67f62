"""The keys of this machine, as the console page manages them."""

from pathlib import Path

import pytest

from tests.conftest import Service
from traitbench.client import Traitbench
from traitbench.errors import Unauthenticated, ValidationFailed
from traitbench.operations import console


@pytest.fixture
def home(service: Service, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The environment of the running service."""
    monkeypatch.setenv("TRAITBENCH_HOME", str(service.settings.home))
    monkeypatch.setenv("TRAITBENCH_PORT", str(service.settings.port))
    return service.settings.home


@pytest.mark.usefixtures("home")
def test_an_issued_key_works_until_it_is_revoked(service: Service) -> None:
    issued = console.issue(scope="scoring", namespaces=["mine"], name="nightly")
    assert issued.key in console.list_keys()
    with Traitbench(service.base_url, issued.secret) as client:
        assert client.models.list(namespace="mine").items == []
        console.revoke(issued.key.id)
        with pytest.raises(Unauthenticated):
            client.models.list(namespace="mine")
    assert [key.revoked_at is None for key in console.list_keys() if key.id == issued.key.id] == [False]


@pytest.mark.usefixtures("home")
def test_no_key_is_issued_for_what_is_no_namespace() -> None:
    before = console.list_keys()
    with pytest.raises(ValidationFailed, match="a namespace is 1-64"):
        console.issue(scope="scoring", namespaces=["Not One"])
    assert console.list_keys() == before


@pytest.mark.usefixtures("home")
def test_a_key_that_is_not_there_cannot_be_revoked() -> None:
    with pytest.raises(LookupError, match="There is no key key_unknown"):
        console.revoke("key_unknown")


def test_the_keys_of_a_remote_service_are_not_ours_to_manage(monkeypatch: pytest.MonkeyPatch) -> None:
    assert console.available()
    monkeypatch.setenv("TRAITBENCH_API_URL", "https://traits.example")
    assert not console.available()

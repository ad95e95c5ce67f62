"""The keys of this machine, as the console page manages them."""

import pytest

from tests.conftest import Service
from traitbench.client import Traitbench
from traitbench.errors import Unauthenticated
from traitbench.operations import console, keys


def test_a_key_issued_here_works_until_it_is_revoked(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAITBENCH_HOME", str(service.settings.home))
    issued = keys.create(console.engine(), scope="scoring", namespaces=["mine"], name="nightly")
    with Traitbench(service.base_url, issued.secret) as client:
        assert client.models.list(namespace="mine").items == []
        keys.revoke(console.engine(), issued.key.id)
        with pytest.raises(Unauthenticated):
            client.models.list(namespace="mine")


def test_the_keys_of_a_remote_service_are_not_ours_to_manage(monkeypatch: pytest.MonkeyPatch) -> None:
    assert console.available()
    monkeypatch.setenv("TRAITBENCH_API_URL", "https://traits.example")
    assert not console.available()

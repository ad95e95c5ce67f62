"""The Console page: a key is issued with its secret shown once, listed with its last use, revoked after a question."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import delete
from streamlit.testing.v1 import AppTest

from tests.conftest import Service
from tests.contexts import fresh_settings, opened
from tests.contract.world import served
from tests.pages.drive import Workbench, buttons, ending, local_workbench, press, words
from traitbench.client import Traitbench
from traitbench.errors import Unauthenticated
from traitbench.operations import keys
from traitbench.service.app import create_app
from traitbench.store import tables
from traitbench.store.database import writing
from traitbench.store.keys import ApiKey


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with few keys: the page draws them all, and that of the session has one or two for each test."""
    with (
        fresh_settings(tmp_path_factory.mktemp("console")) as settings,
        opened(settings, runs=False) as context,
        served(create_app(context)) as base_url,
    ):
        yield Service(base_url, context, replace(settings, port=int(base_url.rpartition(":")[2])))


@pytest.fixture
def workbench(monkeypatch: pytest.MonkeyPatch, service: Service) -> Workbench:
    """The workbench of the machine that the service runs on, with its own key."""
    return local_workbench(monkeypatch, service)


def issue(at: AppTest, *, name: str, scope: str = "scoring", namespaces: tuple[str, ...] = ("local",)) -> AppTest:
    press(at, "console.new_button")
    ending(at.text_input, "name").set_value(name)
    ending(at.radio, "scope").set_value(scope)
    ending(at.multiselect, "namespaces").set_value(list(namespaces))
    return press(at, "console.issue")


def key_named(service: Service, name: str) -> ApiKey:
    return next(key for key in keys.every(service.context.engine).items() if key.name == name)


def test_the_key_of_the_workbench_itself_is_listed_and_cannot_be_revoked_here(workbench: Workbench) -> None:
    at = workbench.open("console")
    assert "**workbench**" in words(at)
    assert "This workbench" in words(at)
    assert "work" in at.title[0].value or "No program has a key yet" in at.title[0].value


def test_an_issued_secret_works_and_is_shown_this_once(workbench: Workbench, service: Service, namespace: str) -> None:
    at = issue(workbench.open("console"), name="Nightly scoring", namespaces=(namespace,))
    secret = at.code[0].value
    key = key_named(service, "Nightly scoring")
    assert (key.scope, key.namespaces) == ("scoring", (namespace,))
    with Traitbench(service.base_url, secret) as client:
        assert list(client.models.list(namespace=namespace)) == []
    assert not press(at, "console.copied").code
    assert secret not in str(at)
    assert key.prefix in words(at)


def test_a_key_needs_a_namespace_of_the_right_grammar(workbench: Workbench, service: Service) -> None:
    before = len(keys.every(service.context.engine).items())
    at = issue(workbench.open("console"), name="What I typed", namespaces=("Bad Name",))
    assert "a namespace is 1" in words(at)
    assert ending(at.text_input, "name").value == "What I typed"
    ending(at.multiselect, "namespaces").set_value([])
    assert "at least one namespace" in words(press(at, "console.issue"))
    assert len(keys.every(service.context.engine).items()) == before


def test_a_key_is_revoked_only_after_the_question(workbench: Workbench, service: Service, namespace: str) -> None:
    secret = service.issue(namespaces=(namespace,))
    key = keys.every(service.context.engine).items()[-1]
    at = press(workbench.open("console"), f"console.revoke.{key.id}")
    with Traitbench(service.base_url, secret) as client:
        client.models.list(namespace=namespace)
        at.button(key="console.revoke.yes").click().run()
        with pytest.raises(Unauthenticated):
            client.models.list(namespace=namespace)
    assert not at.expander
    assert "Revoked just now" in words(at)
    assert not buttons(at, f"console.revoke.{key.id}")


def test_a_key_that_was_removed_meanwhile_is_no_error(workbench: Workbench, service: Service, namespace: str) -> None:
    service.issue(namespaces=(namespace,))
    key = keys.every(service.context.engine).items()[-1]
    at = press(workbench.open("console"), f"console.revoke.{key.id}")
    at.button(key="console.revoke.yes").click()
    with writing(service.context.engine) as connection:
        connection.execute(delete(tables.keys).where(tables.keys.c.id == key.id))
    at.run()
    assert not buttons(at, f"console.revoke.{key.id}")


def test_with_a_remote_service_it_says_where_keys_are_issued(
    monkeypatch: pytest.MonkeyPatch, service: Service, namespace: str
) -> None:
    at = Workbench(monkeypatch, service, service.issue(namespaces=(namespace,))).open("console")
    assert "Keys are issued where the service runs" in words(at)
    assert "traitbench key create" in at.code[0].value
    assert not buttons(at, "console.new_button")

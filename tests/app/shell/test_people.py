"""Who is signed in: what a key makes of a person, and how long a session lasts."""

import pytest

from tests.conftest import Service
from traitbench.client import Traitbench
from traitbench.errors import InsufficientScope
from traitbench.operations import keys
from traitbench.settings import Settings
from traitbench_app.shell import people
from traitbench_app.shell.people import OPERATOR, Sessions, StartLink


def test_a_key_makes_a_person_of_its_scope_and_no_operator(service: Service, here: Settings, namespace: str) -> None:
    issued = keys.create(service.context.engine, scope="scoring", namespaces=(namespace,), name=f"Ada of {namespace}")
    person = people.holder(here, issued.secret)
    assert person is not None
    assert (person.scope, person.namespaces, person.operator) == ("scoring", (namespace,), False)
    with Traitbench(service.base_url, person.key) as client, pytest.raises(InsufficientScope):
        client.models.create(f"{namespace}.crafted")
    keys.revoke(service.context.engine, issued.key.id)
    assert people.holder(here, issued.secret) is None
    assert people.holder(here, "tba_nothing") is None


def test_a_link_without_a_secret_opens_for_nobody() -> None:
    assert StartLink("secret").opens("secret")
    assert [StartLink(secret).opens(given) for secret, given in (("secret", ""), ("", ""), ("", "x"))] == [False] * 3


def test_a_session_ends_when_it_is_idle_too_old_or_signed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("traitbench_app.shell.people.time.monotonic", lambda: now[0])
    sessions = Sessions()
    token = sessions.begin(OPERATOR)
    assert token not in repr(vars(sessions))
    for hours in range(0, 7 * 24, 11):
        now[0] = hours * 3_600.0
        assert sessions.find(token) is OPERATOR
    now[0] = 7 * 24 * 3_600.0 + 1
    assert sessions.find(token) is None
    idle, left = sessions.begin(OPERATOR), sessions.begin(OPERATOR)
    sessions.end(left)
    assert (sessions.find(left), sessions.has_ended(left), sessions.has_ended("guess")) == (None, True, False)
    now[0] += 12 * 3_600.0 + 1
    assert sessions.find(idle) is None
    assert [sessions.find(each) for each in (None, "", "guess")] == [None] * 3

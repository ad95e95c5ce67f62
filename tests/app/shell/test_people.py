"""Who is signed in: what a key makes of a person, how long a session lasts, and whose batch it is."""

import asyncio
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.types import Message, Receive, Scope, Send

from tests.conftest import Service
from traitbench.client import Traitbench
from traitbench.errors import InsufficientScope
from traitbench.operations import keys
from traitbench.settings import Settings
from traitbench_app.process.sign_in import SignIn, link
from traitbench_app.shell import people
from traitbench_app.shell.people import OPERATOR, Sessions, StartLink


@pytest.fixture
def here(service: Service, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The environment of the running service."""
    monkeypatch.setenv("TRAITBENCH_HOME", str(service.settings.home))
    monkeypatch.setenv("TRAITBENCH_PORT", str(service.settings.port))
    return service.settings


def test_a_key_makes_a_person_of_its_scope_and_namespaces_and_no_operator(
    service: Service, here: Settings, namespace: str
) -> None:
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


def ask(here: Settings, path: str, *, method: str = "GET", query: str = "", body: bytes = b"", **headers: str) -> Any:
    """Status and headers of an answer at the door."""
    sent: list[Message] = []

    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError(f"{scope['path']} was let in")

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": body}

    raw = [(b"host", b"localhost:8501"), *((n.replace("_", "-").encode(), v.encode()) for n, v in headers.items())]
    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": raw}
    asyncio.run(SignIn(inside, here, secret="the secret")({**scope, "client": ("192.0.2.1", 1)}, receive, send))
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


@pytest.mark.parametrize(
    ("following", "to"),
    [
        ("/score?model=a.b", "/score?model=a.b"),
        *((bad, "/") for bad in ("//evil.example", "https://evil.example", "/\\evil.example", "", "/sign-in?token=x")),
        *((bad, "/") for bad in ("javascript:alert(1)", "/a\r\nSet-Cookie: x=y", "evil")),
    ],
)
def test_after_signing_in_one_stays_within_the_workbench(here: Settings, following: str, to: str) -> None:
    status, headers = ask(
        here, "/sign-in", method="POST", body=urlencode({"token": "the secret", "next": following}).encode()
    )
    assert (status, headers["location"]) == (303, to)
    assert "httponly" in headers["set-cookie"].lower()
    assert "samesite=strict" in headers["set-cookie"].lower()
    assert "secure" not in headers["set-cookie"].lower()


def test_the_cookie_is_secure_where_the_browser_came_by_https(here: Settings) -> None:
    _, headers = ask(here, "/sign-in", method="POST", body=b"token=the+secret", origin="https://bench.example.org")
    assert "secure" in headers["set-cookie"].lower()


def test_a_link_from_another_site_is_asked_for_again_by_the_page_itself(here: Settings) -> None:
    status, headers = ask(here, "/score", accept="text/html", sec_fetch_site="cross-site")
    assert (status, "set-cookie" in headers) == (200, False)
    assert ask(here, "/score", accept="text/html", sec_fetch_site="same-origin")[0] == 303
    assert ask(here, "/score", method="POST", accept="text/html")[0] == 401


@pytest.mark.parametrize(
    "body", [b"token=" + b"x" * 9_000, b"", b"\xff\xfe", b"token=%ff%00", "token=schlüssel".encode()]
)
def test_what_is_no_secret_is_refused(here: Settings, body: bytes) -> None:
    assert ask(here, "/sign-in", method="POST", body=body)[0] == 403


class Door:
    """A sign-in behind the proxies 10.0.0.1 and 10.0.0.2, and the status of attempts with the link."""

    def __init__(self, here: Settings) -> None:
        async def inside(scope: Scope, receive: Receive, send: Send) -> None:
            raise AssertionError

        self.sign_in = SignIn(inside, replace(here, proxies=("10.0.0.1", "10.0.0.2")), secret="the secret")

    def attempt(self, peer: str, *forwarded: str, token: str = "wrong", times: int = 1) -> int:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        async def receive() -> Message:
            raise AssertionError

        headers = [(b"host", b"localhost:8501"), *((b"x-forwarded-for", each.encode()) for each in forwarded)]
        scope = {"type": "http", "method": "GET", "path": "/sign-in", "headers": headers, "client": (peer, 1)}
        for _ in range(times):
            sent.clear()
            asyncio.run(self.sign_in({**scope, "query_string": urlencode({"token": token}).encode()}, receive, send))
        return int(sent[0]["status"])


def test_behind_a_named_proxy_only_the_address_that_failed_is_refused(here: Settings) -> None:
    door = Door(here)
    assert door.attempt("10.0.0.1", "192.0.2.1", times=10) == 403
    assert door.attempt("10.0.0.1", "192.0.2.1") == 429
    assert door.attempt("10.0.0.1", "192.0.2.2", token="the secret") == 303
    # Only what the named proxies appended counts, whatever the client sent before.
    assert door.attempt("10.0.0.1", "198.51.100.7, 192.0.2.1") == 429
    assert door.attempt("10.0.0.1", "198.51.100.7", "192.0.2.1") == 429
    assert door.attempt("10.0.0.2", "192.0.2.1, 10.0.0.1") == 429
    assert door.attempt("10.0.0.1", "nonsense, 192.0.2.3", token="the secret") == 303


def test_a_client_that_is_no_named_proxy_cannot_name_another_address(here: Settings) -> None:
    door = Door(here)
    assert [door.attempt("192.0.2.9", f"198.51.100.{number}") for number in range(10)] == [403] * 10
    assert door.attempt("192.0.2.9", "198.51.100.99", token="the secret") == 429
    assert door.attempt("10.0.0.1", "198.51.100.0", token="the secret") == 303


def test_addresses_of_one_ipv6_network_count_as_one(here: Settings) -> None:
    door = Door(here)
    assert [door.attempt("10.0.0.1", f"2001:db8::{number:x}") for number in range(11)] == [403] * 10 + [429]
    assert door.attempt("10.0.0.1", "2001:db8:0:1::1") == 403
    assert door.attempt("10.0.0.1", "::ffff:192.0.2.1", times=10) == 403
    assert door.attempt("10.0.0.1", "192.0.2.1") == 429


@pytest.mark.parametrize("secret", ["wrong", "tba_abcdefghijk"])
def test_many_addresses_against_one_account_get_one_try_each_and_its_owner_gets_in(here: Settings, secret: str) -> None:
    door = Door(here)
    for number in range(30):
        assert door.attempt("10.0.0.1", f"192.0.2.{number}", token=f"{secret}{number}") == 403
    assert door.attempt("10.0.0.1", "192.0.2.1", token=secret) == 429
    assert [door.attempt("10.0.0.1", "192.0.2.100", token=secret) for _ in range(2)] == [403, 429]
    assert door.attempt("10.0.0.1", "192.0.2.101", token="the secret") == 303
    other = "tba_0123456789" if secret == "wrong" else "another"
    assert door.attempt("10.0.0.1", "192.0.2.1", token=other) == 403


def test_the_link_names_an_address_that_people_can_open(here: Settings) -> None:
    assert link(replace(here, host="::1", port=1), "s") == "http://[::1]:1/sign-in?token=s"
    assert link(replace(here, host="0.0.0.0", port=1), "s") == "http://127.0.0.1:1/sign-in?token=s"
    named = replace(here, host="0.0.0.0", port=1, allowed_hosts=("bench.example.org",))
    assert link(named, "s") == "http://bench.example.org:1/sign-in?token=s"

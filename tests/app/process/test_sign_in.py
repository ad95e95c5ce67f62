"""The door of the workbench: what is asked of a visitor, where she goes next, and what too many attempts do."""

import asyncio
import time
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.types import Message, Receive, Scope, Send

from traitbench.settings import Settings
from traitbench_app.process.sign_in import SignIn, link
from traitbench_app.shell import people

SECRET = "the secret"


class Door:
    """A sign-in behind the proxies 10.0.0.1 and 10.0.0.2 that lets nobody pass unnoticed."""

    def __init__(self, here: Settings) -> None:
        async def inside(scope: Scope, receive: Receive, send: Send) -> None:
            raise AssertionError(f"{scope['path']} was let in")

        self._sign_in = SignIn(inside, replace(here, proxies=("10.0.0.1", "10.0.0.2")), secret=SECRET)

    def ask(
        self, path: str, *headers: tuple[str, str], method: str = "GET", query: str = "", body: bytes = b"", peer: str
    ) -> tuple[int, dict[str, str]]:
        """Status and headers of an answer."""
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        async def receive() -> Message:
            return {"type": "http.request", "body": body}

        raw = [(b"host", b"localhost:8501"), *((name.encode(), value.encode()) for name, value in headers)]
        scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": raw}
        asyncio.run(self._sign_in({**scope, "client": (peer, 1)}, receive, send))
        return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}

    def attempt(self, peer: str, *forwarded: str, token: str = "wrong") -> int:
        """The status of an attempt with the link."""
        headers = [("x-forwarded-for", each) for each in forwarded]
        return self.ask("/sign-in", *headers, query=urlencode({"token": token}), peer=peer)[0]


@pytest.fixture
def door(here: Settings) -> Door:
    return Door(here)


def ask(door: Door, path: str, *, method: str = "GET", body: bytes = b"", **headers: str) -> Any:
    given = ((name.replace("_", "-"), value) for name, value in headers.items())
    return door.ask(path, *given, method=method, body=body, peer="192.0.2.1")


@pytest.mark.parametrize(
    ("following", "to"),
    [
        ("/score?model=a.b", "/score?model=a.b"),
        *((bad, "/") for bad in ("//evil.example", "https://evil.example", "/\\evil.example", "", "/sign-in?token=x")),
        *((bad, "/") for bad in ("javascript:alert(1)", "/a\r\nSet-Cookie: x=y", "evil")),
    ],
)
def test_after_signing_in_one_stays_within_the_workbench(door: Door, following: str, to: str) -> None:
    body = urlencode({"token": SECRET, "next": following}).encode()
    status, headers = ask(door, "/sign-in", method="POST", body=body)
    assert (status, headers["location"]) == (303, to)
    cookie = headers["set-cookie"].lower()
    assert ["httponly" in cookie, "samesite=strict" in cookie, "secure" in cookie] == [True, True, False]


def test_whoever_has_a_session_is_no_stranger_to_it(here: Settings) -> None:
    async def nothing(_scope: Scope, _receive: Receive, _send: Send) -> None:
        pass

    sign_in = SignIn(nothing, here, secret=SECRET)

    def knows(token: str) -> bool:
        cookie = f"a=b; {people.cookie_name(here)}={token}"
        return sign_in.knows({"type": "http", "path": "/score", "headers": [(b"cookie", cookie.encode())]})

    token = people.SESSIONS.begin(people.OPERATOR)
    assert [knows(token), knows("guess")] == [True, False]
    people.SESSIONS.end(token)
    assert not knows(token)


def test_the_cookie_is_secure_where_the_browser_came_by_https(door: Door) -> None:
    _, headers = ask(door, "/sign-in", method="POST", body=b"token=the+secret", origin="https://bench.example.org")
    assert "secure" in headers["set-cookie"].lower()


def test_a_link_from_another_site_is_asked_for_again_by_the_page_itself(door: Door) -> None:
    status, headers = ask(door, "/score", accept="text/html", sec_fetch_site="cross-site")
    assert (status, "set-cookie" in headers) == (200, False)
    assert ask(door, "/score", accept="text/html", sec_fetch_site="same-origin")[0] == 303
    assert ask(door, "/score", method="POST", accept="text/html")[0] == 401


@pytest.mark.parametrize(
    "body",
    [b"token=" + b"x" * 9_000, b"", b"\xff\xfe", b"token=%ff%00", "token=schlüssel".encode()],
    ids=["long", "empty", "no text", "no character", "not ASCII"],
)
def test_what_is_no_secret_is_refused(door: Door, body: bytes) -> None:
    assert ask(door, "/sign-in", method="POST", body=body)[0] == 403


WIDE = 60_000


@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("", {"cookie": 'a="' + "\\" * WIDE + '"'}),
        ("", {"cookie": ";".join(f"a{number}=b" for number in range(WIDE // 8))}),
        ("a=b&" * (WIDE // 4), {}),
        ("", {"cookie": ";" * WIDE}),
        ("token=wrong", {"x-forwarded-for": ",".join(["10.0.0.1"] * (WIDE // 9))}),
    ],
    ids=["escapes", "cookies", "parameters", "nothing", "hops"],
)
def test_no_request_of_a_stranger_makes_others_wait(door: Door, query: str, headers: dict[str, str]) -> None:
    def seconds() -> float:
        before = time.thread_time()
        door.ask("/sign-in", *headers.items(), query=query, peer="10.0.0.1")
        return time.thread_time() - before

    assert min(seconds() for _ in range(3)) < 0.005


# ---- too many attempts -----------------------------------------------------------------------------------------------


def test_behind_a_named_proxy_only_the_address_that_failed_is_refused(door: Door) -> None:
    assert [door.attempt("10.0.0.1", "192.0.2.1") for _ in range(11)] == [403] * 10 + [429]
    assert door.attempt("10.0.0.1", "192.0.2.2", token=SECRET) == 303
    # Only what the named proxies appended counts, whatever the client sent before.
    assert door.attempt("10.0.0.1", "198.51.100.7, 192.0.2.1") == 429
    assert door.attempt("10.0.0.1", "198.51.100.7", "192.0.2.1") == 429
    assert door.attempt("10.0.0.2", "192.0.2.1, 10.0.0.1") == 429
    assert door.attempt("10.0.0.1", "nonsense, 192.0.2.3", token=SECRET) == 303


def test_a_client_that_is_no_named_proxy_cannot_name_another_address(door: Door) -> None:
    assert [door.attempt("192.0.2.9", f"198.51.100.{number}") for number in range(10)] == [403] * 10
    assert door.attempt("192.0.2.9", "198.51.100.99", token=SECRET) == 429
    assert door.attempt("10.0.0.1", "198.51.100.0", token=SECRET) == 303


def test_addresses_of_one_ipv6_network_count_as_one(door: Door) -> None:
    assert [door.attempt("10.0.0.1", f"2001:db8::{number:x}") for number in range(11)] == [403] * 10 + [429]
    assert door.attempt("10.0.0.1", "2001:db8:0:1::1") == 403
    assert [door.attempt("10.0.0.1", "::ffff:192.0.2.1") for _ in range(10)] == [403] * 10
    assert door.attempt("10.0.0.1", "192.0.2.1") == 429


@pytest.mark.parametrize("secret", ["wrong", "tba_abcdefghijk"])
def test_many_addresses_against_one_account_get_one_try_each_and_its_owner_gets_in(door: Door, secret: str) -> None:
    for number in range(30):
        assert door.attempt("10.0.0.1", f"192.0.2.{number}", token=f"{secret}{number}") == 403
    assert door.attempt("10.0.0.1", "192.0.2.1", token=secret) == 429
    assert [door.attempt("10.0.0.1", "192.0.2.100", token=secret) for _ in range(2)] == [403, 429]
    assert door.attempt("10.0.0.1", "192.0.2.101", token=SECRET) == 303
    other = "tba_0123456789" if secret == "wrong" else "another"
    assert door.attempt("10.0.0.1", "192.0.2.1", token=other) == 403


def test_the_link_names_an_address_that_people_can_open(here: Settings) -> None:
    assert link(replace(here, host="::1", port=1), "s") == "http://[::1]:1/sign-in?token=s"
    assert link(replace(here, host="0.0.0.0", port=1), "s") == "http://127.0.0.1:1/sign-in?token=s"
    named = replace(here, host="0.0.0.0", port=1, allowed_hosts=("bench.example.org",))
    assert link(named, "s") == "http://bench.example.org:1/sign-in?token=s"

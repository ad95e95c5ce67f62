"""The outermost middleware: whom it answers, what it refuses, and the headers that every answer has."""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from traitbench.service.trusted_requests import TrustedRequests
from traitbench.settings import Settings

Pairs = Sequence[tuple[str, str]]

HERE = ("Host", "localhost:8501")
NAMED = ("bench.example.org", "10.0.0.7")


async def _inner(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        assert b"origin" not in dict(scope["headers"]), "Streamlit must not check it again"
        await send({"type": "websocket.accept"})
    else:
        shown = dict(scope["headers"])[b"cookie"].decode() if scope["path"] == "/cookies" else "inside"
        answer = PlainTextResponse(shown, headers={"Content-Security-Policy": "mine"} if "own" in scope["path"] else {})
        await answer(scope, receive, send)


def ask(
    headers: Pairs = (HERE,),
    *,
    path: str = "/v1/models",
    method: str = "POST",
    kind: str = "http",
    query: str = "",
    **settings: Any,
) -> list[Message]:
    """What the middleware sends in answer to a request with these headers."""
    middleware = TrustedRequests(
        _inner,
        Settings(home=Path("/nowhere"), database_url="sqlite://", **{"allowed_hosts": NAMED, **settings}),
        policy="default-src 'self'",
        closed=lambda path: path == "/closed",
    )
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    scope = {"type": kind, "method": method, "path": path, "headers": raw, "query_string": query.encode()}
    asyncio.run(middleware(scope, receive, send))
    return sent


def status(headers: Pairs = (HERE,), **request: Any) -> int:
    return int(ask(headers, **request)[0]["status"])


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:1", "127.0.0.1:65535", "127.8.9.1", "[::1]:8501", "bench.example.org", "10.0.0.7:443"],
)
def test_it_answers_to_the_names_of_the_loopback_and_those_the_operator_gave(host: str) -> None:
    assert status([("Host", host)]) == 200


OTHER_NAMES = [
    *("evil.example", "localhost.evil.example", "evil.localhost", "127.0.0.1.evil.example"),
    *("2130706433", "0x7f.1", "127.1", "0.0.0.0", "[::]"),
    *("bench.example.org.evil.example", "169.254.169.254"),
]
MALFORMED = [
    *("", "localhost.", "localhost:", "localhost:99999", "localhost:80:80", "localhost:a", "user@localhost"),
    *("localhost, evil.example", "[::ffff:127.0.0.1]", "[::1", "::1", "localhost/x", "\xff", "http://localhost"),
    "localhost\x00",
]


@pytest.mark.parametrize(
    ("host", "code"), [*((name, 403) for name in OTHER_NAMES), *((name, 400) for name in MALFORMED)]
)
def test_it_answers_to_no_other_name(host: str, code: int) -> None:
    assert status([("Host", host)]) == code
    assert status([("Host", host)], path="/", method="GET") == code


@pytest.mark.parametrize("hosts", [[], [HERE, HERE], [HERE, ("Host", "evil.example")]])
def test_a_request_without_a_host_or_with_two_is_refused(hosts: Pairs) -> None:
    start, body = ask(hosts)
    assert (start["status"], dict(start["headers"])[b"content-type"]) == (400, b"application/json")
    assert b'"code":"invalid_request"' in body["body"]
    assert status(hosts, path="/", method="GET") == 400
    assert [each["type"] for each in ask(hosts, kind="websocket")] == ["websocket.close"]


def test_a_query_has_at_most_a_hundred_parameters() -> None:
    most, more = "&".join(["a=1"] * 100), "&".join(["a"] * 101)
    assert [status(query=each) for each in (most, more)] == [200, 400]
    sockets = [ask(query=each, kind="websocket")[0]["type"] for each in (most, more)]
    assert sockets == ["websocket.accept", "websocket.close"]


def test_cookies_of_very_many_escapes_are_left_out() -> None:
    escaped = 'a="' + "\\" * 1_000 + '"'
    assert ask([HERE, ("Cookie", f'ours=1; b="\\"x\\""; {escaped}; c=2')], path="/cookies")[1]["body"] == (
        b'ours=1; b="\\"x\\""; c=2'
    )


def test_a_request_for_another_server_is_refused() -> None:
    assert status([HERE], path="http://localhost/v1/models") == 400


def test_the_address_it_is_bound_to_is_its_name_unless_that_means_all_addresses() -> None:
    assert status([("Host", "192.0.2.7:8501")], host="192.0.2.7") == 200
    assert status([("Host", "0.0.0.0:8501")], host="0.0.0.0") == 403
    assert status([("Host", "192.0.2.7:8501")], host="0.0.0.0") == 403


FOREIGN = [
    *("https://evil.example", "http://localhost:3000", "http://localhost", "https://localhost:8501.evil.example", ""),
    *(
        "null",
        "file://",
        "http://127.0.0.1:8501",
        "chrome-extension://abc",
        "http://localhost:8501/",
        "ws://localhost:8501",
    ),
    *("http://bench.example.org:9999", "http://user@localhost:8501", "javascript:localhost:8501"),
]


@pytest.mark.parametrize("origin", FOREIGN)
def test_a_page_of_another_site_is_refused_whatever_it_asks(origin: str) -> None:
    for method in ("GET", "POST", "OPTIONS"):
        assert status([HERE, ("Origin", origin)], method=method) == 403
    [answer] = ask([HERE, ("Origin", origin)], path="/_stcore/stream", kind="websocket")
    assert answer["type"] == "websocket.close"


@pytest.mark.parametrize("origin", ["http://localhost:8501", "https://localhost:8501", "https://bench.example.org"])
def test_a_page_of_its_own_is_answered(origin: str) -> None:
    assert status([HERE, ("Origin", origin)]) == 200
    assert ask([HERE, ("Origin", origin)], kind="websocket") == [{"type": "websocket.accept"}]


def test_a_message_of_text_closes_a_socket_before_a_page_sees_it() -> None:
    async def page(_scope: Scope, receive: Receive, _send: Send) -> None:
        seen.extend([await receive(), await receive()])

    async def receive() -> Message:
        return next(coming)

    async def send(message: Message) -> None:
        sent.append(message)

    binary: Message = {"type": "websocket.receive", "bytes": b"x"}
    coming = iter([binary, {"type": "websocket.receive", "text": "x"}])
    seen: list[Message] = []
    sent: list[Message] = []
    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": [(b"host", b"localhost")], "query_string": b""}
    middleware = TrustedRequests(page, Settings(home=Path("/nowhere"), database_url="sqlite://"))
    asyncio.run(middleware(scope, receive, send))
    assert seen == [binary, {"type": "websocket.disconnect", "code": 1003}]
    assert sent == [{"type": "websocket.close", "code": 1003, "reason": ""}]


def test_whoever_is_known_waits_for_no_stranger_and_refusals_wait_too() -> None:
    order: list[str] = []

    async def inner(scope: Scope, _receive: Receive, _send: Send) -> None:
        order.append(scope["path"])
        time.sleep(0.01)  # work, after which the next stranger waits

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            order.append("refused")

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    settings = Settings(home=Path("/nowhere"), database_url="sqlite://")
    middleware = TrustedRequests(inner, settings, known=lambda scope: scope["path"] == "/known")

    async def ask_all() -> None:
        asked = [("/first", b"localhost"), ("/second", b"evil.example"), ("/known", b"localhost")]
        scopes = [
            {"type": "http", "method": "GET", "path": path, "headers": [(b"host", host)], "query_string": b""}
            for path, host in asked
        ]
        await asyncio.gather(*(middleware(scope, receive, send) for scope in scopes))

    asyncio.run(ask_all())
    assert order == ["/first", "/known", "refused"]


def test_a_path_that_no_route_can_have_is_not_compared_with_any() -> None:
    assert [status(path=f"/v1/{'a' * length}") for length in (8_000, 9_000)] == [200, 404]


def test_the_api_says_that_the_base_url_ends_in_a_slash() -> None:
    start, body = ask(path="//v1/systemone")
    assert start["status"] == 404
    assert dict(start["headers"])[b"x-request-id"].startswith(b"req_")
    assert b'"detail"' in body["body"]
    assert b"Remove the slash at the end of the base URL" in body["body"]
    assert status(path="//a-page") == 200


def test_two_origins_are_refused() -> None:
    assert status([HERE, ("Origin", "http://localhost:8501"), ("Origin", "http://localhost:8501")]) == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "sideways"])
def test_what_a_browser_fetches_for_another_site_is_refused_but_for_a_link_that_is_followed(site: str) -> None:
    fetched = [HERE, ("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Dest", "image")]
    framed = [HERE, ("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")]
    followed = [HERE, ("Sec-Fetch-Site", site), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
    assert [status(each, method="GET") for each in (fetched, framed, followed)] == [403, 403, 200]
    assert status(followed, method="POST") == 403
    assert [status([HERE, ("Sec-Fetch-Site", own)]) for own in ("same-origin", "none")] == [200, 200]


def test_what_a_proxy_says_of_the_client_is_not_believed() -> None:
    texts = [("X-Forwarded-Host", "localhost"), ("Forwarded", "host=localhost"), ("X-Forwarded-Proto", "https")]
    assert status([("Host", "evil.example"), *texts]) == 403
    assert status([HERE, ("X-Forwarded-Host", "evil.example")]) == 200


def test_the_api_refuses_with_its_envelope_and_a_page_in_a_sentence() -> None:
    start, body = ask([("Host", "evil.example")])
    headers = dict(start["headers"])
    assert headers[b"content-type"] == b"application/json"
    assert headers[b"x-request-id"].startswith(b"req_")
    assert b'"code":"host_not_allowed"' in body["body"]
    assert headers[b"x-request-id"] in body["body"]
    start, body = ask([HERE, ("Origin", "null")])
    assert b'"code":"origin_not_allowed"' in body["body"]
    start, body = ask([("Host", "evil.example")], path="/", method="GET")
    assert dict(start["headers"])[b"content-type"].startswith(b"text/plain")
    assert b"TRAITBENCH_ALLOWED_HOSTS=evil.example" in body["body"]


@pytest.mark.parametrize(("path", "code"), [("/", 200), ("/closed", 404), ("/v1/models", 200), ("/v1/own", 200)])
def test_every_answer_has_the_headers_once(path: str, code: int) -> None:
    start, _ = ask(path=path)
    names = [name for name, _ in start["headers"]]
    headers = dict(start["headers"])
    assert start["status"] == code
    assert len(names) == len(set(names))
    policy = {"/v1/models": b"default-src 'none'", "/v1/own": b"mine"}.get(path, b"default-src 'self'")
    assert headers[b"content-security-policy"].startswith(policy)
    assert headers[b"x-frame-options"] == b"DENY"
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert not [name for name in names if name.startswith(b"access-control")]

"""The single bounded GET: address forms, redirects, sizes, times and media types, with servers on this machine."""

import gzip
import logging
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, repeat
from typing import Any

import pytest

from tests.extract.loopback import ANY_PORT, Answer, page, redirect, serve, then_silence, this_machine
from traitbench.errors import UrlNotFetchable
from traitbench.extract import FetchLimits, extract

TEXT = page("Reached.", kind="text/plain")
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"


def text(url: str, limits: FetchLimits = ANY_PORT) -> str:
    return extract(url, limits=limits, permits=this_machine).content


def reason(url: str, limits: FetchLimits = ANY_PORT) -> str:
    with pytest.raises(UrlNotFetchable) as refused:
        text(url, limits)
    return str(refused.value.details["reason"])


@pytest.mark.parametrize(
    "url",
    [
        *("file:///etc/hostname", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "data:text/plain,hello", "javascript:0"),
        *("ws://127.0.0.1/", "http+unix://%2Ftmp%2Fsocket/", "//127.0.0.1/", "127.0.0.1", "page", "", "   "),
        *("http://", "http:///page", "http:127.0.0.1", "http://user@127.0.0.1/", "http://user:word@127.0.0.1/"),
        *("http://public.test\\@127.0.0.1/", "http://:word@127.0.0.1/", "http://127.0.0.1:65536/", "http://[::1/"),
        *("http://127.0.0.1:port/", "http://256.0.0.1/", "http://a\tb/", "http://127.0.0.1/\x00"),
        f"http://127.0.0.1/{'a' * 8_192}",
    ],
)
def test_a_form_that_is_not_permitted_is_refused_before_any_connection(url: str, connections: list[Any]) -> None:
    assert reason(url) == "url"
    assert connections == []


@pytest.mark.parametrize("port", [0, 1, 22, 25, 81, 442, 5432, 8080, 8501, 65535])
def test_only_web_ports_are_permitted_unless_configured(port: int, connections: list[Any]) -> None:
    for scheme in ("http", "https"):
        with pytest.raises(UrlNotFetchable) as refused:
            extract(f"{scheme}://127.0.0.1:{port}/", permits=this_machine)
        assert refused.value.details["ports"] == [80, 443]
    assert connections == []


def test_the_request_is_plain() -> None:
    with serve(TEXT) as site:
        text(f"{site.url}/a b?q=ü#part")
    (request,) = site.requests
    assert request.decode().split("\r\n") == [
        "GET /a%20b?q=%C3%BC HTTP/1.1",
        f"Host: 127.0.0.1:{site.port}",
        "User-Agent: Traitbench",
        "Accept: text/html, application/xhtml+xml, text/plain",
        "Accept-Encoding: identity",
        "Connection: close",
        "",
        "",
    ]


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_redirects_are_followed_without_cookies(status: str) -> None:
    first = redirect("../end?here", "Set-Cookie: a=b", status=status)
    with serve(lambda request: [TEXT if b"/end?here" in request else first]) as site:
        assert text(f"{site.url}/deep/start") == "Reached."
    assert not any(b"cookie" in request.lower() for request in site.requests)


def hops(request: bytes) -> Iterator[bytes]:
    """/5 redirects to /4 and so on, to a text at /0."""
    left = int(request.split()[1].lstrip(b"/"))
    yield redirect(f"/{left - 1}") if left else TEXT


def test_five_redirects_are_followed_and_a_sixth_is_not() -> None:
    with serve(hops) as site:
        assert text(f"{site.url}/5") == "Reached."
        site.requests.clear()
        assert reason(f"{site.url}/6") == "redirects"
    assert len(site.requests) == 6


@pytest.mark.parametrize(
    ("to", "why"),
    [
        ("http://169.254.169.254/latest/meta-data/", "unreachable"),
        ("//169.254.169.254/", "unreachable"),
        ("http://10.0.0.1/", "unreachable"),
        ("http://[::ffff:169.254.169.254]/", "unreachable"),
        *[("file:///etc/hostname", "url"), ("gopher://127.0.0.1/", "url"), ("http://u:p@127.0.0.1/", "url")],
        *[("http://[::1/", "url"), ("a:////[", "url"), (f"/{'a' * 9_000}", "url")],
    ],
)
def test_a_redirect_to_a_forbidden_address_is_not_followed(to: str, why: str, connections: list[Any]) -> None:
    with serve(redirect(to)) as site:
        assert reason(site.url) == why
    assert connections == [("127.0.0.1", site.port)]


def test_a_redirect_to_a_forbidden_port_is_not_followed(connections: list[Any]) -> None:
    with serve(redirect("http://127.0.0.1:22/")) as site:
        assert reason(site.url, replace(ANY_PORT, ports=frozenset({site.port}))) == "url"
    assert connections == [("127.0.0.1", site.port)]


STATUSES = ("304 Not Modified", "401 Unauthorized", "404 Not Found", "500 Error", "503 Busy")
KINDS = ("application/pdf", "application/json", "image/svg+xml", "text/css", "text/html2", "html", "", "*/*")
REFUSED = {
    **{status: (page("Not this.", status=status), "status") for status in STATUSES},
    "a redirect without a location": (page("", status="302 Found"), "status"),
    **{kind or "a blank kind": (page("Not this.", kind=kind), "media_type") for kind in KINDS},
    "no kind": (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nNot this.", "media_type"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_only_a_text_with_a_success_status_is_taken(name: str) -> None:
    answer, why = REFUSED[name]
    with serve(answer) as site:
        assert reason(site.url) == why


@pytest.mark.parametrize("kind", ["text/plain", "TEXT/PLAIN; charset=utf-8", "text/plain ; a=b", "text/plain;"])
def test_a_permitted_media_type_may_be_spelled_in_many_ways(kind: str) -> None:
    with serve(page("Reached.", kind=kind)) as site:
        assert text(site.url) == "Reached."


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate", "zstd", "identity, gzip"])
def test_a_compressed_answer_is_refused_without_reading_it(encoding: str) -> None:
    bomb = gzip.compress(bytes(30_000_000))
    with serve(page(bomb, f"Content-Encoding: {encoding}")) as site:
        assert reason(site.url) == "encoded"


@pytest.mark.parametrize("kind", ["text/html", "text/plain"])
def test_an_undeclared_compression_bomb_is_not_inflated(kind: str) -> None:
    """The HTML parser would inflate bytes, but it gets text."""
    bomb = gzip.compress(b"<html><body><p>" + b"Boom. " * 200_000)
    with serve(page(bomb, kind=kind)) as site:
        result = text(site.url)
    assert "Boom" not in result
    assert len(result) <= len(bomb)


def test_a_body_may_be_as_large_as_the_limit_and_no_larger() -> None:
    limits = replace(ANY_PORT, body_bytes=1_000)
    with serve(page("a" * 1_000, kind="text/plain")) as site:
        assert len(text(site.url, limits)) == 1_000
    with serve(page("a" * 1_001, kind="text/plain")) as site:
        assert reason(site.url, limits) == "too_large"


@pytest.mark.parametrize(
    ("start", "piece", "limits", "why"),
    [
        (CHUNKED, b"10000\r\n" + bytes(0x10000) + b"\r\n", ANY_PORT, ("too_large",)),
        (CHUNKED, b"1\r\na\r\n" * 10_000, replace(ANY_PORT, seconds=0.5), ("too_slow", "too_large")),
        (b"HTTP/1.1 200 OK\r\n", b"X-More: and more\r\n" * 100, ANY_PORT, ("unreachable",)),
    ],
    ids=["body", "body in tiny pieces", "headers"],
)
def test_an_endless_answer_is_cut_off(start: bytes, piece: bytes, limits: FetchLimits, why: tuple[str, ...]) -> None:
    with serve(lambda request: chain([start], repeat(piece))) as site:
        assert reason(site.url, limits) in why


def dripping(start: bytes, drop: bytes) -> Iterator[bytes]:
    """Never silent for long, and never finished before the test ends."""
    yield start
    for _ in range(600):
        time.sleep(0.03)
        yield drop


def slow_hop(request: bytes) -> Iterator[bytes]:
    time.sleep(0.15)
    yield redirect("/on")


@pytest.mark.parametrize(
    "answer",
    [
        lambda request: dripping(page(bytes(1_000), kind="text/plain")[:-1_000], b"a"),
        lambda request: dripping(CHUNKED, b"1\r\na\r\n"),
        lambda request: dripping(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a"),
        lambda request: dripping(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        lambda request: then_silence(b""),
        slow_hop,
    ],
    ids=["body", "chunks", "header", "hints", "silence", "redirects"],
)
def test_a_slow_answer_ends_with_one_deadline(answer: Answer) -> None:
    with serve(answer) as site:
        assert reason(site.url, replace(ANY_PORT, seconds=0.6)) == "too_slow"


@pytest.mark.parametrize(
    "answer",
    [
        *(b"", b"\x00\x01\x02", b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nshort",
        CHUNKED + b"zz\r\nno\r\n",
    ],
)
def test_a_broken_connection_is_unreachable(answer: bytes) -> None:
    with serve(answer) as site:
        assert reason(site.url) == "unreachable"


def test_neither_address_nor_text_is_logged_or_repeated(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serve(page("marker-text", kind="text/plain")) as site:
        assert text(f"{site.url}/marker-path") == "marker-text"
    with serve(page("marker-text", kind="image/png")) as site, pytest.raises(UrlNotFetchable) as refused:
        text(f"{site.url}/marker-path")
    output = f"{caplog.text} {refused.value} {refused.value.details}"
    assert "marker" not in output
    assert "127.0.0.1" not in output

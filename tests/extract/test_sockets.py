"""Addresses are checked where sockets are opened.

Every attempt uses the real resolver and the real socket layer, and the interpreter reports each connection that was
tried. Nothing leaves the machine.
"""

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import IPv4Address
from threading import Event
from typing import Any

import pytest

from tests.extract.loopback import ANY_PORT, page, redirect, serve, then_silence, this_machine
from traitbench.errors import UrlNotFetchable
from traitbench.extract import extract
from traitbench.extract.sockets import IPAddress

TEXT = page("Reached.", kind="text/plain")

# {port} is the port of a server on this machine that listens on all addresses
TRICKS = [
    *("http://127.0.0.1:{port}", "http://localhost:{port}", "http://LOCALHOST:{port}", "http://localhost.:{port}"),
    *("http://[::1]:{port}", "http://0:{port}", "http://0.0.0.0:{port}", "http://[::]:{port}"),
    *("http://127.1:{port}", "http://127.0.1:{port}", "http://2130706433:{port}", "http://127.255.255.254:{port}"),
    *("http://0x7f000001:{port}", "http://0x7f.1:{port}", "http://0x7f.0x0.0x0.0x1:{port}"),
    *("http://0177.0.0.1:{port}", "http://017700000001:{port}", "http://0177.1:{port}", "http://0177.0.0.1.:{port}"),
    *("http://127。0。0。1:{port}", "http://１２７.０.０.１:{port}", "http://①②⑦.⓪.⓪.①:{port}"),
    *("http://[::ffff:127.0.0.1]:{port}", "http://[::ffff:7f00:1]:{port}", "http://[::127.0.0.1]:{port}"),
    *("http://[64:ff9b::127.0.0.1]:{port}", "http://[64:ff9b:1::127.0.0.1]:{port}"),
    *("http://[2002:7f00:1::]:{port}", "http://[2001:0:7f00:1::]:{port}", "http://[::1%25lo]:{port}"),
    *("http://10.0.0.1", "http://172.16.0.1", "http://192.168.0.1", "http://169.254.169.254", "http://100.64.0.1"),
    *("http://198.18.0.1", "http://192.0.0.192", "http://168.63.129.16", "http://100.100.100.200"),
    *("http://224.0.0.1", "http://240.0.0.1", "http://255.255.255.255", "http://[::ffff:169.254.169.254]"),
    *("http://[fe80::1]", "http://[fe80::1%25lo]", "http://[fc00::1]", "http://[fd00:ec2::254]", "http://[ff02::1]"),
    *("https://127.0.0.1:{port}", "https://169.254.169.254"),
]


@pytest.mark.parametrize("trick", TRICKS)
def test_an_address_that_is_not_public_is_never_connected_to(trick: str, connections: list[Any]) -> None:
    with serve(TEXT, host="0.0.0.0") as site, pytest.raises(UrlNotFetchable) as refused:
        extract(trick.format(port=site.port), limits=ANY_PORT)
    assert refused.value.details["reason"] in ("unreachable", "url")
    assert connections == []
    assert site.requests == []


@pytest.mark.parametrize(
    "spelling", ["127.0.0.1", "localhost", "2130706433", "0x7f000001", "127.1", "127。0。0。1", "[::ffff:127.0.0.1]"]
)
def test_the_same_tricks_would_connect_if_this_machine_were_permitted(spelling: str) -> None:
    with serve(TEXT) as site:
        result = extract(f"http://{spelling}:{site.port}", limits=ANY_PORT, permits=this_machine)
    assert result.content == "Reached."


def test_the_answer_is_the_same_for_a_refused_address_and_a_closed_port() -> None:
    with serve(TEXT) as gone:
        pass
    refused = failure("http://10.0.0.1")
    unheard = failure(gone.url, permits=this_machine)
    unknown = failure("http://page.test", resolve=lambda host: ())
    assert (refused.message, refused.details) == (unheard.message, unheard.details)
    assert (refused.message, refused.details) == (unknown.message, unknown.details)


def test_one_forbidden_address_of_a_name_is_enough_to_refuse_it(connections: list[Any]) -> None:
    both = [IPv4Address("93.184.215.14"), IPv4Address("127.0.0.1")]
    assert failure("http://page.test", resolve=lambda host: both).details["reason"] == "unreachable"
    assert failure("http://page.test", resolve=lambda host: both[::-1]).details["reason"] == "unreachable"
    assert connections == []


def test_the_only_look_up_gives_the_checked_and_connected_address(
    connections: list[Any],
) -> None:
    """DNS rebinding: the first look-up gives a permitted address, every later one another address."""
    rebinding = Rebinding("127.0.0.2", "127.0.0.1")
    with serve(TEXT, host="0.0.0.0") as site:
        url = f"http://page.test:{site.port}"
        result = extract(url, limits=ANY_PORT, permits=permits_only("127.0.0.2"), resolve=rebinding)
    assert result.content == "Reached."
    assert rebinding.asked == ["page.test"]
    assert connections == [("127.0.0.2", site.port)]


def test_a_redirect_is_looked_up_and_checked_again(connections: list[Any]) -> None:
    rebinding = Rebinding("127.0.0.2", "127.0.0.1")
    with serve(redirect("/again"), host="0.0.0.0") as site:
        url = f"http://page.test:{site.port}"
        refused = failure(url, permits=permits_only("127.0.0.2"), resolve=rebinding)
    assert refused.details["reason"] == "unreachable"
    assert rebinding.asked == ["page.test", "page.test"]
    assert connections == [("127.0.0.2", site.port)]


def test_an_unreachable_address_is_skipped_for_the_next() -> None:
    with serve(TEXT, host="127.0.0.2") as site:
        addresses = [IPv4Address("127.0.0.3"), IPv4Address("127.0.0.2")]
        url = f"http://page.test:{site.port}"
        result = extract(url, limits=ANY_PORT, permits=this_machine, resolve=lambda host: addresses)
    assert result.content == "Reached."


def test_a_silent_resolver_is_not_awaited() -> None:
    never = Event()

    def silent(host: str) -> Sequence[IPAddress]:
        never.wait(60)
        return ()

    refused = failure("http://page.test", seconds=0.2, resolve=silent)
    never.set()
    assert refused.details["reason"] == "unreachable"


def test_request_and_handshake_use_the_name_not_the_address() -> None:
    with serve(TEXT) as site:
        plain, secure = f"http://page.test:{site.port}", f"https://page.test:{site.port}"
        by_name: dict[str, Any] = {"permits": this_machine, "resolve": lambda host: [IPv4Address("127.0.0.1")]}
        extract(plain, limits=ANY_PORT, **by_name)
        assert failure(secure, **by_name).details["reason"] == "unreachable"
    request, handshake = site.requests
    assert f"Host: page.test:{site.port}\r\n".encode() in request
    assert b"page.test" in handshake


def test_an_endless_handshake_is_not_awaited() -> None:
    with serve(lambda request: then_silence(b"\x16\x03\x03\x40\x00")) as site:
        secure = site.url.replace("http:", "https:")
        assert failure(secure, seconds=0.6, permits=this_machine).details["reason"] == "unreachable"


def test_a_proxy_from_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(TEXT) as site, serve(page("By way of the proxy.", kind="text/plain")) as proxy:
        for variable in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(variable, proxy.url)
        result = extract(site.url, limits=ANY_PORT, permits=this_machine)
    assert result.content == "Reached."
    assert proxy.requests == []


class Rebinding:
    """A name server that gives each answer once, and the last one from then on."""

    def __init__(self, *answers: str) -> None:
        self._answers = [IPv4Address(answer) for answer in answers]
        self.asked: list[str] = []

    def __call__(self, host: str) -> Sequence[IPAddress]:
        self.asked.append(host)
        return [self._answers[min(len(self.asked), len(self._answers)) - 1]]


def permits_only(address: str) -> Any:
    return lambda result: str(result) == address


def failure(url: str, *, seconds: float = 10, **how: Any) -> UrlNotFetchable:
    with pytest.raises(UrlNotFetchable) as refused:
        extract(url, limits=replace(ANY_PORT, seconds=seconds), **how)
    return refused.value

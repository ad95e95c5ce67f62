"""Check where sockets are opened: look up a name once, check every address, and connect to a checked one.

Nothing above can bypass it. Redirects and odd spellings of addresses end here, and a name that resolves differently
between check and connection (DNS rebinding) has no effect. The name itself is still used for the Host header and the
TLS handshake. Everything that waits, from the look-up to the last byte, ends with one deadline.
"""

import socket
import time
from collections.abc import Callable, Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from queue import Empty, SimpleQueue
from ssl import SSLContext
from threading import Thread
from typing import Any

import httpcore

IPAddress = IPv4Address | IPv6Address
Permits = Callable[[IPAddress], bool]
Resolve = Callable[[str], Sequence[IPAddress]]


def lookup(host: str) -> Sequence[IPAddress]:
    """The addresses that this machine's resolver has for a name, or for a number in any spelling it knows."""
    entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(parse(str(address[0])) for *_, address in entries))


class Deadline:
    """A moment at which all waiting ends."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """The remaining seconds; raise `httpcore.ReadTimeout` if there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left


class CheckedBackend(httpcore.NetworkBackend):
    """Opens TCP connections to permitted addresses only."""

    def __init__(self, *, permits: Permits, resolve: Resolve, deadline: Deadline) -> None:
        self._permits = permits
        self._resolve = resolve
        self._deadline = deadline
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address that accepts; all addresses of the host must be permitted."""
        addresses = self._addresses(host)
        if not addresses or not all(map(self._permits, addresses)):
            raise httpcore.ConnectError
        for remaining in range(len(addresses), 1, -1):
            try:
                return self._connect(addresses[-remaining], port, self._deadline.left() / remaining)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return self._connect(addresses[-1], port, self._deadline.left())

    def _addresses(self, host: str) -> Sequence[IPAddress]:
        """The only look-up, in a separate thread because the system's resolver has no timeout."""
        answers: SimpleQueue[Sequence[IPAddress]] = SimpleQueue()
        Thread(target=self._look_up, args=(host, answers), daemon=True).start()
        try:
            return answers.get(timeout=self._deadline.left())
        except Empty:
            raise httpcore.ConnectTimeout from None

    def _look_up(self, host: str, answers: "SimpleQueue[Sequence[IPAddress]]") -> None:
        try:
            answers.put(self._resolve(host))
        except (OSError, ValueError):
            answers.put(())

    def _connect(self, address: IPAddress, port: int, seconds: float) -> httpcore.NetworkStream:
        return _TimedStream(self._sockets.connect_tcp(str(address), port, timeout=seconds), self._deadline)


class _TimedStream(httpcore.NetworkStream):
    """A connection that ends with the deadline, however slowly data trickles in."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        try:
            stream = self._stream.start_tls(ssl_context, server_hostname, self._deadline.left())
        except ValueError as error:  # a name that resolves, but is not valid in a handshake
            raise httpcore.ConnectError from error
        return _TimedStream(stream, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


# Outside this range are local and multicast addresses, and embedded IPv4 addresses (`::/96`, NAT64).
_UNICAST_6 = ip_network("2000::/3")

_REFUSED_4 = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by a provider's customers; metadata of one cloud
        "127.0.0.0/8",  # this machine
        "168.63.129.16/32",  # internal services of one cloud, at an address that looks public
        "169.254.0.0/16",  # link-local, and most clouds' metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments; metadata of one cloud at 192.0.0.192
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
)
_REFUSED_6 = tuple(
    ip_network(network)
    for network in (
        "2001::/23",  # protocol assignments: Teredo, benchmarks, overlays
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4: any IPv4 address
        "3fff::/20",  # documentation
    )
)


def parse(text: str) -> IPAddress:
    """An address from the resolver, with an IPv4-mapped one as plain IPv4."""
    address = ip_address(text)
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def is_public(address: IPAddress) -> bool:
    """Whether an address belongs to the public internet, also if it is IPv4-mapped."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return is_public(address.ipv4_mapped)
    if not address.is_global or address.is_multicast or address.is_reserved:
        return False
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _REFUSED_4)
    return address in _UNICAST_6 and address.scope_id is None and not any(address in network for network in _REFUSED_6)

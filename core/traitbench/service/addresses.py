"""Which address a request came from: the peer's, or what a proxy in front appended to `X-Forwarded-For`."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from starlette.datastructures import Headers
from starlette.types import Scope

_MOST_HOPS = 32  # proxies in a row; a client can send thousands, and each is parsed


def peer_is_in(scope: Scope, networks: Sequence[IPv4Network | IPv6Network]) -> bool:
    """Whether the connection itself comes from one of the networks, whatever its headers say."""
    peer = _ip((scope.get("client") or ("",))[0])
    return peer is not None and any(peer in each for each in networks)


def client_address(scope: Scope, proxies: Sequence[IPv4Network | IPv6Network]) -> str:
    """Return the address to count requests by: the peer's or, if that is one of the proxies, the one it appended.

    Addresses of one IPv6 network of 64 bits count as one, because a single client has all of them.
    """
    peer = (scope.get("client") or ("",))[0]
    hops = ",".join(Headers(scope=scope).getlist("x-forwarded-for")).rsplit(",", _MOST_HOPS)[-_MOST_HOPS:]
    address = _ip(peer)
    while hops and address is not None and any(address in each for each in proxies):
        # From the right: the last hop is what the nearest proxy saw, and a client can make up those before it.
        address = _ip(hops.pop().strip()) or address
    if isinstance(address, IPv6Address):
        return str(IPv6Network((address, 64), strict=False))
    return peer if address is None else str(address)


def _ip(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address

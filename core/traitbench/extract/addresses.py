"""Which addresses the service may connect to: only those of the public internet. Pure functions.

`ipaddress` alone is not enough. `is_private` is False for shared, translated, tunnelled and multicast addresses, and
`is_global` changes from one release of Python to the next. So the ranges are listed here, and an address has to pass
both checks.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

IPAddress = IPv4Address | IPv6Address

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

"""Which addresses are public, by the registries of special addresses."""

from ipaddress import IPv6Address, ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from traitbench.extract.sockets import is_public, parse

PUBLIC = [
    *("1.1.1.1", "8.8.8.8", "93.184.215.14", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0"),
    *("191.255.255.255", "192.0.1.0", "198.17.255.255", "198.20.0.0", "223.255.255.255"),
    *("2001:200::1", "2400:cb00::1", "2606:4700:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8"),
]
NOT_PUBLIC = [
    *("0.0.0.0", "0.1.2.3", "10.0.0.0", "10.255.255.255", "100.64.0.1", "100.100.100.200", "100.127.255.255"),
    *("127.0.0.1", "127.255.255.254", "168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255"),
    *("192.0.0.8", "192.0.0.170", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1"),
    *("198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1"),
    *("255.255.255.255", "::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:10.0.0.1"),
    *("::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "100::1", "2001::1"),
    *("2001:0:7f00:1::", "2001:2::1", "2001:10::1", "2001:20::1", "2001:1ff::1", "2001:db8::1", "2002:7f00:1::"),
    *("2002:808:808::1", "3fff::1", "4000::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1"),
    *("ff02::1", "ff0e::1", "2606:4700::1%eth0"),
]


@pytest.mark.parametrize(
    ("address", "expected"), [*((each, True) for each in PUBLIC), *((each, False) for each in NOT_PUBLIC)]
)
def test_a_special_address_is_not_public(address: str, expected: bool) -> None:
    assert is_public(ip_address(address)) == expected


@settings(deadline=None)
@given(st.ip_addresses(v=4))
def test_an_ipv4_mapped_address_is_treated_as_ipv4(address: object) -> None:
    wrapped = IPv6Address(f"::ffff:{address}")
    assert is_public(wrapped) == is_public(parse(str(address)))
    assert parse(str(wrapped)) == address


@settings(deadline=None)
@given(st.ip_addresses())
def test_no_address_that_python_calls_special_is_public(address: object) -> None:
    result = parse(str(address))
    special = (
        result.is_private or result.is_loopback or result.is_link_local or result.is_multicast or result.is_reserved
    )
    assert not (special and is_public(result))

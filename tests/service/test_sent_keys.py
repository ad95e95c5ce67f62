"""Where a key may be: each place alone, several places, and what is no key."""

import base64
from typing import Any

import pytest

from traitbench.service.sent_keys import every_secret, secret_of, spelled


def scope(*headers: tuple[str, str], query: str = "") -> dict[str, Any]:
    return {
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
    }


BEARER, HEADER = ("authorization", "Bearer tba_a"), ("x-api-key", "tba_b")
BASIC = ("authorization", f"Basic {base64.b64encode(b'anyone:tba_d').decode()}")
ANY_HEADER = ("basic", "x-api-key", "bearer")


@pytest.mark.parametrize(
    ("request_scope", "places", "secret"),
    [
        (scope(BEARER), ("bearer",), "tba_a"),
        (scope(("authorization", "bearer  tba_a ")), ("bearer",), "tba_a"),
        (scope(HEADER, query="key=tba_c"), ("bearer",), None),
        (scope(BEARER, BEARER), ("bearer",), None),
        (scope(("authorization", "Basic tba_a")), ("bearer",), ""),
        (scope(HEADER), ("bearer", "x-api-key"), "tba_b"),
        (scope(BEARER, HEADER), ("bearer", "x-api-key"), "tba_a"),
        (scope(HEADER, HEADER), ("x-api-key",), None),
        (scope(BASIC), ANY_HEADER, "tba_d"),
        (scope(BASIC), ("bearer", "x-api-key"), ""),
        (scope(BEARER), ANY_HEADER, "tba_a"),
        (scope(HEADER, BEARER), ANY_HEADER, "tba_b"),
        (scope(BASIC, BASIC), ANY_HEADER, None),
        (scope(("authorization", "Basic ÿ")), ANY_HEADER, ""),
        (scope(("authorization", f"basic {base64.b64encode(b':').decode()}")), ANY_HEADER, ""),
        (scope(("authorization", f"basic {base64.b64encode(b'x:' + bytes([255])).decode()}")), ANY_HEADER, ""),
        (scope(query="alt=json&key=tba%5Fc"), ("query",), "tba_c"),
        (scope(query="key=tba_c&key=tba_c"), ("query",), None),
        (scope(query="monkey=tba_c"), ("query",), None),
        (scope(query="key="), ("query",), ""),
        (scope(query=f"{'&' * 60_000}key=\xff%ff"), ("query",), "Ã¿�"),
    ],
)
def test_the_key_of_a_request(request_scope: dict[str, Any], places: Any, secret: str | None) -> None:
    assert secret_of(request_scope, places) == secret


def test_a_refusal_says_where_the_key_goes() -> None:
    assert spelled(("bearer",)) == "Authorization: Bearer <API_KEY>"
    assert spelled(("query", "bearer")) == "?key=<API_KEY> or Authorization: Bearer <API_KEY>"


def test_every_place_counts_for_what_is_known_before_a_route_is() -> None:
    assert [*every_secret(scope(BEARER, HEADER, query="key=tba_c"))] == ["tba_a", "tba_b", "tba_c"]
    assert [*every_secret(scope(("authorization", "Basic x")))] == [""]
    assert [*every_secret(scope(BASIC))] == ["tba_d", ""]
    assert [*every_secret(scope())] == []

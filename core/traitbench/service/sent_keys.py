"""Where a request carries its key. Each row of the table of operations says which of these places it reads."""

import base64
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from urllib.parse import unquote

from starlette.types import Scope

from traitbench.contract.operation import KeySource
from traitbench.operations.keys import BEARER

# The query is not parsed as a whole: callers choose its length, and this runs before any limit on it.
_IN_QUERY = re.compile(rb"(?:^|&)key=([^&]*)")


def secret_of(scope: Scope, key_from: Sequence[KeySource]) -> str | None:
    """Return the key from the first of these places that has one; None if there is none, or more than one in it."""
    for each in key_from:
        if secrets := [*_SENT[each](scope)]:
            return secrets[0] if len(secrets) == 1 else None
    return None


def spelled(key_from: Sequence[KeySource]) -> str:
    """Return how a caller sends a key that is read from these places."""
    return " or ".join(_SPELLED[each] for each in key_from)


def every_secret(scope: Scope) -> Iterator[str]:
    """Yield what a request carries in any of the places; "" for an `Authorization` of another scheme."""
    for sent in _SENT.values():
        yield from sent(scope)


def _bearer(scope: Scope) -> Iterator[str]:
    for value in _headers(scope, b"authorization"):
        match value.split():
            case [scheme, secret] if scheme.lower() == "bearer":
                yield secret
            case _:
                yield ""


def _basic(scope: Scope) -> Iterator[str]:
    """Yield the password, whoever the user is: all that programs can send that take an address and no headers."""
    for value in _headers(scope, b"authorization"):
        match value.split():
            case [scheme, secret] if scheme.lower() == "basic":
                with suppress(ValueError):
                    yield base64.b64decode(secret, validate=True).decode().partition(":")[2]


def _in_query(scope: Scope) -> Iterator[str]:
    return (unquote(value.decode("latin-1")) for value in _IN_QUERY.findall(scope["query_string"]))


def _headers(scope: Scope, wanted: bytes) -> Iterator[str]:
    return (value.decode("latin-1") for name, value in scope["headers"] if name == wanted)


_SENT: Mapping[KeySource, Callable[[Scope], Iterator[str]]] = {
    "basic": _basic,
    "bearer": _bearer,
    "x-api-key": lambda scope: _headers(scope, b"x-api-key"),
    "query": _in_query,
}
_SPELLED: Mapping[KeySource, str] = {
    "basic": "the password of Authorization: Basic",
    "bearer": BEARER,
    "x-api-key": "x-api-key: <API_KEY>",
    "query": "?key=<API_KEY>",
}

"""Make one GET of a public page, limited in time, size and redirects.

It uses no cookies, proxies, compression or credentials. httpcore, the engine of httpx, has none of these, so they are
absent rather than switched off: no environment variable can add a proxy, and no request is logged. Every failure is
`UrlNotFetchable`.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from ssl import SSLContext

import httpcore
import httpx

from traitbench.extract.refusals import refusal
from traitbench.extract.sockets import CheckedBackend, Deadline, Permits, Resolve

# At DEBUG httpcore logs host names, but an address to be scored is content, and content is never logged.
logging.getLogger("httpcore").setLevel(logging.INFO)

MEDIA_TYPES = ("text/html", "application/xhtml+xml", "text/plain")

_SCHEMES = {"http": 80, "https": 443}
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_CHARACTERS = 8_192
_CHARSET = re.compile(r";\s*+charset\s*+=\s*+[\"']?([^\s;\"']++)", re.IGNORECASE)
_HEADERS: dict[bytes | str, bytes | str] = {
    "User-Agent": "Traitbench",
    "Accept": ", ".join(MEDIA_TYPES),
    "Accept-Encoding": "identity",
    "Connection": "close",
}


@dataclass(frozen=True)
class FetchLimits:
    """Limits of a fetch, and of the text that is kept; the defaults are the contract's.

    See core/docs/contract.md, section 8.
    """

    seconds: float = 10.0
    body_bytes: int = 5 * 1024 * 1024
    redirects: int = 5
    ports: frozenset[int] = frozenset({80, 443})
    reading_seconds: float = 5.0
    content_bytes: int = 50_000


CONTRACT_LIMITS = FetchLimits()


@dataclass(frozen=True)
class FetchedPage:
    """The response to a fetch."""

    media_type: str
    charset: str | None
    body: bytes


def fetch(address: str, *, limits: FetchLimits, permits: Permits, resolve: Resolve) -> FetchedPage:
    """The page at an address, or behind its redirects; raise `UrlNotFetchable`."""
    url = _parsed(address, limits)
    backend = CheckedBackend(permits=permits, resolve=resolve, deadline=Deadline(limits.seconds))
    with _refusals(limits), httpcore.ConnectionPool(ssl_context=_tls(), network_backend=backend) as pool:
        for _ in range(limits.redirects + 1):
            with pool.stream("GET", _target(url), headers=_HEADERS | {"Host": url.netloc.decode("ascii")}) as response:
                headers = _headers(response)
                if response.status not in _REDIRECTS or "location" not in headers:
                    return _page(response, headers, limits)
                url = _parsed(headers["location"], limits, seen_from=url)
    raise refusal("redirects", max_redirects=limits.redirects)


@contextmanager
def _refusals(limits: FetchLimits) -> Iterator[None]:
    try:
        yield
    except (httpcore.ReadTimeout, httpcore.WriteTimeout) as error:
        raise refusal("too_slow", max_seconds=limits.seconds) from error
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise refusal("unreachable") from error


def _parsed(address: str, limits: FetchLimits, *, seen_from: httpx.URL | None = None) -> httpx.URL:
    """The address in parts, if its form is permitted. Whether its host is permitted is checked by the sockets."""
    refused = refusal("url", schemes=[*_SCHEMES], ports=sorted(limits.ports), max_characters=_MOST_CHARACTERS)
    if len(address) > _MOST_CHARACTERS:
        raise refused
    try:
        url = seen_from.join(address) if seen_from else httpx.URL(address)
    except (httpx.InvalidURL, ValueError):  # ValueError comes from the standard library when joining
        raise refused from None
    permitted = url.scheme in _SCHEMES and url.raw_host and not url.userinfo and _port(url) in limits.ports
    if not permitted:
        raise refused
    return url


def _port(url: httpx.URL) -> int:
    return _SCHEMES[url.scheme] if url.port is None else url.port


def _target(url: httpx.URL) -> httpcore.URL:
    return httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)


def _headers(response: httpcore.Response) -> Mapping[str, str]:
    """Headers by lower-case name; the first one wins if a name is repeated."""
    return {
        name.decode("latin-1").lower(): value.decode("utf-8", "replace").strip()
        for name, value in reversed(response.headers)
    }


def _page(response: httpcore.Response, headers: Mapping[str, str], limits: FetchLimits) -> FetchedPage:
    content_type = headers.get("content-type", "")
    media_type = content_type.partition(";")[0].strip().lower()
    if response.status // 100 != 2:
        raise refusal("status", status=response.status)
    if media_type not in MEDIA_TYPES:
        raise refusal("media_type", media_types=[*MEDIA_TYPES])
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise refusal("encoded")
    charset = _CHARSET.search(content_type)
    return FetchedPage(media_type, charset and charset[1], _body(response, limits.body_bytes))


def _body(response: httpcore.Response, most: int) -> bytes:
    body = bytearray()
    for piece in response.iter_stream():
        body += piece
        if len(body) > most:
            raise refusal("too_large", max_bytes=most)
    return bytes(body)


@cache
def _tls() -> SSLContext:
    return httpx.create_ssl_context(trust_env=False)

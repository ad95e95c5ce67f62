"""Fetch the readable text behind an address.

Addresses are checked where sockets are opened (core/docs/contract.md, "Addresses").

Layers, from the inside out: `sockets` says which addresses are public and connects only to those. `fetch` makes one
bounded GET through them, and `reading` turns the response into text in a separate process. Nothing is stored, cached or
logged. An error never reveals more about a refused address than that nothing answered (`refusals`).
"""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import BoundedSemaphore

from traitbench.errors import Unavailable
from traitbench.extract.fetch import CONTRACT_LIMITS, FetchLimits, fetch
from traitbench.extract.reading import text_of
from traitbench.extract.sockets import Permits, Resolve, is_public, lookup

__all__ = ["FetchLimits", "ReadableText", "extract"]

# Callers choose what is fetched, and each fetch may hold a thread for 15 s and 1 GB of memory while a page is read.
_MOST_AT_ONCE = 8
_slots = BoundedSemaphore(_MOST_AT_ONCE)


@dataclass(frozen=True)
class ReadableText:
    """The readable text behind an address. The hash is the SHA-256 of `content` in UTF-8."""

    url: str
    content: str
    content_sha256: str
    fetched_at: datetime


def extract(
    url: str, *, limits: FetchLimits = CONTRACT_LIMITS, permits: Permits = is_public, resolve: Resolve = lookup
) -> ReadableText:
    """The text behind `url`; raise `UrlNotFetchable`. The result keeps the `url` asked for, also after redirects.

    `permits` and `resolve` exist for tests, which need servers on this machine. No setting changes them.
    """
    address = url.strip()
    if not _slots.acquire(blocking=False):
        raise Unavailable("Too many addresses are being fetched just now.")
    try:
        content = text_of(fetch(address, limits=limits, permits=permits, resolve=resolve), limits)
    finally:
        _slots.release()
    return ReadableText(address, content, hashlib.sha256(content.encode()).hexdigest(), datetime.now(UTC))

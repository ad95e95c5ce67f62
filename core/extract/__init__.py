"""From an address to the readable text behind it, guarded where the socket is opened.

Layers, from the inside out: `addresses` says which addresses are public, `sockets` connects to those alone, `fetch`
makes one bounded GET through them, `reading` turns what came into text, in a process of its own. Nothing is kept,
cached, logged or written, and an answer tells no more of what is refused than that nothing answered (`refusals`).

See core/docs/contract.md, "Addresses".
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import BoundedSemaphore

from traitbench.errors import Unavailable
from traitbench.extract.addresses import is_public
from traitbench.extract.fetch import CONTRACT_LIMITS, Limits, fetch
from traitbench.extract.reading import text_of
from traitbench.extract.sockets import Permits, Resolve, lookup

__all__ = ["Extracted", "Limits", "extract", "is_url"]

_URL = re.compile(r"https?://[^\s/?#]\S*", re.IGNORECASE)

# Each may hold a thread for fifteen seconds and, while a page is read, a gigabyte: strangers choose what is fetched.
_MOST_AT_ONCE = 8
_seats = BoundedSemaphore(_MOST_AT_ONCE)


@dataclass(frozen=True)
class Extracted:
    """The readable text behind an address. The hash is of the content, as it stands here, in UTF-8."""

    url: str
    content: str
    content_sha256: str
    fetched_at: datetime


def extract(
    url: str, *, limits: Limits = CONTRACT_LIMITS, permits: Permits = is_public, resolve: Resolve = lookup
) -> Extracted:
    """The text behind `url`, which is answered as asked for, whatever it was redirected to; raise `UrlNotFetchable`.

    `permits` and `resolve` are open to tests, which need servers of this machine. No setting reaches them.
    """
    address = url.strip()
    if not _seats.acquire(blocking=False):
        raise Unavailable("Too many addresses are being fetched just now.")
    try:
        content = text_of(fetch(address, limits=limits, permits=permits, resolve=resolve), limits)
    finally:
        _seats.release()
    return Extracted(address, content, hashlib.sha256(content.encode()).hexdigest(), datetime.now(UTC))


def is_url(text: str) -> bool:
    """Whether a text is one http or https address and nothing else; space around it does not count."""
    return _URL.fullmatch(text.strip()) is not None

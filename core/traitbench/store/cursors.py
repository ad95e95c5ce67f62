"""Cursors: opaque positions in a listing, each valid only for the listing and the filters that it was made for.

A cursor is a digest of listing and position, followed by the position. The digest is not a secret: a cursor gives
access to nothing that its caller could not read anyway.
"""

import base64
import binascii
import hashlib
import json
from typing import Any

from traitbench.errors import InvalidCursor
from traitbench.store.rows import ListingRows

_DIGEST = 9

Position = str | int


def write_cursor(listing: str, position: Position) -> str:
    """The cursor of the page after `position`."""
    place = json.dumps(position).encode()
    return base64.urlsafe_b64encode(_digest(listing, place) + place).decode().rstrip("=")


def paged(rows: ListingRows[Any], listing: str, limit: int) -> dict[str, Any]:
    """The fields of a page with the first `limit` rows.

    Pass one row more if there is one: then the page has a next cursor.
    """
    more = rows.next_after(limit)
    return {
        "items": rows.items(limit),
        "unreadable": rows.unreadable(limit),
        "limit": limit,
        "next_cursor": None if more is None else write_cursor(listing, more),
    }


def read_number(listing: str, cursor: str | None) -> int | None:
    """The number in a cursor of this listing; raise `InvalidCursor` for any other cursor."""
    position = _read(listing, cursor)
    if isinstance(position, str):
        raise _invalid()
    return position


def read_name(listing: str, cursor: str | None) -> str | None:
    """The name in a cursor of this listing; raise `InvalidCursor` for any other cursor."""
    position = _read(listing, cursor)
    if isinstance(position, int):
        raise _invalid()
    return position


def _read(listing: str, cursor: str | None) -> Position | None:
    if cursor is None:
        return None
    try:
        packed = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _invalid() from None
    digest, place = packed[:_DIGEST], packed[_DIGEST:]
    if digest != _digest(listing, place):
        raise _invalid()
    position: Position = json.loads(place)
    if write_cursor(listing, position) != cursor:
        raise _invalid()
    return position


def _digest(listing: str, place: bytes) -> bytes:
    return hashlib.sha256(listing.encode() + b"\n" + place).digest()[:_DIGEST]


def _invalid() -> InvalidCursor:
    return InvalidCursor(
        "The cursor does not belong to this listing with these filters. Start again without a cursor.",
        details={"parameter": "cursor"},
    )

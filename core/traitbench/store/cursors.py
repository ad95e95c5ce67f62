"""Pages of listings. A cursor is an opaque position, valid only for the listing and the filters it was made for.

It is a digest of listing and position, followed by the position. The digest is not a secret: a cursor gives access to
nothing that its caller could not read anyway.
"""

import base64
import binascii
import hashlib
import json
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import Column, Select

from traitbench.errors import InvalidCursor, InvalidParameter
from traitbench.store.rows import ListingRows, Position

_DIGEST = 9

KeyT = TypeVar("KeyT", str, int)


@dataclass(frozen=True)
class PageRequest(Generic[KeyT]):
    """The page of a listing that begins after a position: None for the first page."""

    listing: str
    limit: int
    after: KeyT | None

    @classmethod
    def of(cls, kind: type[KeyT], listing: str, limit: int, cursor: str | None, *, most: int) -> "PageRequest[KeyT]":
        """The page at a cursor of this listing, whose positions are of a `kind`.

        Raise `InvalidParameter` unless a page may be this large, and `InvalidCursor` for any other cursor.
        """
        if not 1 <= limit <= most:
            raise InvalidParameter(
                f"limit is {limit}; use 1 to {most}.", details={"parameter": "limit", "least": 1, "most": most}
            )
        return cls(listing, limit, None if cursor is None else _read(kind, listing, cursor))

    def select(self, statement: Select[Any], position: Column[Any], *, descending: bool = False) -> Select[Any]:
        """The rows of the page in order, and one more if there is one: then the page has a next cursor."""
        if self.after is not None:
            statement = statement.where(position < self.after if descending else position > self.after)
        return statement.order_by(position.desc() if descending else position).limit(self.limit + 1)

    def fields(self, rows: ListingRows[Any]) -> dict[str, Any]:
        """The fields of the page with the rows that `select` selected."""
        more = rows.next_after(self.limit)
        return {
            "items": rows.items(self.limit),
            "unreadable": rows.unreadable(self.limit),
            "limit": self.limit,
            "next_cursor": None if more is None else write_cursor(self.listing, more),
        }


def write_cursor(listing: str, position: Position) -> str:
    """The cursor of the page after `position`."""
    written = json.dumps(position).encode()
    return base64.urlsafe_b64encode(_digest(listing, written) + written).decode().rstrip("=")


def _read(kind: type[KeyT], listing: str, cursor: str) -> KeyT:
    try:
        packed = base64.b64decode(cursor.encode() + b"=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _invalid() from None
    digest, written = packed[:_DIGEST], packed[_DIGEST:]
    if digest != _digest(listing, written):
        raise _invalid()
    position = json.loads(written)
    if not isinstance(position, kind) or write_cursor(listing, position) != cursor:
        raise _invalid()
    return position


def _digest(listing: str, written: bytes) -> bytes:
    return hashlib.sha256(listing.encode() + b"\n" + written).digest()[:_DIGEST]


def _invalid() -> InvalidCursor:
    return InvalidCursor(
        "The cursor does not belong to this listing with these filters. Start again without a cursor.",
        details={"parameter": "cursor"},
    )

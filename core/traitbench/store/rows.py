"""Read rows as values. An unreadable row hides no other row: a listing names it and gives the reason.

A row may be unreadable because an older release accepted more, or because the database was edited by hand. A listing
reads its rows together, and one by one only if that fails.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import ValidationError
from sqlalchemy import Column, Connection, Select, select
from sqlalchemy.exc import DBAPIError

from traitbench.contract.fields import Unreadable
from traitbench.errors import UnreadableRow

Item = TypeVar("Item")
Position = str | int

_ROW_ERRORS = (
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    RecursionError,
    UnreadableRow,
    DBAPIError,
)
_MAX_REASONS = 3


@dataclass(frozen=True)
class ListingRows(Generic[Item]):
    """The rows of a listing, in order: the position of each, and its value or the reason why it is unreadable.

    The position is None if it is unreadable too.
    """

    rows: Sequence[tuple[Position | None, Item | Unreadable]]

    def items(self, most: int | None = None) -> list[Item]:
        """The values among the first `most` rows."""
        return [value for _, value in self.rows[:most] if not isinstance(value, Unreadable)]

    def unreadable(self, most: int | None = None) -> list[Unreadable]:
        """The rows without a value among the first `most`."""
        return [value for _, value in self.rows[:most] if isinstance(value, Unreadable)]

    def next_after(self, most: int) -> Position | None:
        """The position after which the next page begins; None if these rows are the last."""
        known = [position for position, _ in self.rows[:most] if position is not None]
        return known[-1] if known and len(self.rows) > most else None


def read_listing(
    connection: Connection,
    chosen: Select[Any],
    *,
    key: Column[Any],
    position: Column[Any],
    all_at_once: Callable[[], Sequence[Item]],
    one: Callable[[Any], Item],
    position_of: Callable[[Item], Position],
    called: Callable[[Position], str] = str,
) -> ListingRows[Item]:
    """The rows of a listing.

    `chosen` selects the rows in order, with any columns; `key` and `position` are the columns of their id and of their
    position in the listing. `all_at_once` reads all rows and `one` reads the row with an id. `position_of` returns the
    position of a value, and `called` the name of the row at a position.
    """
    try:
        return ListingRows([(position_of(item), item) for item in all_at_once()])
    except _ROW_ERRORS as error:
        reason_of(error)  # raises errors that have another cause than a row
    ids = connection.execute(chosen.with_only_columns(key, maintain_column_froms=True)).scalars().all()
    return ListingRows([_read_one(connection, row_id, key, position, one, called) for row_id in ids])


def one_of(read: Callable[[], Item], thing: str) -> Item:
    """The result of `read`; raise `UnreadableRow` if the row that it reads is unreadable."""
    try:
        return read()
    except _ROW_ERRORS as error:
        raise UnreadableRow(reason_of(error), thing=thing) from None


def readable(read: Callable[[], Item]) -> Item | None:
    """The result of `read`; None if the row that it reads is unreadable."""
    try:
        return read()
    except _ROW_ERRORS as error:
        reason_of(error)
        return None


def reason_of(error: Exception) -> str:
    """Why a row is unreadable, without any of its content; raise the error again if its cause is the database."""
    if isinstance(error, UnreadableRow):
        return error.reason
    if isinstance(error, ValidationError):
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
        return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in wrong[:_MAX_REASONS])
    if isinstance(error, UnicodeError):
        return "a text is not UTF-8"
    if isinstance(error, DBAPIError):
        # SQLite has no error code for this; any other text means another cause.
        if "Could not decode to UTF-8" in str(error.orig):
            return "a text is not UTF-8"
        raise error
    return (
        "a value is out of range" if isinstance(error, ArithmeticError) else "a value is missing or of the wrong type"
    )


def _read_one(
    connection: Connection,
    row_id: str | int,
    key: Column[Any],
    position: Column[Any],
    one: Callable[[Any], Item],
    called: Callable[[Position], str],
) -> tuple[Position | None, Item | Unreadable]:
    where = _position(connection, row_id, key, position)
    try:
        return where, one(row_id)
    except _ROW_ERRORS as error:
        name = f"row {row_id}" if where is None else called(where)
        return where, Unreadable(item=name, reason=reason_of(error))


def _position(connection: Connection, row_id: str | int, key: Column[Any], position: Column[Any]) -> Position | None:
    try:
        where = connection.execute(select(position).where(key == row_id)).scalar_one()
    except _ROW_ERRORS as error:
        reason_of(error)
        return None
    return where if isinstance(where, position.type.python_type) else None

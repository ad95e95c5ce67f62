"""Texts that a spreadsheet would run as a formula, and the apostrophe that prevents it.

Our CSV files have an apostrophe before each of them (`harmless`). Whoever reads such a file takes them off again
(`as_written`), but only if the file is ours: then no text is `is_open`.
"""

import re
from collections.abc import Iterable

_SIGNS = "=+\\-@＝＋－＠"
# A formula begins with a sign, which may be full-width. It can begin a cell. If a spreadsheet separates by semicolons
# or tabs, or treats quotation marks as text, it can also begin after a separator or line break inside a cell.
_AT_BEGIN, _INSIDE = rf"(?='*[{_SIGNS}\t\r\n])", rf"(?='*[{_SIGNS}])"
_BEGINS = re.compile(rf"\A{_AT_BEGIN}|(?<=[;\t\r\n]){_INSIDE}")
_OPEN = re.compile(rf"\A[{_SIGNS}\t\r\n]|(?<=[;\t\r\n])[{_SIGNS}]")
_MAY_BE = re.compile(rf"\A[{_SIGNS}'\t\r\n]|[;\t\r\n]['{_SIGNS}]")
_GUARDED = re.compile(rf"\A'{_AT_BEGIN}|(?<=[;\t\r\n])'{_INSIDE}")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?%?")


def harmless(cell: object) -> object:
    """Return a cell that no spreadsheet runs as a formula. Numbers, including negative ones, stay as they are."""
    if not isinstance(cell, str) or _NUMBER.fullmatch(cell):
        return cell
    return _BEGINS.sub("'", cell)


def as_written(cell: str) -> str:
    """Return the cell that `harmless` was applied to."""
    return _GUARDED.sub("", cell)


def is_guarded(cell: str) -> bool:
    """Whether `as_written` changes the cell."""
    return _GUARDED.search(cell) is not None


def is_open(cell: str) -> bool:
    """Whether a spreadsheet would run a formula in the cell; cells that `harmless` wrote are never open."""
    return _OPEN.search(cell) is not None and _NUMBER.fullmatch(cell) is None


def may_be_formula(cell: str) -> bool:
    """Whether the cell is open or guarded, or perhaps so: a quick test that most cells fail."""
    return _MAY_BE.search(cell) is not None


def are_guarded(cells: Iterable[str]) -> bool:
    """Whether some of the cells have an apostrophe of ours, and none lacks one: whether `harmless` wrote them."""
    guarded = False
    for cell in cells:
        if is_open(cell):
            return False
        guarded = guarded or is_guarded(cell)
    return guarded

"""Downloads: the rows on screen as a file.

The CSV is for spreadsheets: UTF-8 with a byte order mark for Excel, and an apostrophe before anything that a
spreadsheet would run as a formula, in cells and headers. Reading the file again removes exactly these apostrophes
(`as_written`). The JSONL and Parquet files are exact and can be imported again unchanged.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

_SIGNS = "=+\\-@＝＋－＠"
# A formula begins with a sign, which may be full-width. It can begin a cell. If a spreadsheet separates by semicolons
# or tabs, or treats quotation marks as text, it can also begin after a separator or line break inside a cell.
_AT_BEGIN, _INSIDE = rf"(?='*[{_SIGNS}\t\r\n])", rf"(?='*[{_SIGNS}])"
_BEGINS = re.compile(rf"\A{_AT_BEGIN}|(?<=[;\t\r\n]){_INSIDE}")
_GUARDED = re.compile(rf"\A'{_AT_BEGIN}|(?<=[;\t\r\n])'{_INSIDE}")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?%?")


def csv_file(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return a CSV file with a header."""
    place = io.StringIO(newline="")
    writer = csv.writer(place, lineterminator="\r\n")
    writer.writerow(map(harmless, columns))
    writer.writerows([harmless(cell) for cell in row] for row in rows)
    return place.getvalue().encode("utf-8-sig")


def jsonl_file(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return a file with one JSON object per line."""
    lines = (json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode("utf-8")


def parquet_file(out: IO[bytes], table: "DataFrame") -> None:
    """Write a table as a Parquet file without its index."""
    table.to_parquet(out, engine="pyarrow", compression="zstd", index=False)


def harmless(cell: object) -> object:
    """Return a cell that no spreadsheet runs as a formula. Numbers, including negative ones, stay as they are."""
    if not isinstance(cell, str) or _NUMBER.fullmatch(cell):
        return cell
    return _BEGINS.sub("'", cell)


def as_written(cell: str) -> str:
    """Return the cell that `harmless` was applied to."""
    return _GUARDED.sub("", cell)

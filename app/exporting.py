"""Samples on their way out: what is on screen as a file.

The CSV is for spreadsheets: UTF-8 with a mark that Excel knows, and an apostrophe before whatever a spreadsheet would
run as a formula, in cells and in the header. Reading the file again takes exactly these apostrophes away
(`as_written`). The JSONL is exact and can be imported again as it is; so is the Parquet, with its types.
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
# A formula begins with a sign, full-width ones included. It may begin a cell; and where a spreadsheet separates by
# semicolons or tabs, or takes quotation marks for text, it may begin behind a separator or a line break inside of one.
_AT_BEGIN, _INSIDE = rf"(?='*[{_SIGNS}\t\r\n])", rf"(?='*[{_SIGNS}])"
_BEGINS = re.compile(rf"\A{_AT_BEGIN}|(?<=[;\t\r\n]){_INSIDE}")
_GUARDED = re.compile(rf"\A'{_AT_BEGIN}|(?<=[;\t\r\n])'{_INSIDE}")
_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?%?")


def csv_file(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A CSV with a header."""
    place = io.StringIO(newline="")
    writer = csv.writer(place, lineterminator="\r\n")
    writer.writerow(map(harmless, columns))
    writer.writerows([harmless(cell) for cell in row] for row in rows)
    return place.getvalue().encode("utf-8-sig")


def jsonl_file(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """One JSON object a line."""
    lines = (json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode("utf-8")


def parquet_file(out: IO[bytes], table: "DataFrame") -> None:
    """A Parquet file of a table, without an index."""
    table.to_parquet(out, engine="pyarrow", compression="zstd", index=False)


def harmless(cell: object) -> object:
    """The cell as no spreadsheet runs it. Numbers stay numbers, those below zero too."""
    if not isinstance(cell, str) or _NUMBER.fullmatch(cell):
        return cell
    return _BEGINS.sub("'", cell)


def as_written(cell: str) -> str:
    """The cell before `harmless`."""
    return _GUARDED.sub("", cell)

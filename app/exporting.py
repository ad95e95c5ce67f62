"""Samples on their way out: what is on screen as a file.

The CSV is for spreadsheets: UTF-8 with a mark that Excel knows, and a cell that a spreadsheet would run as a formula
begins with an apostrophe. The JSONL is exact and can be imported again as it is; so is the Parquet, with its types.
"""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_file(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A CSV with a header."""
    place = io.StringIO(newline="")
    writer = csv.writer(place, lineterminator="\r\n")
    writer.writerow(columns)
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
    """The cell as no spreadsheet runs it; texts only, for a number is no formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell

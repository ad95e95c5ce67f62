"""Downloads: the rows on screen as a file.

The CSV is for spreadsheets: UTF-8 with a byte order mark for Excel, and an apostrophe before anything that a
spreadsheet would run as a formula, in cells and headers. Reading the file again removes exactly these apostrophes
(`formulas.as_written`). The JSONL and Parquet files are exact and can be imported again unchanged.
"""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import IO, TYPE_CHECKING

from traitbench.formulas import harmless

if TYPE_CHECKING:
    from pandas import DataFrame


def csv_file(columns: Sequence[str], rows: Iterable[Sequence[object]], *, mark: bool = True) -> bytes:
    """Return a CSV file with a header; for programs, without the byte order `mark` that Excel needs."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\r\n")
    # A header is run as a formula like any other cell.
    writer.writerow(map(harmless, columns))
    writer.writerows([harmless(cell) for cell in row] for row in rows)
    return buffer.getvalue().encode("utf-8-sig" if mark else "utf-8")


def jsonl_file(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return a file with one JSON object per line."""
    lines = (json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode("utf-8")


def parquet_file(out: IO[bytes], table: "DataFrame") -> None:
    """Write a table as a Parquet file without its index."""
    table.to_parquet(out, engine="pyarrow", compression="zstd", index=False)

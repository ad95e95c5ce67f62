"""Read tables from CSV, TSV, JSONL, JSON, Parquet and Excel files row by row, never as a whole.

`opened` scans the whole file for its format, columns, number of rows and errors. Then `Source.lines` yields the rows,
any number of times. The exceptions are a JSON array and an Excel sheet, which are parsed as a whole. A problem never
repeats the text of the row.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, Literal

from traitbench.tables.delimited import Csv
from traitbench.tables.encoding import encoding_of
from traitbench.tables.excel import Excel
from traitbench.tables.json_rows import Json
from traitbench.tables.parquet import Parquet
from traitbench.tables.rows import Line, Row

Kind = Literal["csv", "json", "parquet", "excel"]

ENDINGS: Mapping[str, Kind] = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "json"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    ".xlsx": "excel",
}
"""The format by the ending of the file name. All other files are read as CSV with any separator."""

_PARQUET = b"PAR1"
_KEPT = 200
_CHUNK = 1 << 20
_LONG = 2**63
_ZIP = b"PK\x03\x04"


@dataclass(frozen=True)
class Source:
    """A file that was scanned: it has `count` rows, good and bad, and `first` holds the first of them.

    `types` has the types of values in each column of a JSON file; `digest` is the SHA-256 of the file. `header` is as
    it was given, so that a copy of the file is read in the same way.
    """

    file: IO[bytes]
    kind: Kind
    columns: tuple[str, ...]
    count: int
    first: tuple[Line, ...]
    notes: tuple[str, ...]
    digest: str
    types: Mapping[str, frozenset[str]]
    header: bool
    _again: Iterable[Line]

    def lines(self) -> Iterator[Line]:
        """Iterate over all rows and problems from the start. Only one iteration at a time is possible."""
        return iter(self._again)


def opened(name: str, file: IO[bytes], *, header: bool = True, keep: int = _KEPT) -> Source:
    """Scan a seekable file; raise `Unreadable` if it has no table."""
    kind = _kind(name, file)
    if kind == "parquet":
        return _surveyed(file, kind, Parquet(file), (), _digest(file), header, keep)
    if kind == "excel":
        sheet = Excel(file, header=header)
        return _surveyed(file, kind, sheet, sheet.notes, _digest(file), header, keep)
    encoding, digest, notes = encoding_of(file)
    if kind == "json":
        return _surveyed(file, kind, Json(file, encoding), notes, digest, header, keep)
    return _surveyed(file, kind, Csv(file, encoding, header=header), notes, digest, header, keep)


def _kind(name: str, file: IO[bytes]) -> Kind:
    file.seek(0)
    beginning = file.read(4)
    if beginning == _PARQUET:
        return "parquet"
    if beginning == _ZIP:
        return "excel"
    return next((kind for ending, kind in ENDINGS.items() if name.lower().endswith(ending)), "csv")


def _surveyed(
    file: IO[bytes],
    kind: Kind,
    reader: Csv | Json | Parquet | Excel,
    notes: tuple[str, ...],
    digest: str,
    header: bool,
    keep: int,
) -> Source:
    count, first = 0, list[Line]()
    columns = dict.fromkeys(reader.columns)
    types: dict[str, set[str]] = {}
    for line in reader:
        count += 1
        if count <= keep:
            first.append(line)
        if kind == "json" and isinstance(line, Row):
            columns |= dict.fromkeys(line.cells)
            for column, value in (line.record or {}).items():
                types.setdefault(column, set()).add(_type(value))
    reader.check(count, bool(columns))
    types_of = {column: frozenset(each) for column, each in types.items()}
    return Source(file, kind, tuple(columns), count, tuple(first), notes, digest, types_of, header, reader)


def _type(value: Any) -> str:
    """Return the name of a value's type; "big" for integers beyond 64 bits."""
    return "big" if type(value) is int and not -_LONG <= value < _LONG else type(value).__name__


def _digest(file: IO[bytes]) -> str:
    file.seek(0)
    hashed = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        hashed.update(chunk)
    return hashed.hexdigest()

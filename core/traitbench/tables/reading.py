"""Read a file of any format once, from its start to its end, into rows that are quick and safe to read again.

Each row becomes a line of JSON: the number and the cells of a record, its typed values, or what is wrong with it. The
file may come from anybody. `process` runs this module apart, where it can be ended.
"""

import codecs
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from traitbench.display.text import count
from traitbench.formulas import as_written, is_guarded, is_open, may_be_formula
from traitbench.tables.chat_log import ChatLog, is_chat_log
from traitbench.tables.conversations import messages_of
from traitbench.tables.delimited import Csv
from traitbench.tables.excel import Excel
from traitbench.tables.json_rows import Json
from traitbench.tables.parquet import Parquet
from traitbench.tables.rows import Kind, NotATable, Problem, column_names, encoding_of, flattened, refuse_if_wide

ENDINGS: Mapping[str, Kind] = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "json"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    ".xlsx": "excel",
}
"""The format by the ending of the file name. All other files are read as CSV with any separator."""

LINES = ".txt"
"""The ending of a file with one text a line and no header."""

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

MOST_ROWS = 20_000_000
_TOO_MANY = f"The file has more than {MOST_ROWS:,} rows. Split it, then retry."

_PARQUET, _ZIP, _OLD_EXCEL = b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"7z\xbc\xaf": "7z", b"%PDF": "PDF"}
_WEBANNO, _SUBTITLES = b"#FORMAT=WebAnno TSV", b"WEBVTT"
_PAGE = re.compile(rb"<(?:!doctype|html|\?xml|table)\b", re.IGNORECASE)
_JSON = re.compile(rb'(?:\[\s*)?\{\s*"(?:[^"\\]|\\.)*"\s*:')
_LOOKED_AT = 200
_MOST_INSIDE = 60
_LONG = 2**63
_SERIAL_DATE = re.compile(r"[2-6]\d{4}(?:[.,]\d+)?")
_DATE_NAME = re.compile(r"\b(?:date|datum|fecha|data|day|time|zeit)\b|date$|datum$", re.IGNORECASE)
_FEWEST_DATES = 3


@dataclass(frozen=True)
class Survey:
    """What a file has: `count` rows, good and bad, in `columns`.

    `types` has the types of values in each column of JSON. `guarded` says whether apostrophes before formulas are to be
    removed, `digest` is the SHA-256 of the rows. `summary` says in words how much was read. An Excel file has `sheets`,
    of which `sheet` was read. `header` says whether the columns have names of their own. Columns of JSON are the paths
    of values, such as `data.text`, but not inside the columns `whole`. `conversations` are the columns of messages with
    roles.
    """

    kind: Kind
    columns: tuple[str, ...]
    count: int
    notes: tuple[str, ...]
    digest: str
    types: Mapping[str, tuple[str, ...]]
    guarded: bool
    summary: str
    sheets: tuple[str, ...] = ()
    sheet: str | None = None
    header: bool = True
    whole: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()


def read(
    name: str, file: IO[bytes], rows: IO[bytes], typed: IO[bytes], *, header: bool | None, sheet: str | None
) -> Survey:
    """Write the rows of a file to `rows`, and a Parquet file also to `typed` as Parquet; return what it has.

    Raise `NotATable` if the file is not a table, and `MemoryError` or `OSError` where this process has its limits.
    """
    reader = _reader(name, file, header=header, sheet=sheet)
    if isinstance(reader, Parquet) and reader.count > MOST_ROWS:
        raise NotATable(_TOO_MANY)
    refuse_if_wide(len(reader.columns))
    columns, counted, guards = _Columns(reader.columns), 0, _Guards()
    guards.add(list(reader.columns) if isinstance(reader, Csv | Excel) else [])
    serial = {each: 0 for each in reader.columns if _DATE_NAME.search(each)}
    hashed = hashlib.sha256()
    for line in reader:
        counted += 1
        if counted > MOST_ROWS:
            raise NotATable(_TOO_MANY)
        if isinstance(line, Problem):
            written: list[Any] = [line.row, line.column, line.reason]
        else:
            number, values = line
            written = [number, values]
            if isinstance(values, Mapping):
                columns.add(values, is_json=isinstance(reader, Json))
            else:
                guards.add(values)
                if counted <= _LOOKED_AT:
                    columns.look(dict(zip(reader.columns, values, strict=False)))
                _count_serials(serial, reader.columns, values)
        # A damaged byte is a lone surrogate here, and a text of JSON can have one; `_lines` of `source` reads them
        # back.
        content = _ENCODER.encode(written).encode("utf-8", "surrogatepass")
        hashed.update(content)
        rows.write(content + b"\n")
    all_columns = columns.names()
    if not (counted and all_columns):
        raise NotATable(reader.empty)
    if isinstance(reader, Parquet):
        reader.copy(typed)
    # Apostrophes guard headers too.
    names = column_names([*map(as_written, all_columns)]) if guards.consistent else all_columns
    renamed = dict(zip(all_columns, names, strict=True))
    return Survey(
        reader.kind,
        names,
        counted,
        (*reader.notes, *guards.notes, *_serial_notes(serial, counted)),
        hashed.hexdigest(),
        {column: tuple(columns.types[column]) for column in all_columns if column in columns.types},
        guards.consistent,
        reader.summary(counted),
        reader.sheets if isinstance(reader, Excel) else (),
        reader.sheet if isinstance(reader, Excel) else None,
        reader.header if isinstance(reader, Csv | Excel) else True,
        tuple(columns.whole),
        tuple(renamed[column] for column in columns.conversations()),
    )


AnyReader = Csv | ChatLog | Json | Parquet | Excel


def _reader(name: str, file: IO[bytes], *, header: bool | None, sheet: str | None) -> AnyReader:
    kind = _kind(name, file)
    if kind == "parquet":
        return Parquet(file)
    if kind == "excel":
        return Excel(file, header=header is not False, sheet=sheet)
    if sheet is not None:
        raise NotATable("Only Excel files have sheets.")
    encoding = encoding_of(file)
    if kind == "json":
        return Json(file, encoding)
    if header is None and is_chat_log(file, encoding):
        return ChatLog(file, encoding)
    return Csv(file, encoding, header=header, lines=name.lower().endswith(LINES))


def _kind(name: str, file: IO[bytes]) -> Kind:
    file.seek(0)
    # By its content first: files are renamed, and exports get wrong endings.
    beginning = file.read(200)
    if beginning.startswith(_PARQUET):
        return "parquet"
    if beginning.startswith(_ZIP):
        return "excel"
    if beginning.startswith(_OLD_EXCEL):
        raise NotATable("This spreadsheet has an old format or a password. Save it as .xlsx without one, then retry.")
    packed = next((what for start, what in _PACKED.items() if beginning.startswith(start)), None)
    if packed:
        raise NotATable(f"This is a {packed} file, not a table. Upload the CSV, Excel, JSONL or Parquet file itself.")
    named: Kind = next((kind for ending, kind in ENDINGS.items() if name.lower().endswith(ending)), "csv")
    start = beginning.lstrip(codecs.BOM_UTF8).lstrip()
    if start.startswith(_WEBANNO):
        raise NotATable(
            "This is an export of INCEpTION or WebAnno, which labels words and not texts. Export the texts as plain "
            "text or CSV, then label them here."
        )
    if start.startswith(_SUBTITLES):
        raise NotATable("These are subtitles, not a table. Save their texts as one text per line, then retry.")
    if named == "csv" and _PAGE.match(start):
        raise NotATable("This is a web page or XML, not a table. Save it as .xlsx or CSV, then retry.")
    if named == "csv" and _JSON.match(start):
        return "json"
    return named


def _type(value: Any) -> str:
    """Return the name of a value's type; "big" for integers beyond 64 bits."""
    return "big" if type(value) is int and not -_LONG <= value < _LONG else type(value).__name__


class _Columns:
    """The columns of a file, the types of their values if it is JSON, and which of them have conversations."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = dict.fromkeys(names)
        self.types = dict[str, dict[str, None]]()
        self.whole = dict[str, None]()
        self._inside = dict[str, set[str]]()
        self._rows, self._filled, self._messages = 0, Counter[str](), Counter[str]()

    def add(self, record: Mapping[str, Any], *, is_json: bool) -> None:
        """Add the columns of a record."""
        flat = flattened(record, self.whole) if is_json else record
        self.look(flat)
        # A difference of keys would take as long as there are columns, for every record.
        new = {name for name in flat if name not in self._names}
        if new:
            self._names |= dict.fromkeys(flat)
            refuse_if_wide(len(self._names))
        if not is_json:
            return
        for column, value in flat.items():
            self.types.setdefault(column, {})[_type(value)] = None
        for key in {path.partition(".")[0] for path in new}:
            if isinstance(record.get(key), dict) and key not in self.whole:
                inside = self._inside.setdefault(key, set())
                inside.update(path for path in new if path.startswith(f"{key}.") and path not in record)
                if len(inside) > _MOST_INSIDE:
                    # Its keys are values, such as identifiers, and no columns.
                    self.whole[key] = None
                    self._names[key] = None
                    self.types.setdefault(key, {})["dict"] = None
                    for path in inside:
                        self._names.pop(path, None)

    def look(self, values: Mapping[str, Any]) -> None:
        """Look for conversations in the first rows."""
        self._rows += 1
        if self._rows > _LOOKED_AT:
            return
        for column, value in values.items():
            if value not in ("", None):
                self._filled[column] += 1
                self._messages[column] += messages_of(value) is not None

    def names(self) -> tuple[str, ...]:
        """Return all columns; an object that is null in some rows has only the columns of its values."""
        nulls = {
            key for key, inside in self._inside.items() if inside and self.types.get(key, {}).keys() <= {"NoneType"}
        }
        return tuple(name for name in self._names if name not in nulls)

    def conversations(self) -> list[str]:
        """Return the columns most of whose values are conversations."""
        known = {*self.names()}
        return [
            column for column, times in self._messages.items() if column in known and times > self._filled[column] / 2
        ]


class _Guards:
    """Whether a file has the apostrophes of our downloads for spreadsheets (`writing.harmless`).

    In such a file every cell that a spreadsheet would run as a formula has one. A file of others may have a text that
    begins with an apostrophe; it stays, because other cells have none where ours would.
    """

    def __init__(self) -> None:
        self._guarded = self._open = 0

    def add(self, cells: list[str]) -> None:
        """Count the cells of a row."""
        for cell in filter(may_be_formula, cells):
            if is_open(cell):
                self._open += 1
            elif is_guarded(cell):
                self._guarded += 1

    @property
    def consistent(self) -> bool:
        """Whether the apostrophes are ours."""
        return self._guarded > 0 and self._open == 0

    @property
    def notes(self) -> list[str]:
        """What to say about the apostrophes."""
        if not self.consistent:
            return []
        some = count(self._guarded, "cell has", "cells have")
        return [f"{some} an apostrophe that keeps spreadsheets from running a formula. It is removed."]


def _count_serials(serial: dict[str, int], columns: tuple[str, ...], cells: list[str]) -> None:
    for position, column in enumerate(columns) if serial else ():
        if column in serial and position < len(cells):
            serial[column] += bool(_SERIAL_DATE.fullmatch(cells[position]))


def _serial_notes(serial: Mapping[str, int], rows: int) -> list[str]:
    return [
        f"The column {column} has numbers like 45123 instead of dates: serial numbers of a spreadsheet. To group by "
        "date, format the column as a date and export it again."
        for column, count in serial.items()
        if count >= max(_FEWEST_DATES, rows / 2)
    ]

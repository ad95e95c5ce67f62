"""Read tables from CSV, TSV, JSONL, JSON, Parquet and Excel files row by row, never as a whole.

`opened` scans the whole file for its format, columns, number of rows and errors. Then `Source.lines` yields the rows,
any number of times. The exceptions are a JSON array and an Excel sheet, which are parsed as a whole. A problem never
repeats the text of the row.
"""

import codecs
import csv
import hashlib
import io
import json
import re
import zlib
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Literal
from zipfile import BadZipFile, ZipFile

from traitbench.app.files.exporting import as_written

Kind = Literal["csv", "json", "parquet", "excel"]

ENDINGS: Mapping[str, Kind] = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "json"),
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    ".xlsx": "excel",
}
"""The format by the ending of the file name. All other files are read as CSV with any separator."""

_DELIMITERS = (",", ";", "\t", "|")
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_PARQUET = b"PAR1"
_KEPT = 200
_CHUNK = 1 << 20
_HEAD = 100_000
_AT_ONCE = 1_000
_LONG = 2**63
_ZIP = b"PK\x03\x04"
_MOST_UNPACKED, _MOST_CELLS = 512 << 20, 20_000_000
_CELL, _LONGEST_CELL = re.compile(rb'\br="([A-Z]{1,3})(\d{1,7})"'), 16
_LARGE_EXCEL = "The sheet is too large, or has a cell far outside its table. Delete that cell, or export it as CSV."
_BROKEN_EXCEL = "This is not a valid Excel file. Save it as .xlsx again, or export it as CSV, then retry."
_BROKEN_PARQUET = "This is not a valid Parquet file. Export it again, then retry."


class Unreadable(ValueError):
    """The file is not a table; the message says what to do."""


@dataclass(frozen=True)
class Row:
    """One record; `number` is its first line, `record` its typed values if the file is not plain text."""

    number: int
    cells: Mapping[str, str]
    record: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Problem:
    """Why a row is not valid."""

    row: int
    column: str
    reason: str


Line = Row | Problem


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
        return _surveyed(file, kind, _Parquet(file), (), _digest(file), header, keep)
    if kind == "excel":
        sheet = _Excel(file, header=header)
        return _surveyed(file, kind, sheet, sheet.notes, _digest(file), header, keep)
    encoding, digest, notes = _encoding(file)
    if kind == "json":
        return _surveyed(file, kind, _Json(file, encoding), notes, digest, header, keep)
    return _surveyed(file, kind, _Csv(file, encoding, header=header), notes, digest, header, keep)


def as_text(value: Any) -> str:
    """Return the value of a cell as text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


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
    reader: "_Csv | _Json | _Parquet | _Excel",
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


# ---- text ----------------------------------------------------------------------------------------------------------


def _encoding(file: IO[bytes]) -> tuple[str, str, tuple[str, ...]]:
    """Return the encoding of the file, its digest, and notes for the person; raise `Unreadable` if it is not text."""
    file.seek(0)
    beginning = file.read(4)
    for mark, encoding in _BOMS:
        if beginning.startswith(mark):
            try:
                return encoding, _text_digest(file, encoding), ()
            except UnicodeDecodeError as error:
                raise Unreadable(f"The file claims to be {encoding.upper()} but is not. Save it as UTF-8.") from error
    try:
        return "utf-8", _text_digest(file, "utf-8"), ()
    except UnicodeDecodeError:
        pass
    try:
        digest = _text_digest(file, "cp1252")
    except UnicodeDecodeError as error:
        raise Unreadable("The file is neither UTF-8 nor Windows-1252. Save it as UTF-8 and try again.") from error
    note = "The file is not UTF-8 and was read as Windows-1252. Check accents and quotation marks in the preview."
    return "cp1252", digest, (note,)


def _text_digest(file: IO[bytes], encoding: str) -> str:
    file.seek(0)
    hashed, decoder, blank = hashlib.sha256(), codecs.getincrementaldecoder(encoding)(), True
    while chunk := file.read(_CHUNK):
        hashed.update(chunk)
        blank = not decoder.decode(chunk).strip() and blank
    if not decoder.decode(b"", final=True).strip() and blank:
        raise Unreadable("The file is empty.")
    return hashed.hexdigest()


@contextmanager
def _text(file: IO[bytes], encoding: str, newline: str) -> Iterator[io.TextIOWrapper]:
    """Open the file as text from its start; the file itself stays open."""
    file.seek(0)
    text = io.TextIOWrapper(file, encoding, newline=newline)
    try:
        yield text
    finally:
        if not file.closed:
            text.detach()


class _Csv:
    """The rows of a CSV file, with columns named by the header, or numbered without one."""

    def __init__(self, file: IO[bytes], encoding: str, *, header: bool) -> None:
        self._file, self._encoding, self._header = file, encoding, header
        with _text(file, encoding, "") as text:
            self._delimiter = _delimiter(text.read(_HEAD))
        records = self._records()
        first = next(records, None)
        if first is None:
            raise Unreadable("The file has no rows.")
        width = max([len(first[1]), *(len(cells) for _, cells in records)]) if not header else len(first[1])
        records.close()
        self.columns = _column_names(list(map(as_written, first[1])) if header else [""] * width)

    def __iter__(self) -> Iterator[Line]:
        records = self._records()
        if self._header:
            next(records)
        for number, cells in records:
            if any(cell.strip() for cell in cells[len(self.columns) :]):
                has = f"has {len(cells)} cells where the header has {len(self.columns)}"
                yield Problem(number, "", f"{has}; quote cells that contain a separator")
            else:
                as_meant = map(as_written, cells)
                yield Row(number, dict(zip(self.columns, [*as_meant, *[""] * len(self.columns)], strict=False)))

    def check(self, count: int, _has_columns: bool) -> None:
        if not count:
            raise Unreadable(
                "The file has a header but no rows. If the first row is a text, say that the file has no column names."
            )

    def _records(self) -> "Records":
        with _text(self._file, self._encoding, "") as text:
            yield from _records(text, self._delimiter)


Records = Generator[tuple[int, list[str]], None, None]


def _records(text: Iterable[str], delimiter: str) -> Records:
    """Yield the non-blank records, each with its first line."""
    reader = csv.reader(text, delimiter=delimiter)
    begins = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield begins, cells
            begins = reader.line_num + 1
    except csv.Error as error:
        raise Unreadable(f"Line {begins} cannot be read: {error}. Check for an unclosed quotation mark.") from error


def _delimiter(text: str) -> str:
    """Return the separator that gives the first records the most regular width of at least two cells."""
    return max(_DELIMITERS, key=lambda delimiter: _regularity(text, delimiter))


def _regularity(text: str, delimiter: str) -> tuple[bool, float]:
    widths: Counter[int] = Counter()
    try:
        for _, cells in _records(io.StringIO(text, newline=""), delimiter):
            widths[len(cells)] += 1
            if widths.total() == 50:
                break
    except Unreadable:
        return False, 0.0
    width, times = widths.most_common(1)[0] if widths else (0, 0)
    return width > 1, times / max(widths.total(), 1)


def _column_names(cells: Sequence[str]) -> tuple[str, ...]:
    names: list[str] = []
    for position, cell in enumerate(cells, start=1):
        name = cell.strip() or f"Column {position}"
        names.append(name if name not in names else f"{name} ({position})")
    return tuple(names)


class _Json:
    """The rows of a JSON file: one object per line, or the elements of an array."""

    columns: tuple[str, ...] = ()

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file, self._encoding = file, encoding

    def __iter__(self) -> Iterator[Line]:
        for number, value in self._values():
            if isinstance(value, Problem):
                yield value
            elif not isinstance(value, dict):
                yield Problem(number, "", 'is not an object like {"text": "..."}')
            else:
                yield Row(number, {key: as_text(each) for key, each in value.items()}, value)

    def check(self, _count: int, has_columns: bool) -> None:
        if not has_columns:
            raise Unreadable('No line is a JSON object. Each line should look like {"text": "...", "quality": 1}.')

    def _values(self) -> Iterator[tuple[int, Any]]:
        """Yield the values with their line, or with their position in a JSON array."""
        with _text(self._file, self._encoding, "\n") as text:
            beginning = next((line.lstrip() for line in text if line.strip()), "")
        with _text(self._file, self._encoding, "\n") as text:
            if beginning.startswith("["):
                try:
                    yield from enumerate(json.load(text), start=1)
                except (ValueError, RecursionError) as error:
                    raise Unreadable("The file starts like a JSON array but is not valid JSON.") from error
                return
            for number, line in enumerate(text, start=1):
                if line.strip():
                    try:
                        yield number, json.loads(line)
                    except (ValueError, RecursionError):
                        yield number, Problem(number, "", "is not JSON")


# ---- Parquet -------------------------------------------------------------------------------------------------------


class _Parquet:
    """The rows of a Parquet file, counted from 1. Values that JSON cannot represent become text."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        with _arrow_errors():
            self.columns = _column_names(_parquet(file).schema_arrow.names)

    def __iter__(self) -> Iterator[Line]:
        number = 0
        with _arrow_errors():
            for batch in _parquet(self._file).iter_batches(batch_size=_AT_ONCE):
                for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    number += 1
                    record = {name: _jsonable(value) for name, value in zip(self.columns, values, strict=True)}
                    yield Row(number, {name: as_text(value) for name, value in record.items()}, record)

    def check(self, count: int, has_columns: bool) -> None:
        if not count or not has_columns:
            raise Unreadable("The file has no rows.")


def _parquet(file: IO[bytes]) -> Any:
    from pyarrow.parquet import ParquetFile

    file.seek(0)
    return ParquetFile(file)


@contextmanager
def _arrow_errors() -> Iterator[None]:
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError) as error:
        raise Unreadable(_BROKEN_PARQUET) from error


def _jsonable(value: Any) -> Any:
    """Convert a value to one that JSON can represent."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, Mapping):
        return {str(key): _jsonable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(each) for each in value]
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


# ---- Excel ---------------------------------------------------------------------------------------------------------


class _Excel:
    """The rows of the first sheet of an Excel file, numbered as Excel does. Cells are text; dates are ISO."""

    def __init__(self, file: IO[bytes], *, header: bool) -> None:
        name, others, records = _sheet(file)
        self._records = [
            (number, cells) for number, cells in enumerate(records, start=1) if any(cell.strip() for cell in cells)
        ]
        if not self._records:
            raise Unreadable(f'The first sheet, "{name}", is empty. Move the table to the first sheet.')
        first = self._records[0][1]
        if header:
            self._records = self._records[1:]
        self.columns = _column_names(first if header else [""] * max(len(cells) for _, cells in self._records))
        self.notes = (f"The file has {others + 1} sheets. Only the first one is read.",) if others else ()

    def __iter__(self) -> Iterator[Line]:
        width = len(self.columns)
        for number, cells in self._records:
            yield Row(number, dict(zip(self.columns, [*cells[:width], *[""] * (width - len(cells))], strict=True)))

    def check(self, count: int, _has_columns: bool) -> None:
        if not count:
            raise Unreadable("The sheet has a header but no rows. If the first row is data, say so.")


def _sheet(file: IO[bytes]) -> tuple[str, int, list[list[str]]]:
    """Return the name of the first sheet, the number of other sheets, and the cells of the first from its top."""
    from python_calamine import CalamineError, CalamineWorkbook

    _check_size(file)
    file.seek(0)
    try:
        book = CalamineWorkbook.from_filelike(file)
        sheet = book.get_sheet_by_index(0)
        rows = sheet.to_python(skip_empty_area=False)
    except (CalamineError, OSError, IndexError, ValueError) as error:
        raise Unreadable(_BROKEN_EXCEL) from error
    return sheet.name, len(book.sheet_names) - 1, [[_excel_text(cell) for cell in row] for row in rows]


def _check_size(file: IO[bytes]) -> None:
    """Raise `Unreadable` for a file whose content does not fit into memory, however small the file is."""
    file.seek(0)
    try:
        with ZipFile(file) as archive:
            parts = archive.infolist()
            if sum(part.file_size for part in parts) > _MOST_UNPACKED:
                raise Unreadable(_LARGE_EXCEL)
            for part in parts:
                if part.filename.startswith("xl/worksheets/") and part.filename.endswith(".xml"):
                    with archive.open(part) as sheet:
                        _check_extent(sheet)
    except (BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, zlib.error) as error:
        raise Unreadable(_BROKEN_EXCEL) from error


def _check_extent(sheet: IO[bytes]) -> None:
    """Raise `Unreadable` if the area from the first to the last cell is huge, because empty cells take memory too."""
    rows = columns = 0
    rest = b""
    while chunk := sheet.read(_CHUNK):
        for letters, digits in _CELL.findall(rest + chunk):
            rows = max(rows, int(digits))
            columns = max(columns, _column_number(letters))
        rest = chunk[-_LONGEST_CELL:]
    if rows * columns > _MOST_CELLS:
        raise Unreadable(_LARGE_EXCEL)


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _excel_text(value: Any) -> str:
    """Return a cell as text: whole numbers without a decimal point, dates and times as ISO 8601."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value.isoformat() if hasattr(value, "isoformat") else str(value)

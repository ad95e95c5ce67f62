"""Rows of Excel files."""

import re
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

from traitbench.display.text import count
from traitbench.tables.heading import LOOKED_AT, heading_of
from traitbench.tables.rows import TEXT_NAMES, Cells, Kind, NotATable, Problem, column_names
from traitbench.tables.sheet_marks import FarAway, SheetMarks, marks_of

_MOST_UNPACKED = 512 << 20
_DAMAGED = (BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError, KeyError, zlib.error)
"""What `zipfile` raises for an archive that is not whole."""

_KNOWN_ERRORS = {"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"}
_ANY_ERROR = re.compile(rb"(<(?:\w+:)?v>)\s*#[A-Z0-9/_]+[!?]?\s*(</(?:\w+:)?v>)")
_FEW, _LONG = 12, 40
_ABOUT = re.compile(
    r"read.?me|^(about|info|information|notes?|legend|instructions?|cover|contents?|codebook|help|hinweise?|anleitung|"
    r"legende|deckblatt|inhalt|lies.?mich|lisez.?moi|notice|aide|léeme|leeme|instrucciones|leggimi|istruzioni|"
    r"leia.?me|uitleg|toelichting|说明|說明|使い方|説明|읽어|설명)$",
    re.IGNORECASE,
)
_LARGE_EXCEL = "The sheet is too large. Export it as CSV, then retry."
_BROKEN_EXCEL = "This is not a valid Excel file. Save it as .xlsx again, or export it as CSV, then retry."


class Excel:
    """The rows of one sheet of an Excel file, numbered as Excel does. Cells are text; dates are ISO 8601.

    `sheet` is its name; by default it is the first visible one with a table. `sheets` are the names of all that have
    cells. A sheet with words about the table is passed over: one with cells in one column, or with few pairs of cells.
    """

    kind: Kind = "excel"
    empty = "The sheet has a header but no rows. If the first row is data, say so."

    def __init__(self, file: IO[bytes], *, header: bool, sheet: str | None) -> None:
        self.sheets, apart, candidates = _sheets(file, sheet)
        self.header = header
        self.sheet, marks, records, passed = _first_table(file, candidates)
        self.notes = _notes(marks)
        others = [name for name in self.sheets if name != self.sheet]
        if others or apart:
            more = f" ({', '.join(apart)})" if apart else ""
            named = f', the first one with a table: not "{passed[0]}"' if passed else ""
            self.notes.insert(
                0, f'The file has {count(len(others) + 1, "sheet")}{more}. "{self.sheet}" is read{named}.'
            )
        first = records[:LOOKED_AT]
        if header:
            heading = heading_of(first)
            self.columns, self._rows = heading.names, records[heading.records :]
            self.notes += heading.notes
        else:
            self._rows = records
            self.columns = column_names([""] * max(len(cells) for _, cells in records))

    def __iter__(self) -> Iterator[Cells | Problem]:
        for number, cells in self._rows:
            yield number, cells[: len(self.columns)]

    def summary(self, rows: int) -> str:
        """Return how many rows there are, and of which sheet."""
        return f'{count(rows, "row")} of the sheet "{self.sheet}"'


def _sheets(file: IO[bytes], wanted: str | None) -> tuple[tuple[str, ...], list[str], list[str]]:
    """Return the names of all sheets with cells, what to know about others, and the ones to try, in order."""
    from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    _check_size(file)
    file.seek(0)
    try:
        sheets = CalamineWorkbook.from_filelike(file).sheets_metadata
    except (CalamineError, OSError, IndexError, ValueError) as error:
        raise NotATable(_BROKEN_EXCEL) from error
    tables = [each for each in sheets if each.typ == SheetTypeEnum.WorkSheet]
    names = tuple(each.name for each in tables)
    hidden = [each.name for each in tables if each.visible != SheetVisibleEnum.Visible]
    if not names:
        raise NotATable("The file has no sheet with cells. Save the table as .xlsx, or export it as CSV.")
    if wanted is not None and wanted not in names:
        raise NotATable(f'The file has no sheet "{wanted}". It has {", ".join(names)}.')
    charts = len(sheets) - len(tables)
    apart = [*([f"{len(hidden)} hidden"] if hidden else []), *([f"and {count(charts, 'chart')}"] if charts else [])]
    visible = [name for name in names if name not in hidden]
    return names, apart, [wanted] if wanted else visible or [names[0]]


def _first_table(file: IO[bytes], candidates: Sequence[str]) -> tuple[str, SheetMarks, list[Cells], list[str]]:
    """Return the first sheet with a table, its marks and records, and the sheets with cells that were passed over.

    If none has one, the first sheet with cells is it. Raise `NotATable` if all are empty.
    """
    filled: list[tuple[str, SheetMarks, list[Cells]]] = []
    for name in candidates:
        marks = _marks(file, name)
        records = [each for each in _records(file, name, marks) if _is_filled(each, marks)]
        if records:
            filled.append((name, marks, records))
            if _is_table(name, records):
                break
    if not filled:
        raise NotATable(f'The sheet "{candidates[0]}" is empty. Choose another one, or move the table to it.')
    name, marks, records = filled[-1]
    passed = [each for each, _, _ in filled[:-1]]
    if passed and (not _is_table(name, records) or len(records) <= _FEW < len(filled[0][2])):
        # A list of codes does not replace a long column of texts.
        return *filled[0], []
    return name, marks, records, passed


def _is_table(name: str, records: Sequence[Cells]) -> bool:
    """Whether a sheet has a table, and not words about one: a title and sentences, or a few names with their values."""
    first = [cells for _, cells in records[:LOOKED_AT]]
    widths = [sum(bool(cell.strip()) for cell in cells) for cells in first]
    header = next((cells for cells, width in zip(first, widths, strict=True) if width > 1), first[0])
    names = [cell.strip().casefold() for cell in header if cell.strip()]
    if _ABOUT.search(name):
        return False
    if len(records) > _LONG or (len(records) > 1 and any(each in TEXT_NAMES for each in names)):
        return True
    if sum(width > 1 for width in widths) < len(widths) / 2:
        return False
    return len(records) > 1 and (len(names) > 2 or len(records) > _FEW)


def _records(file: IO[bytes], name: str, marks: SheetMarks) -> Iterator[Cells]:
    """Yield the rows from the top of the sheet; a merged cell has its value in all of its rows and columns."""
    from python_calamine import CalamineError, CalamineWorkbook

    file.seek(0)
    try:
        sheet = CalamineWorkbook.from_filelike(_with_known_errors(file, marks)).get_sheet_by_name(name)
        # With the empty area, so that numbers of rows are those that a person sees in Excel.
        rows = sheet.to_python(skip_empty_area=False)
        merged = sheet.merged_cell_ranges or []
    except (CalamineError, OSError, IndexError, ValueError) as error:
        raise NotATable(_BROKEN_EXCEL) from error
    for (top, left), (bottom, right) in merged:
        if top >= len(rows) or left >= len(rows[top]):
            continue
        value = rows[top][left]
        if right > left and not any(str(cell).strip() for cell in [*rows[top][:left], *rows[top][right + 1 :]]):
            continue  # a title above the table
        for row in rows[top : bottom + 1]:
            row[left : right + 1] = [value] * len(row[left : right + 1])
    for number, row in enumerate(rows, start=1):
        yield number, [_excel_text(cell) for cell in row]


def _is_filled(record: Cells, marks: SheetMarks) -> bool:
    """Whether a row has a value. A row that has only an error has an answer, which is empty."""
    number, cells = record
    return number in marks.errors or any(cell.strip() for cell in cells)


def _check_size(file: IO[bytes]) -> None:
    """Raise `NotATable` for a file that is not complete, or that does not fit into memory when it is unpacked."""
    file.seek(0)
    try:
        with ZipFile(file) as archive:
            # The library unpacks everything, and a few kilobytes can become gigabytes.
            unpacked = sum(part.file_size for part in archive.infolist())
    except _DAMAGED as error:
        raise NotATable(_BROKEN_EXCEL) from error
    if unpacked > _MOST_UNPACKED:
        raise NotATable(_LARGE_EXCEL)


def _marks(file: IO[bytes], sheet: str) -> SheetMarks:
    file.seek(0)
    try:
        with ZipFile(file) as archive:
            return marks_of(archive, sheet)
    except FarAway as far:
        raise NotATable(
            f"The cell {far} is far outside the table, and the rows up to it would take too much memory. Delete that "
            "cell, or export the table as CSV."
        ) from far
    except _DAMAGED as error:
        raise NotATable(_BROKEN_EXCEL) from error


def _with_known_errors(file: IO[bytes], marks: SheetMarks) -> IO[bytes]:
    """Return the file with newer errors, such as #SPILL!, as #N/A: the library refuses a sheet that has others."""
    file.seek(0)
    if not marks.kinds - _KNOWN_ERRORS:
        return file
    copy = BytesIO()
    with ZipFile(file) as source, ZipFile(copy, "w") as target:
        for part in source.infolist():
            content = source.read(part)
            if part.filename == marks.part:
                content = _ANY_ERROR.sub(rb"\1#N/A\2", content)
            target.writestr(part.filename, content)
    copy.seek(0)
    return copy


def _notes(marks: SheetMarks) -> list[str]:
    notes = []
    if errors := list(marks.errors.items()):
        _, (where, value) = errors[0]
        some = count(len(errors), "row has", "rows have")
        notes.append(f"{some} an error such as {value} instead of a value ({where}). These cells are empty.")
    if marks.not_calculated:
        some = count(marks.not_calculated, "formula has", "formulas have")
        notes.append(
            f"{some} no stored value ({marks.first_not_calculated}). Such cells are empty. Open the file in a "
            "spreadsheet program and save it again to calculate them."
        )
    if marks.hidden_rows:
        rows = count(marks.hidden_rows, "hidden row is", "hidden rows are")
        notes.append(f"{rows} read too. To leave them out, delete them first.")
    if marks.hidden_columns:
        names = ", ".join(marks.hidden_columns)
        notes.append(f"Hidden columns are read too: {names}.")
    return notes


def _excel_text(value: Any) -> str:
    """Return a cell as text: whole numbers without a decimal point, dates and times as ISO 8601."""
    # Excel has only floats, so an identifier 42 arrives as 42.0. Beyond 15 digits it has lost digits, and 1e20 says so.
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value.isoformat() if hasattr(value, "isoformat") else str(value)

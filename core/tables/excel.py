"""Rows of Excel files."""

import re
import zlib
from collections.abc import Iterator
from typing import IO, Any
from zipfile import BadZipFile, ZipFile

from traitbench.tables.rows import Line, Row, Unreadable, column_names

_CHUNK = 1 << 20
_MOST_UNPACKED, _MOST_CELLS = 512 << 20, 20_000_000
_CELL, _LONGEST_CELL = re.compile(rb'\br="([A-Z]{1,3})(\d{1,7})"'), 16
_LARGE_EXCEL = "The sheet is too large, or has a cell far outside its table. Delete that cell, or export it as CSV."
_BROKEN_EXCEL = "This is not a valid Excel file. Save it as .xlsx again, or export it as CSV, then retry."


class Excel:
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
        self.columns = column_names(first if header else [""] * max(len(cells) for _, cells in self._records))
        self.notes = (f"The file has {others + 1} sheets. Only the first one is read.",) if others else ()

    def __iter__(self) -> Iterator[Line]:
        width = len(self.columns)
        for number, cells in self._records:
            yield Row(number, dict(zip(self.columns, [*cells[:width], *[""] * (width - len(cells))], strict=True)))

    def check(self, count: int, _has_columns: bool) -> None:
        """Raise `Unreadable` if there are no rows."""
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

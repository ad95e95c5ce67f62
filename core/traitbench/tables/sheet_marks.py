"""What a sheet of an Excel file shows beside its values: errors, formulas without a value, hidden rows and columns.

The library that reads the values gives none of these, so the XML of the sheet is read once more, as a stream.
"""

import posixpath
import re
from dataclasses import dataclass, field
from functools import lru_cache
from xml.etree import ElementTree
from zipfile import ZipFile

MOST_CELLS = 20_000_000
"""Cells between the first and the last one, the empty ones included, because they take memory too."""

_ADDRESS = re.compile(r"([A-Za-z]{1,4})(\d{1,9})")
_MOST_NAMED = 8
_TRUE = ("1", "true", "on")


class FarAway(Exception):
    """A cell is so far from the others that the cells between them do not fit into memory; its address."""


@dataclass
class SheetMarks:
    """Marks of a sheet, whose XML is in `part`.

    `errors` has the first cell with an error of each row: its address and the error. `kinds` are all that occur.
    """

    errors: dict[int, tuple[str, str]] = field(default_factory=dict)
    kinds: set[str] = field(default_factory=set)
    not_calculated: int = 0
    first_not_calculated: str = ""
    hidden_rows: int = 0
    hidden_columns: list[str] = field(default_factory=list)
    part: str = ""


def marks_of(archive: ZipFile, sheet: str) -> SheetMarks:
    """Return the marks of a sheet; none if its XML is not found.

    Raise `FarAway` for a cell that no table can have, `KeyError` or the errors of `zipfile` for a damaged archive.
    """
    part = _part_of(archive, sheet)
    if part is None:
        return SheetMarks()
    reader = _Reader(part)
    try:
        with archive.open(part) as content:
            for _, element in ElementTree.iterparse(content):
                if element.tag.endswith(("row", "col")):
                    reader.read(element)
    except ElementTree.ParseError:
        pass  # the library that reads the values decides whether the sheet is valid
    return reader.marks


class _Reader:
    """Collects the marks while the XML passes by."""

    def __init__(self, part: str) -> None:
        self.marks = SheetMarks(part=part)
        self._row = self._column = self._last_row = self._last_column = 0

    def read(self, element: ElementTree.Element) -> None:
        """Read a row with its cells, or the format of a column."""
        match _name(element):
            case "row":
                self._read_row(element)
                element.clear()  # all cells would take too much memory
            case "col" if element.get("hidden") in _TRUE:
                self._hidden_column(element)

    def _read_row(self, row: ElementTree.Element) -> None:
        number = row.get("r", "")
        self._row = int(number) if number.isdecimal() and len(number) < 10 else self._row + 1
        self._column = 0
        if row.get("hidden") in _TRUE:
            self.marks.hidden_rows += 1
        for element in row:
            if element.tag.endswith("c"):
                self._cell(element)

    def _cell(self, cell: ElementTree.Element) -> None:
        self._column += 1
        if parts := _ADDRESS.fullmatch(cell.get("r", "").strip()):
            letters, digits = parts[1].upper(), parts[2]
            self._column = _column_number(letters)
            self._row = int(digits)
            where = f"{letters}{digits}"
        else:
            where = f"{_letters(self._column)}{self._row}"
        self._last_row, self._last_column = max(self._last_row, self._row), max(self._last_column, self._column)
        if self._last_row * self._last_column > MOST_CELLS:
            raise FarAway(where)
        is_error = cell.get("t") == "e"
        if not is_error and not (len(cell) and cell[0].tag.endswith("f")):  # a formula comes before its value
            return
        inside = {_name(element): element.text for element in cell}
        if is_error:
            error = (inside.get("v") or "")[:20].strip() or "#ERROR"
            self.marks.errors.setdefault(self._row, (where, error))
            self.marks.kinds.add(error)
        elif not inside.keys() & {"v", "is"}:
            self.marks.not_calculated += 1
            self.marks.first_not_calculated = self.marks.first_not_calculated or where

    def _hidden_column(self, column: ElementTree.Element) -> None:
        first, last = (column.get(name, "") for name in ("min", "max"))
        if not (first.isdecimal() and last.isdecimal()):
            return
        # Cut, because int() raises for thousands of digits. Excel has 16,384 columns.
        names = [_letters(number) for number in dict.fromkeys((int(first[:6]), int(last[:6])))]
        if len(self.marks.hidden_columns) < _MOST_NAMED:
            self.marks.hidden_columns.append(" to ".join(names))


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


@lru_cache(2**14)
def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


def _letters(number: int) -> str:
    letters = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


# ---- the part of a sheet ---------------------------------------------------------------------------------------------


def _part_of(archive: ZipFile, sheet: str) -> str | None:
    """Return the name of the part with the XML of a sheet: relations lead there from the root of the archive."""
    book = next(iter(_targets(archive, "_rels/.rels", "", ending="/officeDocument").values()), None)
    if book is None:
        return None
    folder, _, name = book.rpartition("/")
    targets = _targets(archive, posixpath.join(folder, "_rels", f"{name}.rels"), folder)
    for element in _elements(archive, book, "sheet"):
        if element.get("name") == sheet:
            # Strict Open XML has another namespace for the same attribute.
            keys = [value for key, value in element.items() if key.endswith("}id")]
            return next((targets[key] for key in keys if key in targets), None)
    return None


def _targets(archive: ZipFile, part: str, folder: str, *, ending: str = "") -> dict[str, str]:
    """Return the parts that a part of relations names, by their ids."""
    targets = {}
    for element in _elements(archive, part, "Relationship"):
        target = element.get("Target", "")
        full = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
        name = _without_case(archive, full)
        if name and element.get("Type", "").endswith(ending):
            targets[element.get("Id", "")] = name
    return targets


def _elements(archive: ZipFile, part: str, name: str) -> list[ElementTree.Element]:
    stored = _without_case(archive, part)
    if stored is None:
        return []
    try:
        with archive.open(stored) as content:
            root = ElementTree.parse(content).getroot()
    except ElementTree.ParseError:
        return []
    return [element for element in root.iter() if _name(element) == name]


def _without_case(archive: ZipFile, part: str) -> str | None:
    """Return the name of a part as the archive has it: programs differ in case and in slashes."""
    wanted = part.casefold()
    return next((name for name in archive.namelist() if name.replace("\\", "/").casefold() == wanted), None)

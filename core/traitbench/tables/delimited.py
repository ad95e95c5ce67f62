"""Rows of text files with any separator: CSV, TSV, or one text a line."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import IO

from traitbench.display.text import count
from traitbench.tables.heading import LOOKED_AT, heading_of
from traitbench.tables.quoting import MARK, Form, QuotedLines, Quoting, quoting_of, records
from traitbench.tables.rows import (
    TEXT_NAMES,
    Cells,
    Encoding,
    Kind,
    NotATable,
    Problem,
    column_names,
    is_damaged,
    lines_named,
)

_DELIMITERS = (",", ";", "\t", "|")
_DIRECTIVE = re.compile(r"sep=(.)\s*", re.IGNORECASE)  # the first line of a file that Excel wrote for itself
_HEAD_LINES = 2_000
_REGULAR = 0.5
_CHUNK = 1 << 20
_BELOW_TITLES, _FEWEST_BELOW_A_TITLE = 7, 3
_TABLE = 0.9
_SHORT, _OFTEN = 30, 0.2
_ENDS = re.compile(r"[.!?…。！？]$")
_DAMAGED = "has bytes that are not UTF-8. Save the file as UTF-8"


class Csv:
    """The rows of a delimited file, with columns named by its heading, or numbered without one."""

    kind: Kind = "csv"
    empty = "The file has a header but no rows. If the first row is a text, say that the file has no column names."

    def __init__(self, file: IO[bytes], encoding: Encoding, *, header: bool | None, lines: bool = False) -> None:
        self._file, self._encoding = file, encoding
        with encoding.text(file, "") as text:
            # The separator is seen in the first lines; only quotation marks need the whole file.
            head = [line for line in islice(text, _HEAD_LINES) if line.strip()]
        self._directive = _DIRECTIVE.fullmatch(head[0]) if head else None
        head = head[1:] if self._directive else head
        if not head:
            raise NotATable("The file has no rows.")
        form = _form(head, self._directive[1] if self._directive else None, header=header is not False)
        if lines and header is None and not self._directive:
            form, header = _listed(head, form)
        self.header = header = header is not False
        self._form, said = self._decided(form)
        self._notes = [*([encoding.note] if encoding.note else ()), *said]
        self._heading = self._all = self._blank = 0
        first = list(islice(self._records(), LOOKED_AT))
        if not first:
            raise NotATable("The file has no rows.")
        if header:
            heading = heading_of(first)
            self.columns, self._heading = heading.names, heading.records
            self._notes += heading.notes
            if heading.records == 1 and (value := _recurring(first)):
                self._notes.append(
                    f"Line {first[0][0]:,} is read as the header, although “{value}” occurs below it too. If it is a "
                    "row of data, say that the file has no column names."
                )
        else:
            self.columns = column_names(["text"] if lines and form.width <= 1 else [""] * max(form.width, 1))
        self._short: list[int] = []

    def __iter__(self) -> Iterator[Cells | Problem]:
        self._short = []
        left, width = self._heading, len(self.columns)
        for record in self._records():
            if left:
                left -= 1
            # Blank cells beyond the header are cut: separators at the end of a row say nothing.
            elif any(map(str.strip, record[1][width:])):
                has = f"has {len(record[1])} cells where the header has {width}"
                yield Problem(record[0], "", f"{has}; quote cells that contain a separator")
            elif self._encoding.lenient and (position := _damaged(record[1])) is not None:
                yield Problem(record[0], self.columns[position], _DAMAGED)
            else:
                if len(record[1]) < width:
                    self._short.append(record[0])
                yield record[0], record[1][:width]

    @property
    def notes(self) -> list[str]:
        """What to say about the file; complete after an iteration."""
        if not self._short:
            return self._notes
        some = count(len(self._short), "row has", "rows have")
        return [*self._notes, f"{some} fewer cells than the header ({lines_named(self._short)}). The rest is empty."]

    def summary(self, rows: int) -> str:
        """Return how many lines became how many rows."""
        parts = [
            *([f"{self._heading:,} with column names"] if self._heading else []),
            *([f"{self._blank:,} blank"] if self._blank else []),
        ]
        others = f" ({', '.join(parts)})" if parts else ""
        return f"{count(rows, 'row')} from {count(self._all, 'line')}{others}"

    def _decided(self, form: Form) -> tuple[Form, list[str]]:
        """Return what quotation marks mean in this file, and what to say about it."""
        # Most files have no mark, and looking for one byte is far quicker than reading every record.
        if not _has_marks(self._file):
            return replace(form, quoted=False), []
        quoting = self._quoting(form)
        if quoting.escaped:
            # Backslashes before marks may belong to the texts, so both readings are tried.
            other = self._quoting(replace(form, escaped=True))
            quoting = other if other.broken < quoting.broken else quoting
        return quoting.decided()

    def _quoting(self, form: Form) -> Quoting:
        with self._encoding.text(self._file, "") as text:
            return quoting_of(self._lines(text), form)

    def _lines(self, text: Iterator[str]) -> QuotedLines:
        return QuotedLines(islice(text, 1, None) if self._directive else text, 2 if self._directive else 1)

    def _records(self) -> Iterator[Cells]:
        """Yield the records that are not blank, and count the lines."""
        self._all, self._blank = int(self._directive is not None), 0
        with self._encoding.text(self._file, "") as text:
            for record in records(self._lines(text), self._form):
                self._all += record.lines
                if any(map(str.strip, record.cells)):
                    yield record.line, record.cells
                else:
                    self._blank += record.lines


def _recurring(first: Sequence[Cells]) -> str:
    """Return a short cell of the first record that several rows below have in the same place; empty if none."""
    top, below = first[0][1], [cells for _, cells in first[1:]]
    for position, cell in enumerate(map(str.strip, top)):
        times = sum(len(cells) > position and cells[position].strip() == cell for cells in below)
        if 0 < len(cell) <= _SHORT and times > max(1, _OFTEN * len(below)):
            return cell
    return ""


def _has_marks(file: IO[bytes]) -> bool:
    file.seek(0)
    while chunk := file.read(_CHUNK):
        if MARK.encode() in chunk:
            return True
    return False


def _damaged(cells: Sequence[str]) -> int | None:
    return next((position for position, cell in enumerate(cells) if is_damaged(cell)), None)


# ---- the separator ---------------------------------------------------------------------------------------------------


def _form(head: Sequence[str], named: str | None, *, header: bool) -> Form:
    """Return the separator that gives the first lines the most regular width, or none if there is no such."""
    if named:
        return Form(named, _regularity(head, named, header=header)[1])
    regular = {delimiter: _regularity(head, delimiter, header=header) for delimiter in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda delimiter: regular[delimiter])
    share, width = regular[best]
    if width > 1 and (share >= _REGULAR or (header and _names_columns(head[0], best, 0))):
        return Form(best, width)
    return Form(None, 1)


def _regularity(head: Sequence[str], delimiter: str, *, header: bool) -> tuple[float, int]:
    """Return the share of the first records that have the same number of cells, and that number."""
    widths = [len(record.cells) for record in records(QuotedLines(iter(head), 1), Form(delimiter, 0))]
    width, times = Counter(widths).most_common(1)[0]
    # A text with a comma here and there is one text a line, unless names of columns stand below a title.
    if header and widths[0] == 1 and not any(_names_columns(line, delimiter, width) for line in head[1:_BELOW_TITLES]):
        return 0.0, 1
    # Rows may lack their last cells. If many are as wide as the header, the header is right.
    if header and widths[0] > 1 and widths[0] != width and 2 * widths.count(widths[0]) >= times:
        width, times = widths[0], widths.count(widths[0])
    return (times / len(widths), width) if width > 1 else (0.0, 1)


def _listed(head: Sequence[str], form: Form) -> tuple[Form, bool]:
    """Return how a list of texts is written, and whether its first line has names: one text a line, without a name.

    Only a regular table with names of columns in its first line is one, and a first line such as `text` is a name.
    """
    first = head[0].rstrip("\r\n")
    if form.delimiter is None or len(head) == 1:
        return Form(None, 1), first.strip(" \ufeff").casefold() in TEXT_NAMES
    rows = [form.split(line.rstrip("\r\n")) for line in head]
    names = rows[0]
    repeated = any(
        name.strip() in {row[at].strip() for row in rows[1:] if at < len(row)} for at, name in enumerate(names)
    )
    has_names = _names_columns(first, form.delimiter) and not repeated and not any(map(_ENDS.search, names))
    regular = sum(len(row) == len(names) for row in rows) >= _TABLE * len(rows)
    if form.delimiter == "\t" or (has_names and regular):
        return form, has_names
    return Form(None, 1), False


def _names_columns(line: str, delimiter: str, width: int = 0) -> bool:
    """Whether a line looks like names, of a given number if any, and not like a sentence with commas."""
    cells = line.rstrip("\r\n").split(delimiter)
    if len(cells) < 2 or (width and (len(cells) != width or width < _FEWEST_BELOW_A_TITLE)):
        return False
    return all(cell and cell == cell.strip() and len(cell) <= 40 for cell in cells)

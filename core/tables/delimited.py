"""Rows of text files with any separator: CSV, TSV, or one text a line.

Quotation marks are the difficulty. RFC 4180 encloses a cell in them if it has a separator, a line break or a quotation
mark, and doubles those inside. Many files do not: texts that only begin with one, marks inside that are not doubled,
one that is never closed. So a file is read by what all of it shows (`_Survey`): in one pass with quotation marks as RFC
4180 has them, and where a record breaks its rule, as the person meant who wrote it.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO

from traitbench.tables.encoding import Encoding, is_damaged
from traitbench.tables.heading import LOOKED_AT, heading_of
from traitbench.tables.rows import Cells, Problem, Unreadable, column_names, counted, lines_named

_DELIMITERS = (",", ";", "\t", "|")
_DIRECTIVE = re.compile(r"sep=(.)\s*", re.IGNORECASE)  # the first line of a file that Excel wrote for itself
_MARK, _ESCAPED_MARK = '"', '\\"'
_HEAD_LINES = 2_000
_REGULAR = 0.5
_MOST_SPANNED, _MOST_TRIES = 2_000, 50
"""Lines that a quoted cell may have, and closing marks that are tried for one opening mark."""

_FEWEST_SPANNED = 3
_BELOW_TITLES, _FEWEST_BELOW_A_TITLE = 7, 3
_MISSING = {"na", "n/a", "nan", "null", "none", "\\n", "true", "false"}
_ENCLOSED = re.compile(r'"(?!"(?!"))')  # the begin of a cell in marks; inside another cell, marks are doubled
_BARE = re.compile(r"[+-]?[\d.,:%/-]*")
csv.field_size_limit(2**31 - 1)
_DAMAGED = "has bytes that are not UTF-8. Save the file as UTF-8"


class Csv:
    """The rows of a delimited file, with columns named by its heading, or numbered without one."""

    def __init__(self, file: IO[bytes], encoding: Encoding, *, header: bool) -> None:
        self._file, self._encoding = file, encoding
        with encoding.text(file, "") as text:
            head = [line for line in islice(text, _HEAD_LINES) if line.strip()]
        self._directive = _DIRECTIVE.fullmatch(head[0])
        head = head[1:] if self._directive else head
        if not head:
            raise Unreadable("The file has no rows.")
        form = _form(head, self._directive[1] if self._directive else None, header=header)
        survey = self._surveyed(form)
        if survey.escaped:
            other = self._surveyed(replace(form, escaped=True))
            survey = other if other.broken < survey.broken else survey
        self._form, quoting = survey.decided()
        self._notes = [*([encoding.note] if encoding.note else ()), *quoting]
        self._heading = 0
        first = list(islice((record for record in self._records() if not isinstance(record, Problem)), LOOKED_AT))
        if not first:
            raise Unreadable("The file has no rows.")
        if header:
            heading = heading_of(first)
            self.columns, self._heading = heading.names, heading.records
            self._notes += heading.notes
        else:
            self.columns = column_names([""] * max(form.width, 1))
        self._blank, self._all, self._short = survey.blank, survey.lines, list[int]()

    def __iter__(self) -> Iterator[Cells | Problem]:
        self._short = []
        left, width = self._heading, len(self.columns)
        for record in self._records():
            if isinstance(record, Problem):
                yield record
            elif left:
                left -= 1
            elif any(cell.strip() for cell in record[1][width:]):
                has = f"has {len(record[1])} cells where the header has {width}"
                yield Problem(record[0], "", f"{has}; quote cells that contain a separator")
            elif self._encoding.lenient and (place := _damaged(record[1])) is not None:
                yield Problem(record[0], self.columns[place], _DAMAGED)
            else:
                if len(record[1]) < width:
                    self._short.append(record[0])
                yield record[0], record[1][:width]

    @property
    def notes(self) -> list[str]:
        """What to say about the file; complete after an iteration."""
        if not self._short:
            return self._notes
        some = f"{len(self._short):,} {'row has' if len(self._short) == 1 else 'rows have'}"
        return [*self._notes, f"{some} fewer cells than the header ({lines_named(self._short)}). The rest is empty."]

    def summary(self, rows: int) -> str:
        """Return how many lines became how many rows."""
        parts = [
            *([f"{self._heading:,} with column names"] if self._heading else []),
            *([f"{self._blank:,} blank"] if self._blank else []),
        ]
        others = f" ({', '.join(parts)})" if parts else ""
        return f"{counted(rows, 'row')} from {counted(self._all, 'line')}{others}"

    def check(self, count: int, _has_columns: bool) -> None:
        """Raise `Unreadable` if there are no rows."""
        if not count:
            raise Unreadable(
                "The file has a header but no rows. If the first row is a text, say that the file has no column names."
            )

    def _surveyed(self, form: "_Form") -> "_Survey":
        with self._encoding.text(self._file, "") as text:
            return _survey(self._lines(text), form)

    def _lines(self, text: Iterator[str]) -> "_Lines":
        return _Lines(islice(text, 1, None) if self._directive else text, 2 if self._directive else 1)

    def _records(self) -> Iterator[Cells | Problem]:
        with self._encoding.text(self._file, "") as text:
            for record in _records(self._lines(text), self._form):
                if any(cell.strip() for cell in record.cells):
                    yield record.line, record.cells


def _damaged(cells: Sequence[str]) -> int | None:
    return next((place for place, cell in enumerate(cells) if is_damaged(cell)), None)


# ---- records ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Form:
    """How records are written: the separator, None for one cell a line; whether marks enclose cells.

    `width` is the number of cells, 0 if it is not known yet. Marks inside a cell are doubled, or `escaped` by a
    backslash, or stand there as they are.
    """

    delimiter: str | None
    width: int
    quoted: bool = True
    doubled: bool = True
    escaped: bool = False

    def split(self, line: str) -> list[str]:
        """Return the cells of a line whose quotation marks mean nothing."""
        return line.split(self.delimiter) if self.delimiter else [line]


@dataclass(frozen=True)
class _Record:
    """The cells of a record, its first line and the number of its lines, and in what it breaks the rules of quoting."""

    line: int
    cells: list[str]
    lines: int = 1
    raw: str = ""
    inner: bool = False
    unclosed: bool = False


class _Lines:
    """The lines of a text with their numbers; some can be put back to be read again."""

    def __init__(self, text: Iterator[str], first: int) -> None:
        self._text, self._waiting = text, list[str]()
        self.number = first - 1

    def next(self) -> str | None:
        """Return the next line with its end, or None."""
        line = self._waiting.pop() if self._waiting else next(self._text, None)
        self.number += line is not None
        return line

    def put_back(self, lines: Sequence[str]) -> None:
        """Let these lines come again."""
        self._waiting += reversed(lines)
        self.number -= len(lines)


def _records(lines: _Lines, form: _Form) -> Iterator[_Record]:
    """Yield the records. One that cannot be read by the rules is read with its quotation marks as text."""
    while (line := lines.next()) is not None:
        body = line.rstrip("\r\n")
        if not form.quoted or _MARK not in body:
            yield _Record(lines.number, form.split(body), raw=body)
        else:
            yield _quoted(lines, body, line, form)


def _quoted(lines: _Lines, body: str, line: str, form: _Form) -> _Record:
    """Return the record that begins with a line with quotation marks."""
    number = lines.number
    if not form.doubled and (cells := _meant(body, form)) is not None:
        return _Record(number, cells, raw=body, inner=True)
    cells = _strict(body, form)
    if cells is not None:
        return _Record(number, cells, raw=body)
    record = _spanning(lines, number, line, form)
    if record is not None:
        return record
    cells = _meant(body, form)
    if cells is not None:
        return _Record(number, cells, raw=body, inner=True)
    record = _spanning(lines, number, line, form, meant=True)
    return record or _Record(number, form.split(body), raw=body, unclosed=True)


def _spanning(lines: _Lines, number: int, line: str, form: _Form, *, meant: bool = False) -> _Record | None:
    """Return the record of several lines that begins with `line`, or None if there is no such.

    RFC 4180 has an even number of marks in a record, so it ends with the first line that makes their number even.
    """
    taken, tries, marks = [line], 0, _marks(line, form)
    if not meant and marks % 2 == 0:
        return None
    while len(taken) < _MOST_SPANNED and tries < _MOST_TRIES and (more := lines.next()) is not None:
        taken.append(more)
        marks += _marks(more, form)
        if _MARK not in more or (not meant and marks % 2):
            continue
        tries += 1
        whole = "".join(taken).rstrip("\r\n")
        cells = _meant(whole, form) if meant else _strict(whole, form)
        if cells is not None and form.width in (0, len(cells)) and not _swallows(taken, form):
            return _Record(number, cells, len(taken), raw=line, inner=meant)
        if cells is not None or not meant:
            break
    lines.put_back(taken[1:])
    return None


def _marks(line: str, form: _Form) -> int:
    """Return the number of marks that RFC 4180 counts."""
    return line.count(_MARK) - (line.count(_ESCAPED_MARK) if form.escaped else 0)


def _strict(text: str, form: _Form) -> list[str] | None:
    """Return the cells of a record as RFC 4180 has them, or None if it breaks its rules."""
    if form.escaped:
        text = text.replace(_ESCAPED_MARK, _MARK * 2)
    delimiter = form.delimiter or next(mark for mark in "\x1f\x1e\x1d\x1c\x01\x02\x03" if mark not in text)
    try:
        [cells] = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    except (csv.Error, ValueError):
        return None
    return cells


def _meant(text: str, form: _Form) -> list[str] | None:
    """Return the cells of a record whose quotation marks inside a cell are not doubled, or None if one is open.

    A mark closes a cell only before a separator or at the end.
    """
    cells, place = [], 0
    end = form.delimiter or ""
    while place <= len(text):
        if text.startswith(_MARK, place):
            close = _closing(text, place + 1, end)
            if close is None:
                return None
            inside = text[place + 1 : close]
            cells.append(inside.replace(_MARK * 2, _MARK) if form.doubled else inside)
            place = close + 2
        else:
            close = text.find(end, place) if end else -1
            close = len(text) if close < 0 else close
            cells.append(text[place:close])
            place = close + 1
    return cells


def _closing(text: str, start: int, end: str) -> int | None:
    """Return the place of the first mark that a separator or the end follows."""
    place = text.find(_MARK, start)
    while place >= 0:
        if place + 1 == len(text) or (end and text.startswith(end, place + 1)):
            return place
        place = text.find(_MARK, place + 1)
    return None


def _swallows(taken: Sequence[str], form: _Form) -> bool:
    """Whether the lines of a cell with line breaks are rather records, because its mark was never closed.

    Either one of them encloses a cell itself, or they are many and all have the right number of cells.
    """
    if form.delimiter is None or not form.width:
        return False
    for line in taken[1:]:
        body = line.rstrip("\r\n")
        if any(map(_ENCLOSED.match, form.split(body))) and len(_strict(body, form) or ()) == form.width:
            return True
    return len(taken) > _FEWEST_SPANNED and all(len(form.split(line)) == form.width for line in taken)


# ---- how a file is written -------------------------------------------------------------------------------------------


def _form(head: Sequence[str], named: str | None, *, header: bool) -> _Form:
    """Return the separator that gives the first lines the most regular width, or none if there is no such."""
    if named:
        return _Form(named, _regularity(head, named, header=header)[1])
    regular = {delimiter: _regularity(head, delimiter, header=header) for delimiter in _DELIMITERS}
    best = max(_DELIMITERS, key=lambda delimiter: regular[delimiter])
    share, width = regular[best]
    if width > 1 and (share >= _REGULAR or (header and _names_columns(head[0], best, 0))):
        return _Form(best, width)
    return _Form(None, 1)


def _regularity(head: Sequence[str], delimiter: str, *, header: bool) -> tuple[float, int]:
    """Return the share of the first records that have the same number of cells, and that number."""
    widths = [len(record.cells) for record in _records(_Lines(iter(head), 1), _Form(delimiter, 0))]
    width, times = Counter(widths).most_common(1)[0]
    if header and widths[0] == 1 and not any(_names_columns(line, delimiter, width) for line in head[1:_BELOW_TITLES]):
        return 0.0, 1
    if header and widths[0] > 1 and widths[0] != width and 2 * widths.count(widths[0]) >= times:
        width, times = widths[0], widths.count(widths[0])
    return (times / len(widths), width) if width > 1 else (0.0, 1)


def _names_columns(line: str, delimiter: str, width: int = 0) -> bool:
    """Whether a line looks like names, of a given number if any, and not like a sentence with commas."""
    cells = line.rstrip("\r\n").split(delimiter)
    if len(cells) < 2 or (width and (len(cells) != width or width < _FEWEST_BELOW_A_TITLE)):
        return False
    return all(cell and cell == cell.strip() and len(cell) <= 40 for cell in cells)


@dataclass
class _Survey:
    """What a whole file shows about its quotation marks, when they are read as enclosing cells.

    `good` and `raw_good` count the lines in records of the right width, with and without quoting; `filled` counts all
    that are not blank. `marked` are the lines with a mark. `wrapped` and `bare` are the columns that have cells with
    and without marks around them, other than numbers. Of the cells with marks around them, `needed` counts those that
    RFC 4180 has to enclose, `commas` those that spreadsheets enclose too, and `plain` the others. Of the cells without,
    `strays` counts those with a mark, and `open_commas` says whether one has a comma. `doubled` counts the lines with
    doubled marks, `escaped` those with a backslash before a mark that break a rule.
    """

    form: _Form
    lines: int = 0
    blank: int = 0
    filled: int = 0
    good: int = 0
    raw_good: int = 0
    marked: list[int] = field(default_factory=list)
    inner: list[int] = field(default_factory=list)
    unclosed: list[int] = field(default_factory=list)
    spanning: list[tuple[int, int]] = field(default_factory=list)
    wrapped: set[int] = field(default_factory=set)
    bare: set[int] = field(default_factory=set)
    needed: int = 0
    commas: int = 0
    plain: int = 0
    strays: int = 0
    open_commas: bool = False
    doubled: int = 0
    escaped: int = 0

    @property
    def broken(self) -> int:
        """The number of lines that break the rules of quoting, or have the wrong number of cells."""
        return len(self.inner) + len(self.unclosed) + self.filled - self.good

    def add(self, record: _Record, *, heads: bool) -> None:
        """Count a record; the first one, which `heads` a file, says nothing about the columns."""
        self.lines += record.lines
        if not any(cell.strip() for cell in record.cells):
            self.blank += record.lines
            return
        self.filled += record.lines
        self.good += record.lines * (len(record.cells) == self.form.width and not record.unclosed)
        if record.lines > 1:
            self.spanning.append((record.line, record.lines))
            self.marked.append(record.line)
            return
        raw = self.form.split(record.raw)
        self.raw_good += len(raw) == self.form.width
        if _MARK in record.raw:
            self.marked.append(record.line)
            if record.inner:
                self.inner.append(record.line)
            bad = record.inner or record.unclosed or len(record.cells) != self.form.width
            self.escaped += bad and _ESCAPED_MARK in record.raw
            if record.unclosed:
                self.unclosed.append(record.line)
        if not heads and len(raw) == len(record.cells):
            for place, cell in enumerate(raw):
                self._add_cell(place, cell)

    def _add_cell(self, place: int, cell: str) -> None:
        inside = cell[1:-1]
        if len(cell) > 1 and cell[0] == cell[-1] == _MARK:
            self.wrapped.add(place)
            if _MARK * 2 in inside:
                self.needed += 1
                self.doubled += 1
            elif "," in inside or ";" in inside or inside != inside.strip():
                self.commas += 1
            else:
                self.plain += 1
            return
        if _MARK in cell:
            self.strays += 1
        if place not in self.bare and cell.strip().casefold() not in _MISSING and not _BARE.fullmatch(cell.strip()):
            self.bare.add(place)
        if not self.open_commas and ("," in cell or ";" in cell):
            self.open_commas = not _BARE.fullmatch(cell.strip())

    def decided(self) -> tuple[_Form, list[str]]:
        """Return whether marks enclose cells in this file, and what to say about it."""
        if not self.marked:
            return self.form, []
        if not self._encloses():
            said = f"Quotation marks are read as part of the texts ({lines_named(self.marked)}), because the file does "
            return replace(self.form, quoted=False), [f"{said}not use them to enclose cells."]
        return replace(self.form, doubled=not self.inner or self.doubled >= len(self.inner)), self._notes()

    def _encloses(self) -> bool:
        """Whether marks enclose cells: whether that reading explains more lines, else whether it is consistent."""
        if self.wrapped and not self.wrapped & self.bare:
            return True
        against = self.strays + len(self.inner) + len(self.unclosed)
        if self.form.width > 1 and self.raw_good < self.filled:
            helped = self.good - self.raw_good
            if helped:
                return helped > 0 and (self.form.delimiter != "\t" or helped >= against)
        if against:
            return False
        if self.spanning and not self._swallowed():
            return True
        if self.needed or not (self.wrapped or self.spanning):
            return True
        return bool(self.commas) and not (self.plain or self.open_commas)

    def _swallowed(self) -> bool:
        """Whether every line of the cells with line breaks may be a record as well."""
        longest = max(count for _, count in self.spanning)
        return self.form.width > 1 and (self.form.delimiter == "\t" or longest > _FEWEST_SPANNED)

    def _notes(self) -> list[str]:
        notes = []
        if self.spanning:
            line, count = max(self.spanning, key=lambda each: each[1])
            which = "" if len(self.spanning) == 1 else "the longest is "
            where = f"({which}line {line:,} to {line + count - 1:,})"
            notes.append(f"{_rows(self.spanning)} line breaks inside quotation marks {where}.")
        if self.inner:
            notes.append(
                f"{_rows(self.inner)} quotation marks that are not doubled ({lines_named(self.inner)}). They are kept."
            )
        if self.unclosed:
            where = lines_named(self.unclosed)
            notes.append(f"{_rows(self.unclosed)} a quotation mark that is never closed ({where}). It is kept as text.")
        return notes


def _survey(lines: _Lines, form: _Form) -> _Survey:
    survey = _Survey(form)
    for record in _records(lines, form):
        survey.add(record, heads=not survey.filled)
    return survey


def _rows(some: Sequence[object]) -> str:
    return "1 row has" if len(some) == 1 else f"{len(some):,} rows have"

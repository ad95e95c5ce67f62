"""Records of a delimited text file, and what its quotation marks mean.

RFC 4180 encloses a cell in marks if it has a separator, a line break or a mark, and doubles the marks inside. Many
files do not: texts that only begin with a mark, marks inside that are not doubled, one that is never closed. So the
whole file is read with marks as RFC 4180 has them first, and where a record breaks its rules, as its writer meant it.
What that shows (`Quoting`) decides whether marks mean anything in this file.

No library decides that: pandas, Arrow and `csv` with its `Sniffer` misread a third of the kinds of delimited files in
`tests/foreign_files`, most of them without a word (`core/docs/decisions/foreign-files.md`).
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from traitbench.display.text import count
from traitbench.tables.rows import lines_named

MARK = '"'
_ESCAPED_MARK = '\\"'
# Bounds, because a mark that is never closed would be tried against the whole rest, again for each such line.
_MOST_SPANNED, _MOST_TRIES = 2_000, 50
"""Lines that a quoted cell may have, and closing marks that are tried for one opening mark."""

# A cell of two or three lines has the right number of separators in each of them by chance.
_FEWEST_SPANNED = 3
_MISSING = {"na", "n/a", "nan", "null", "none", "\\n", "true", "false"}
_ENCLOSED = re.compile(r'"(?!"(?!"))')  # the begin of a cell in marks; inside another cell, marks are doubled
_BARE = re.compile(r"[+-]?[\d.,:%/-]*")
# The default refuses cells of more than 131,072 characters; a text that is too long gets its own message later.
csv.field_size_limit(2**31 - 1)


@dataclass(frozen=True)
class Form:
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


class QuotedRecord(NamedTuple):
    """The cells of a record, its first line and the number of its lines, and in what it breaks the rules of quoting."""

    line: int
    cells: list[str]
    lines: int = 1
    raw: str = ""
    inner: bool = False
    unclosed: bool = False


class QuotedLines:
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


def records(lines: QuotedLines, form: Form) -> Iterator[QuotedRecord]:
    """Yield the records. One that cannot be read by the rules is read with its quotation marks as text."""
    while (line := lines.next()) is not None:
        body = line.rstrip("\r\n")
        if not form.quoted or MARK not in body:
            yield QuotedRecord(lines.number, form.split(body), raw=body)
        else:
            yield _quoted(lines, body, line, form)


def _quoted(lines: QuotedLines, body: str, line: str, form: Form) -> QuotedRecord:
    """Return the record that begins with a line with quotation marks."""
    number = lines.number
    if not form.doubled and (cells := _meant(body, form)) is not None:
        return QuotedRecord(number, cells, raw=body, inner=True)
    cells = strict(body, form)
    if cells is not None:
        return QuotedRecord(number, cells, raw=body)
    record = _spanning(lines, number, line, form)
    if record is not None:
        return record
    cells = _meant(body, form)
    if cells is not None:
        return QuotedRecord(number, cells, raw=body, inner=True)
    record = _spanning(lines, number, line, form, meant=True)
    return record or QuotedRecord(number, form.split(body), raw=body, unclosed=True)


def _spanning(lines: QuotedLines, number: int, line: str, form: Form, *, meant: bool = False) -> QuotedRecord | None:
    """Return the record of several lines that begins with `line`, or None if there is no such.

    RFC 4180 has an even number of marks in a record, so it ends with the first line that makes their number even.
    """
    taken, tries, marks = [line], 0, _marks(line, form)
    if not meant and marks % 2 == 0:
        return None
    while len(taken) < _MOST_SPANNED and tries < _MOST_TRIES and (more := lines.next()) is not None:
        taken.append(more)
        marks += _marks(more, form)
        if MARK not in more or (not meant and marks % 2):
            continue
        tries += 1
        whole = "".join(taken).rstrip("\r\n")
        cells = _meant(whole, form) if meant else strict(whole, form)
        if cells is not None and form.width in (0, len(cells)) and not _swallows(taken, form):
            return QuotedRecord(number, cells, len(taken), raw=line, inner=meant)
        # With marks as RFC 4180 has them, the record ends where their number is even, so later lines cannot help.
        if cells is not None or not meant:
            break
    lines.put_back(taken[1:])
    return None


def _marks(line: str, form: Form) -> int:
    """Return the number of marks that RFC 4180 counts."""
    return line.count(MARK) - (line.count(_ESCAPED_MARK) if form.escaped else 0)


def strict(text: str, form: Form) -> list[str] | None:
    """Return the cells of a record as RFC 4180 has them, or None if it breaks its rules."""
    if form.escaped:
        text = text.replace(_ESCAPED_MARK, MARK * 2)
    # The csv module needs a separator, so one cell a line gets a character that its text does not have.
    delimiter = form.delimiter or next(mark for mark in "\x1f\x1e\x1d\x1c\x01\x02\x03" if mark not in text)
    try:
        [cells] = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    except (csv.Error, ValueError):
        return None
    return cells


def _meant(text: str, form: Form) -> list[str] | None:
    """Return the cells of a record whose quotation marks inside a cell are not doubled, or None if one is open.

    A mark closes a cell only before a separator or at the end.
    """
    cells, position = [], 0
    end = form.delimiter or ""
    while position <= len(text):
        if text.startswith(MARK, position):
            close = _closing(text, position + 1, end)
            if close is None:
                return None
            inside = text[position + 1 : close]
            cells.append(inside.replace(MARK * 2, MARK) if form.doubled else inside)
            position = close + 2
        else:
            close = text.find(end, position) if end else -1
            close = len(text) if close < 0 else close
            cells.append(text[position:close])
            position = close + 1
    return cells


def _closing(text: str, start: int, end: str) -> int | None:
    """Return the place of the first mark that a separator or the end follows."""
    position = text.find(MARK, start)
    while position >= 0:
        if position + 1 == len(text) or (end and text.startswith(end, position + 1)):
            return position
        position = text.find(MARK, position + 1)
    return None


def _swallows(taken: Sequence[str], form: Form) -> bool:
    """Whether the lines of a cell with line breaks are rather records, because its mark was never closed.

    Either one of them encloses a cell itself, or they are many and all have the right number of cells.
    """
    if form.delimiter is None or not form.width:
        return False
    for line in taken[1:]:
        body = line.rstrip("\r\n")
        if any(map(_ENCLOSED.match, form.split(body))) and len(strict(body, form) or ()) == form.width:
            return True
    return len(taken) > _FEWEST_SPANNED and all(len(form.split(line)) == form.width for line in taken)


# ---- what a file shows ----------------------------------------------------------------------------------------------


@dataclass
class Quoting:
    """What a whole file shows about its quotation marks, when they are read as enclosing cells.

    `good` and `raw_good` count the lines in records of the right width, with and without quoting; `filled` counts all
    that are not blank. `marked` are the lines with a mark. `wrapped` and `bare` are the columns that have cells with
    and without marks around them, other than numbers. Of the cells with marks around them, `needed` counts those with
    doubled marks inside, and `plain` those that no program has to enclose. Of the cells without, `strays` counts those
    with a mark, and `open_commas` says whether one has a comma. `escaped` counts the lines with a backslash before a
    mark that break a rule.
    """

    form: Form
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
    plain: int = 0
    strays: int = 0
    open_commas: bool = False
    escaped: int = 0

    @property
    def broken(self) -> int:
        """The number of lines that break the rules of quoting, or have the wrong number of cells."""
        return len(self.inner) + len(self.unclosed) + self.filled - self.good

    def add(self, record: QuotedRecord, *, heads: bool) -> None:
        """Count a record; the first one, which `heads` a file, says nothing about the columns."""
        if not any(map(str.strip, record.cells)):
            return
        self.filled += record.lines
        self.good += record.lines * (len(record.cells) == self.form.width and not record.unclosed)
        if record.lines > 1:
            self.spanning.append((record.line, record.lines))
            self.marked.append(record.line)
            return
        is_marked = MARK in record.raw
        raw = self.form.split(record.raw) if is_marked else record.cells
        self.raw_good += len(raw) == self.form.width
        if is_marked:
            self.marked.append(record.line)
            if record.inner:
                self.inner.append(record.line)
            bad = record.inner or record.unclosed or len(record.cells) != self.form.width
            self.escaped += bad and _ESCAPED_MARK in record.raw
            if record.unclosed:
                self.unclosed.append(record.line)
        # Most lines have no mark, and soon they tell nothing new.
        is_settled = self.open_commas and len(self.bare) >= self.form.width
        if not heads and len(raw) == len(record.cells) and (is_marked or not is_settled):
            for position, cell in enumerate(raw):
                self._add_cell(position, cell)

    def _add_cell(self, position: int, cell: str) -> None:
        inside = cell[1:-1]
        if len(cell) > 1 and cell[0] == cell[-1] == MARK:
            self.wrapped.add(position)
            if MARK * 2 in inside:
                self.needed += 1
            elif "," not in inside and ";" not in inside and inside == inside.strip():
                self.plain += 1
            return
        if MARK in cell:
            self.strays += 1
        if position not in self.bare and cell.strip().casefold() not in _MISSING and not _BARE.fullmatch(cell.strip()):
            self.bare.add(position)
        if not self.open_commas and ("," in cell or ";" in cell):
            self.open_commas = not _BARE.fullmatch(cell.strip())

    def decided(self) -> tuple[Form, list[str]]:
        """Return whether marks enclose cells in this file, and what to say about it."""
        if not self.marked:
            return self.form, []
        if not self._encloses():
            said = f"Quotation marks are read as part of the texts ({lines_named(self.marked)}), because the file does "
            return replace(self.form, quoted=False), [f"{said}not use them to enclose cells."]
        return replace(self.form, doubled=not self.inner or self.needed >= len(self.inner)), self._notes()

    def _encloses(self) -> bool:
        """Whether marks enclose cells: whether that reading explains more lines, else whether it is consistent."""
        if self.wrapped and not self.wrapped & self.bare:
            return True
        against = self.strays + len(self.inner) + len(self.unclosed)
        if self.form.width > 1 and self.raw_good < self.filled:
            helped = self.good - self.raw_good
            if helped:
                # A file with tabs may be an export that quotes nothing, so there the evidence must be stronger.
                return helped > 0 and (self.form.delimiter != "\t" or helped >= against)
        if against:
            return False
        if self.spanning or self.needed or not self.wrapped:
            return True
        return not (self.plain or self.open_commas)

    def _notes(self) -> list[str]:
        notes = []
        if self.spanning:
            line, lines = max(self.spanning, key=lambda each: each[1])
            which = "" if len(self.spanning) == 1 else "the longest is "
            where = f"({which}line {line:,} to {line + lines - 1:,})"
            notes.append(f"{_rows(self.spanning)} line breaks inside quotation marks {where}.")
        if self.inner:
            where = lines_named(self.inner)
            notes.append(f"{_rows(self.inner)} quotation marks that are not doubled ({where}). They are kept.")
        if self.unclosed:
            where = lines_named(self.unclosed)
            notes.append(f"{_rows(self.unclosed)} a quotation mark that is never closed ({where}). It is kept as text.")
        return notes


def _rows(some: Sequence[object]) -> str:
    return count(len(some), "row has", "rows have")


def quoting_of(lines: QuotedLines, form: Form) -> Quoting:
    """Return what all records of a file show about its quotation marks."""
    quoting = Quoting(form)
    for record in records(lines, form):
        quoting.add(record, heads=not quoting.filled)
    return quoting

"""Rows of CSV files with any separator."""

import csv
import io
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from typing import IO

from traitbench.tables.encoding import text_of
from traitbench.tables.rows import Line, Problem, Row, Unreadable, column_names
from traitbench.tables.writing import as_written

_DELIMITERS = (",", ";", "\t", "|")
_HEAD = 100_000


class Csv:
    """The rows of a CSV file, with columns named by the header, or numbered without one."""

    def __init__(self, file: IO[bytes], encoding: str, *, header: bool) -> None:
        self._file, self._encoding, self._header = file, encoding, header
        with text_of(file, encoding, "") as text:
            self._delimiter = _delimiter(text.read(_HEAD))
        records = self._records()
        first = next(records, None)
        if first is None:
            raise Unreadable("The file has no rows.")
        width = max([len(first[1]), *(len(cells) for _, cells in records)]) if not header else len(first[1])
        records.close()
        self.columns = column_names(list(map(as_written, first[1])) if header else [""] * width)

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
        """Raise `Unreadable` if there are no rows."""
        if not count:
            raise Unreadable(
                "The file has a header but no rows. If the first row is a text, say that the file has no column names."
            )

    def _records(self) -> "Records":
        with text_of(self._file, self._encoding, "") as text:
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

"""Tables from CSV, TSV, JSONL, JSON, Parquet and Excel files.

`opened` reads a whole file once, in a process of its own (`process`), and stores its rows. `Source.lines` then yields
them any number of times, also if the file has changed or is gone. A problem never repeats the text of the row.
"""

import json
import mmap
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from shutil import copyfileobj
from typing import IO, Any

from traitbench.analysis.condition import Cleaning, Condition, cleaned, condition_of
from traitbench.formulas import as_written
from traitbench.tables.conversations import Turn, messages_of, text_of
from traitbench.tables.process import HasDescriptor, read_apart, survey_of, wait_silently
from traitbench.tables.reading import ENDINGS, Survey
from traitbench.tables.rows import Line, Problem, Row, Table, as_text, column_names, flattened
from traitbench.tables.scratch import Scratch

__all__ = ["ENDINGS", "Source", "of_texts", "opened", "restored"]

_HEAD = 200
_LOOKED_AT = 200_000
_WAYS: Mapping[str, Any] = {"turn": "user", "cleanings": (), "cleaned_columns": ()}


@dataclass(frozen=True, eq=False)
class Source:
    """A file that was read; `survey` says what it has.

    `typed` has the columns of a Parquet file with their types, as Parquet. The cell of a conversation is what `turn`
    said in it; those in `cleaned_columns` are cleaned in the ways `cleanings`. `Row.given` has them as they were.
    """

    survey: Survey
    typed: Scratch | None
    _rows: Scratch
    turn: Turn = "user"
    cleanings: tuple[Cleaning, ...] = ()
    cleaned_columns: tuple[str, ...] = ()

    @cached_property
    def head(self) -> Table:
        """The first rows: enough to guess what the columns are for."""
        return self._table(_HEAD)

    @cached_property
    def whole(self) -> Table:
        """All rows, which stay in memory."""
        return self._table(None)

    def _table(self, most: int | None) -> Table:
        lines = [*islice(self.lines(), most)]
        problems = tuple(line for line in lines if isinstance(line, Problem))
        rows = tuple(line for line in lines if isinstance(line, Row))
        return Table(self.columns, rows, problems, self.survey.conversations)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.survey.columns

    @property
    def count(self) -> int:
        """The number of rows, good and bad."""
        return self.survey.count

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know about how the file was read."""
        return self.survey.notes

    def lines(self) -> Iterator[Line]:
        """Iterate over all rows and problems from the start."""
        lines = _lines(self._rows, self.survey)
        if not self.survey.conversations and not self.cleanings:
            return lines
        return (self._as_read(line) if isinstance(line, Row) else line for line in lines)

    def _as_read(self, row: Row) -> Row:
        """Return a row with other texts than the cells of the file: what one side said, or what a person reads."""
        read = dict[str, str]()
        for column in self.survey.conversations:
            messages, cell = messages_of(row.value(column)), row.cells.get(column, "")
            # What is no list of messages may be a text, but a list or an object is none.
            if messages is not None or cell[:1] in ("[", "{"):
                read[column] = text_of(messages or (), self.turn)
        for column in self.cleaned_columns:
            text = read.get(column, row.cells.get(column, ""))
            if (clean := cleaned(text, self.cleanings)) != text:
                read[column] = clean
        if not read:
            return row
        return replace(row, cells={**row.cells, **read}, given={column: row.cells.get(column, "") for column in read})

    def with_turn(self, turn: Turn) -> "Source":
        """Return the same file, with the words of another side as the text of a conversation."""
        return replace(self, turn=turn)

    def with_clean(self, columns: Iterable[str], ways: Iterable[Cleaning]) -> "Source":
        """Return the same file with texts cleaned in some columns."""
        return replace(self, cleanings=tuple(ways), cleaned_columns=tuple(columns))

    def stacked(self, columns: Sequence[str]) -> "Source":
        """Return the texts of several columns, one after the other; blank ones are left out.

        The last two columns, under unused names, are `question`, the column that a text is from, and `text`. The others
        are as they were.
        """
        others = [name for name in self.columns if name not in columns]
        *others_out, question, text = column_names([*others, "question", "text"])

        def rows() -> Iterator[Mapping[str, str] | Problem]:
            for column in columns:
                for line in self.lines():
                    if isinstance(line, Problem):
                        if column == columns[0]:
                            yield line
                    elif line.cells.get(column, "").strip():
                        cells = zip(others_out, (line.original(name) for name in others), strict=True)
                        yield {**dict(cells), question: column, text: line.cells[column]}

        return _written(rows(), (*others_out, question, text), self.survey.digest)

    def condition(self, column: str) -> Condition:
        """Return what the texts of a column are like, by their position among all rows; of many, the first ones."""
        condition = condition_of(islice(self.texts(column), _LOOKED_AT))
        condition = replace(condition, is_partial=self.count > _LOOKED_AT)
        if not condition.cut:
            return condition
        lines = islice(self.lines(), _LOOKED_AT)
        numbers = [line.number if isinstance(line, Row) else line.row for line in lines]
        return replace(condition, cut_rows=tuple(numbers[position] for position in condition.cut))

    def texts(self, column: str) -> Iterator[str]:
        """Iterate over the texts of a column, one for each row; a row that cannot be read has an empty one."""
        return (line.cells.get(column, "") if isinstance(line, Row) else "" for line in self.lines())

    def way_to_read(self, column: str) -> str:
        """Return the column with how its texts are read, if that is another way than the usual one."""
        side = [self.turn] if column in self.survey.conversations and self.turn != "user" else []
        ways = [*side, *(self.cleanings if column in self.cleaned_columns else ())]
        return f"{column} ({', '.join(ways)})" if ways else column

    def saved(self) -> bytes:
        """Return the rows as a file that `restored` reads."""
        with mmap.mmap(self._rows.fileno(), len(self._rows), access=mmap.ACCESS_READ) as rows:
            way = {"turn": self.turn, "cleanings": self.cleanings, "cleaned_columns": self.cleaned_columns}
            return json.dumps({**asdict(self.survey), **way}).encode() + b"\n" + rows.read()


def opened(
    name: str,
    file: IO[bytes],
    *,
    header: bool | None = None,
    sheet: str | None = None,
    waits: Callable[[int], None] = wait_silently,
) -> Source:
    """Read a file whose name says its format; raise `NotATable` if it has no table.

    `header` says whether the first row of a CSV or Excel file names the columns; by default it does, and a `.txt` file
    has one text a line. `sheet` says which sheet of an Excel file is read; by default the first visible one with a
    table. Few files are read at once (`process.MOST_READERS`); `waits` gets how many are before this one.
    """
    described = _with_descriptor(file)
    size = os.fstat(described.fileno()).st_size
    rows, typed = Scratch(size), Scratch(size)
    survey = read_apart(name, described, rows, typed, header=header, sheet=sheet, waits=waits)
    # A small file may have many rows, which nobody knows before.
    rows.settle()
    typed.settle()
    return Source(survey, typed if survey.kind == "parquet" else None, rows)


def of_texts(texts: Iterable[tuple[int, str]]) -> Source:
    """Return texts with the numbers of their lines as a source with the column `text`."""
    rows, count = Scratch(0), 0
    with rows.open("wb") as out:
        for number, text in texts:
            out.write(json.dumps([number, {"text": text}]).encode() + b"\n")
            count += 1
    survey = Survey("json", ("text",), count, (), "", {"text": ("str",)}, False, f"{count:,} rows")
    return Source(survey, None, rows)


def _written(lines: Iterable[Mapping[str, str] | Problem], columns: tuple[str, ...], digest: str) -> Source:
    rows, count = Scratch(0), 0
    with rows.open("wb") as out:
        for count, line in enumerate(lines, start=1):
            cells = [line.row, line.column, line.reason] if isinstance(line, Problem) else [count, line]
            out.write(json.dumps(cells).encode() + b"\n")
    rows.settle()
    types = dict.fromkeys(columns, ("str",))
    return Source(Survey("json", columns, count, (), digest, types, False, f"{count:,} rows"), None, rows)


def restored(content: bytes) -> Source:
    """Return the source that `Source.saved` wrote; raise `ValueError`, `KeyError` or `TypeError` if it is damaged."""
    head, _, lines = content.partition(b"\n")
    rows = Scratch(len(lines))
    with rows.open("wb") as out:
        out.write(lines)
    survey = json.loads(head)
    turn, *ways = (survey.pop(name, other) for name, other in _WAYS.items())
    return Source(survey_of(survey), None, rows, turn, *map(tuple, ways))


def _lines(rows: Scratch, survey: Survey) -> Iterator[Line]:
    if not len(rows):
        return
    with mmap.mmap(rows.fileno(), len(rows), access=mmap.ACCESS_READ) as mapped:
        for content in iter(mapped.readline, b""):
            yield _line(json.loads(content.decode("utf-8", "surrogatepass")), survey)


def _line(read: list[Any], survey: Survey) -> Line:
    if len(read) == 3:
        return Problem(*read)
    number, values = read
    if isinstance(values, Mapping):
        flat = flattened(values, survey.whole) if survey.kind == "json" else values
        return Row(number, {column: as_text(value) for column, value in flat.items()}, values)
    cells = map(as_written, values) if survey.guarded else values
    missing = [""] * (len(survey.columns) - len(values))
    return Row(number, dict(zip(survey.columns, [*cells, *missing], strict=True)))


def _with_descriptor(file: IO[bytes]) -> HasDescriptor:
    """Return the file, or a copy of it if it is only in memory."""
    try:
        file.fileno()
    except (OSError, AttributeError):
        copy = Scratch(0)
        file.seek(0)
        with copy.open("wb") as out:
            copyfileobj(file, out)
        return copy
    return file

"""Tables from CSV, TSV, JSONL, JSON, Parquet and Excel files.

`opened` reads a whole file once, in a process of its own (`process`), and stores its rows. `Source.lines` then yields
them any number of times, also if the file has changed or is gone. A problem never repeats the text of the row.
"""

import json
import mmap
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import islice
from shutil import copyfileobj
from typing import IO, Any

from traitbench.formulas import as_written
from traitbench.tables.conversations import Turn, messages_of, text_of
from traitbench.tables.process import HasDescriptor, read_apart, survey_of
from traitbench.tables.reading import ENDINGS, Survey
from traitbench.tables.rows import Line, Problem, Row, Table, as_text, flattened
from traitbench.tables.scratch import Scratch

__all__ = ["ENDINGS", "Source", "of_texts", "opened", "restored"]

_HEAD = 200


@dataclass(frozen=True, eq=False)
class Source:
    """A file that was read; `survey` says what it has.

    `typed` has the columns of a Parquet file with their types, as Parquet. The cell of a conversation is what `turn`
    said in it.
    """

    survey: Survey
    typed: Scratch | None
    _rows: Scratch
    turn: Turn = "user"

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
        return _lines(self._rows, self.survey, self.turn)

    def with_turn(self, turn: Turn) -> "Source":
        """Return the same file, with the words of another side as the text of a conversation."""
        return replace(self, turn=turn)

    def saved(self) -> bytes:
        """Return the rows as a file that `restored` reads."""
        with mmap.mmap(self._rows.fileno(), len(self._rows), access=mmap.ACCESS_READ) as rows:
            return json.dumps({**asdict(self.survey), "turn": self.turn}).encode() + b"\n" + rows.read()


def opened(name: str, file: IO[bytes], *, header: bool | None = None, sheet: str | None = None) -> Source:
    """Read a file whose name says its format; raise `NotATable` if it has no table.

    `header` says whether the first row of a CSV or Excel file names the columns; by default it does, and a `.txt` file
    has one text a line. `sheet` says which sheet of an Excel file is read; by default the first visible one with a
    table.
    """
    described = _with_descriptor(file)
    size = os.fstat(described.fileno()).st_size
    rows, typed = Scratch(size), Scratch(size)
    survey = read_apart(name, described, rows, typed, header=header, sheet=sheet)
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


def restored(content: bytes) -> Source:
    """Return the source that `Source.saved` wrote; raise `ValueError`, `KeyError` or `TypeError` if it is damaged."""
    head, _, lines = content.partition(b"\n")
    rows = Scratch(len(lines))
    with rows.open("wb") as out:
        out.write(lines)
    survey = json.loads(head)
    turn = survey.pop("turn", "user")
    return Source(survey_of(survey), None, rows, turn)


def _lines(rows: Scratch, survey: Survey, turn: Turn) -> Iterator[Line]:
    if not len(rows):
        return
    with mmap.mmap(rows.fileno(), len(rows), access=mmap.ACCESS_READ) as mapped:
        for content in iter(mapped.readline, b""):
            line = _line(json.loads(content.decode("utf-8", "surrogatepass")), survey)
            yield _said(line, survey.conversations, turn) if survey.conversations and isinstance(line, Row) else line


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


def _said(row: Row, columns: Sequence[str], turn: Turn) -> Row:
    """Return a row whose conversations are texts: what one side said."""
    given, said = dict[str, str](), dict[str, str]()
    for column in columns:
        messages, cell = messages_of(row.value(column)), row.cells.get(column, "")
        # What is no list of messages may be a text, but a list or an object is none.
        if messages is not None or cell[:1] in ("[", "{"):
            given[column], said[column] = cell, text_of(messages or (), turn)
    return replace(row, cells={**row.cells, **said}, given=given) if said else row


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

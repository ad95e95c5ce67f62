"""Score a table row by row, and format the results.

Commands and pages provide the rows and a sink for the outcomes. Invalid rows are not sent; their outcome is an error.

Every file has the columns of the input, then ours (`display.scored_rows`). CSV has empty cells where JSONL and Parquet
have nulls. JSONL keeps the values of a record of the input, Parquet its types.
"""

import csv
import io
import json
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, islice
from typing import IO, Any

from traitbench.client import Traitbench
from traitbench.contract.batches import BatchLine, BatchSettings, ScoredLine
from traitbench.display.scored_rows import Also, Poles, ScoredColumns, as_sentence, cells_of, input_names
from traitbench.errors import InternalError
from traitbench.formulas import harmless
from traitbench.tables.rows import Line, Problem, Row
from traitbench.tables.source import Source

_PROBE = "a"
_AT_ONCE = 10_000


@dataclass(frozen=True)
class RowOutcome:
    """The result of a row: the row if it is valid, and its card or the reason why there is none.

    `line` is its line in the file, `number` its number among the data rows, from 1.
    """

    line: int
    row: Row | None
    card: ScoredLine | None
    code: str = ""
    reason: str = ""
    number: int = 0


Outcomes = Generator[RowOutcome, None, None]


def probe(client: Traitbench, settings: BatchSettings) -> ScoredLine:
    """Score a dummy text to learn the version and its traits; raise the errors that would affect all rows."""
    [line] = client.scores.batch(settings.handle, [_PROBE], traits=settings.traits, mode=settings.mode)
    if isinstance(line, ScoredLine):
        return line
    raise InternalError(f"The service cannot score any text: {line.error.message}")


def outcomes(
    client: Traitbench, settings: BatchSettings, lines: Iterable[Line], column: str, *, first: int = 1
) -> Outcomes:
    """Yield the outcome of each line, in order, as the answers arrive. `first` is the number of the first data row."""
    waiting: deque[Line] = deque()
    numbers = count(first)

    def texts() -> Iterator[str]:
        for line in lines:
            waiting.append(line)
            if isinstance(line, Row):
                yield line.cells.get(column, "")

    answers = client.scores.batch(
        settings.handle, texts(), traits=settings.traits, mode=settings.mode, fetch=settings.fetch
    )
    for answer in answers:
        line = waiting.popleft()
        while isinstance(line, Problem):
            yield _refused(line, next(numbers))
            line = waiting.popleft()
        yield _answered(line, answer, next(numbers))
    # These are the invalid rows after the last text.
    yield from (_refused(line, next(numbers)) for line in waiting if isinstance(line, Problem))


def _refused(line: Problem, number: int) -> RowOutcome:
    what = f"The column {line.column}" if line.column else "The row"
    return RowOutcome(line.row, None, None, "invalid_row", f"{what} {line.reason}.", number)


def _answered(row: Row, answer: BatchLine, number: int) -> RowOutcome:
    if isinstance(answer, ScoredLine):
        return RowOutcome(row.number, row, answer, number=number)
    return RowOutcome(row.number, row, None, answer.error.code, as_sentence(answer.error.message), number)


# ---- output --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shape:
    """The columns of the input, the traits that are scored, the names of their poles, and what files have besides."""

    columns: Sequence[str]
    keys: Sequence[str]
    poles: Poles = field(default_factory=dict)
    also: Collection[Also] = ()

    @cached_property
    def ours(self) -> ScoredColumns:
        """The columns of the scores."""
        return ScoredColumns(self.keys, self.also)

    @cached_property
    def inputs(self) -> dict[str, str]:
        """The names under which the columns of the input come out."""
        return dict(zip(self.columns, input_names(self.columns, self.ours.names), strict=True))


def csv_head(shape: Shape) -> bytes:
    """Return the first line of a CSV file."""
    return _record(columns_out(shape))


def csv_line(shape: Shape, outcome: RowOutcome) -> bytes:
    """Return the cells of the input and ours as a line of a CSV file."""
    row = outcome.row
    cells = (row.original(column) if row else "" for column in shape.columns)
    return _record((*cells, *figures(shape, outcome)))


def jsonl_line(shape: Shape, outcome: RowOutcome) -> bytes:
    """Return the fields of the input and ours as a line of a JSONL file."""
    row = outcome.row
    fields = {} if row is None else {**row.cells, **row.given} if row.record is None else row.record
    came_in = {shape.inputs.get(name, name): value for name, value in fields.items()}
    ours = dict(zip(shape.ours.names, figures(shape, outcome), strict=True))
    return encoded(json.dumps(came_in | ours, ensure_ascii=False) + "\n")


def columns_out(shape: Shape) -> list[str]:
    """Return the columns of a file: those of the input, then ours."""
    return [*shape.inputs.values(), *shape.ours.names]


def encoded(text: str) -> bytes:
    """Encode text as UTF-8; a lone surrogate is escaped as in JSON."""
    return text.encode("utf-8", "backslashreplace")


def figures(shape: Shape, outcome: RowOutcome) -> list[Any]:
    """Return the values of our columns; None where there is nothing to say."""
    card = outcome.card
    if card is None:
        return shape.ours.cells(outcome.number, {}, error=outcome.reason)
    return shape.ours.cells(
        outcome.number, cells_of(card, shape.poles), composite=card.composite, version=card.metadata.version_id
    )


def _record(cells: Iterable[object]) -> bytes:
    buffer, end = io.StringIO(newline=""), "\r\n"
    # A cell is quoted if it has a character of this end; with "\n", a "\r" in a text would begin a row.
    csv.writer(buffer, lineterminator=end).writerow([harmless(cell) for cell in cells])
    return encoded(f"{buffer.getvalue().removesuffix(end)}\n")


# ---- Parquet -------------------------------------------------------------------------------------------------------


def write_parquet(out: IO[bytes], source: Source, shape: Shape, outcomes: Iterable[RowOutcome]) -> None:
    """Write the typed columns of the source and our columns, in the same order."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    ours = [(name, pa.int64() if name in shape.ours.numbers else pa.string()) for name in shape.ours.names]
    coming = iter(outcomes)
    writer: ParquetWriter | None = None
    try:
        for table in _tables_of(source, shape, pa):
            table = table.rename_columns([shape.inputs.get(name, name) for name in table.column_names])
            rows = [figures(shape, outcome) for outcome in islice(coming, table.num_rows)]
            for position, (name, kind) in enumerate(ours):
                table = table.append_column(pa.field(name, kind), pa.array([row[position] for row in rows], kind))
            writer = writer or ParquetWriter(out, table.schema, compression="zstd")
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def _tables_of(source: Source, shape: Shape, pa: Any) -> Iterator[Any]:
    """Yield the rows of a source in tables of up to 10,000; a row that could not be read is empty."""
    if source.typed is not None:
        from pyarrow.parquet import ParquetFile

        with source.typed.open() as typed:
            for batch in ParquetFile(typed).iter_batches(batch_size=_AT_ONCE):
                yield pa.Table.from_batches([batch])
        return
    lines = source.lines()
    while some := list(islice(lines, _AT_ONCE)):
        arrays = [_column(column, frozenset(source.survey.types.get(column, ())), some, pa) for column in shape.columns]
        yield pa.Table.from_arrays(arrays, names=list(shape.columns)) if arrays else pa.table({})


def _column(name: str, types: frozenset[str], lines: Sequence[Line], pa: Any) -> Any:
    kinds: Mapping[frozenset[str], tuple[Any, Callable[[Any], Any]]] = {
        frozenset({"bool"}): (pa.bool_(), bool),
        frozenset({"int"}): (pa.int64(), int),
        frozenset({"float"}): (pa.float64(), float),
        frozenset({"int", "float"}): (pa.float64(), float),
    }
    kind, read = kinds.get(types - {"NoneType"}, (pa.string(), None))
    if read is None:
        cells = [line.original(name) if isinstance(line, Row) and name in line.cells else None for line in lines]
        return pa.array([None if cell is None else encoded(cell).decode() for cell in cells], kind)
    values = [line.value(name) if isinstance(line, Row) else None for line in lines]
    return pa.array([None if value is None else read(value) for value in values], kind)

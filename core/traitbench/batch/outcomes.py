"""Score a table row by row, and format the results.

Commands and pages provide the rows and a sink for the outcomes. Invalid rows are not sent; their outcome is an error.

CSV output has the columns of the input, then ours; JSONL output has `{"line", "row", "card"}` or `{"line", "row",
"error"}`; Parquet output has the columns of the CSV, with types.
"""

import csv
import io
import json
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, get_args

from traitbench.client import Traitbench
from traitbench.contract.batches import BatchLine, BatchSettings, ScoredLine
from traitbench.contract.scores import Card, ConfidenceReason
from traitbench.errors import InternalError
from traitbench.formulas import harmless
from traitbench.tables.rows import Line, Problem, Row
from traitbench.tables.source import Source

_PROBE = "a"
_AT_ONCE = 10_000


@dataclass(frozen=True)
class RowOutcome:
    """The result of a line: its row if it is valid, and its card or the reason why there is none."""

    line: int
    row: Row | None
    card: ScoredLine | None
    code: str = ""
    reason: str = ""


Outcomes = Generator[RowOutcome, None, None]


def probe(client: Traitbench, settings: BatchSettings) -> ScoredLine:
    """Score a dummy text to learn the version and its traits; raise the errors that would affect all rows."""
    [line] = client.scores.batch(settings.handle, [_PROBE], traits=settings.traits, mode=settings.mode)
    if isinstance(line, ScoredLine):
        return line
    raise InternalError(f"The service cannot score any text: {line.error.message}")


def outcomes(client: Traitbench, settings: BatchSettings, lines: Iterable[Line], column: str) -> Outcomes:
    """Yield the outcome of each line, in order, as the answers arrive."""
    waiting: deque[Line] = deque()

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
            yield _refused(line)
            line = waiting.popleft()
        yield _answered(line, answer)
    # These are the invalid rows after the last text.
    yield from (_refused(line) for line in waiting if isinstance(line, Problem))


def _refused(line: Problem) -> RowOutcome:
    return RowOutcome(line.row, None, None, "invalid_row", f"{line.column} {line.reason}".strip())


def _answered(row: Row, answer: BatchLine) -> RowOutcome:
    if isinstance(answer, ScoredLine):
        return RowOutcome(row.number, row, answer)
    return RowOutcome(row.number, row, None, answer.error.code, answer.error.message)


# ---- output --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shape:
    """The columns of the input, and the traits that are scored."""

    columns: Sequence[str]
    keys: Sequence[str]


def csv_head(shape: Shape) -> bytes:
    """Return the first line of a CSV file."""
    return _record(columns_out(shape))


def csv_line(shape: Shape, outcome: RowOutcome) -> bytes:
    """Return the cells of the input and ours as a line of a CSV file."""
    row = outcome.row
    cells = (row.original(column) if row else "" for column in shape.columns)
    return _record((*cells, *figures(shape, outcome)))


def jsonl_line(_shape: Shape, outcome: RowOutcome) -> bytes:
    """Return the row of the input and its card or error as a line of a JSONL file."""
    row = outcome.row
    record = {} if row is None else {"row": row.cells if row.record is None else row.record}
    if outcome.card is None:
        result: dict[str, Any] = {"error": {"code": outcome.code, "message": outcome.reason}}
    else:
        result = {"card": outcome.card.model_dump(mode="json", exclude={"index"})}
    return encoded(json.dumps({"line": outcome.line, **record, **result}, ensure_ascii=False) + "\n")


def columns_out(shape: Shape) -> list[str]:
    """Return the columns of a CSV or Parquet file: those of the input, then ours under unused names."""
    names = list(shape.columns)
    for name in ("line", *shape.keys, "composite", "confidence", "confidence_reason", "version", "error"):
        names.append(_unlike(names, name))
    return names


def encoded(text: str) -> bytes:
    """Encode text as UTF-8; a lone surrogate is escaped as in JSON."""
    return text.encode("utf-8", "backslashreplace")


def figures(shape: Shape, outcome: RowOutcome) -> list[Any]:
    """Return the values of our columns, beginning with the line; None for scores if there is no card."""
    card = outcome.card
    if card is None:
        return [outcome.line, *[None] * (len(shape.keys) + 4), outcome.reason]
    scores = [card.scores.get(key) for key in shape.keys]
    return [outcome.line, *scores, card.composite, card.confidence, reason_of(card), card.metadata.version_id, ""]


def reason_of(card: Card) -> str:
    """Return why the confidence of a card is not high: the reasons of its least certain traits, with commas between.

    Empty if it is high, and from a service that gives no reasons.
    """
    weakest = [trait.confidence_reason for trait in card.detail.values() if trait.confidence == card.confidence]
    return ", ".join(reason for reason in get_args(ConfidenceReason) if reason in weakest)


def _unlike(columns: Sequence[str], name: str) -> str:
    """Return the name, or a variant that is not yet a column."""
    return name if name not in columns else _unlike(columns, f"{name} (new)")


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

    ours = _our_types(shape, pa)
    coming = iter(outcomes)
    writer: ParquetWriter | None = None
    try:
        for table in _tables_of(source, shape, pa):
            rows = [figures(shape, outcome) for outcome in islice(coming, table.num_rows)]
            for position, (name, kind) in enumerate(ours):
                table = table.append_column(pa.field(name, kind), pa.array([row[position] for row in rows], kind))
            writer = writer or ParquetWriter(out, table.schema, compression="zstd")
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()


def _our_types(shape: Shape, pa: Any) -> list[tuple[str, Any]]:
    whole, text = pa.int64(), pa.string()
    kinds = [whole, *[whole] * len(shape.keys), whole, text, text, text, text]
    return list(zip(columns_out(shape)[len(shape.columns) :], kinds, strict=True))


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

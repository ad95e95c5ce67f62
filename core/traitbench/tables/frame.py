"""A file as a data frame, read as the workbench reads it."""

import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traitbench.analysis.condition import Cleaning
from traitbench.install import advice
from traitbench.tables.columns import read_columns
from traitbench.tables.conversations import Turn
from traitbench.tables.rows import Problem, Row
from traitbench.tables.source import opened

if TYPE_CHECKING:
    from pandas import DataFrame, Index, Series


def read_table(
    path: str | Path,
    *,
    header: bool | None = None,
    sheet: str | None = None,
    turn: Turn = "user",
    clean: Collection[Cleaning] = (),
) -> "DataFrame":
    """Return the table in a CSV, Excel, JSONL, JSON or Parquet file as a pandas frame, with line numbers as its index.

    A `.txt` file has one text a line and no header; of an Excel file the first visible sheet with a table is read.
    Values inside objects of JSON have columns named by their path, such as `data.text`. Of a conversation, a list of
    messages with roles, the text is what the `turn` user, assistant or all said.
    `clean` has `html` to read markup as text, and `encoding` to repair texts that were decoded twice.
    Cells of CSV and Excel files are texts as they were; our own downloads come without the apostrophes that keep
    spreadsheets from running formulas. The column of the texts is `attrs["text"]`, and what each column is
    `attrs["readings"]`. What was remarkable is a warning. A row that cannot be read has None in every
    column, and its reason is in a warning too.

    Raise `ValueError` with the way out if the file has no table, `OSError` if it cannot be opened, `ImportError` if
    pandas is missing.
    """
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise ImportError(advice(error)) from error
    with Path(path).open("rb") as file:
        source = opened(Path(path).name, file, header=header, sheet=sheet).with_turn(turn)
    source = source.with_clean(source.columns, clean)
    numbers, rows, problems = [], list[list[Any]](), list[Problem]()
    for line in source.lines():
        if isinstance(line, Problem):
            problems.append(line)
        numbers.append(line.row if isinstance(line, Problem) else line.number)
        rows.append([None if isinstance(line, Problem) else _value(line, column) for column in source.columns])
    reading = read_columns(source.head, turn=turn)
    text = reading.column
    said = replace(source.condition(text), nothing=()).notes() if text else []
    for note in (*source.notes, *said):
        warnings.warn(f"{Path(path).name}: {note}", stacklevel=2)
    if problems:
        # A problem of a whole row has no column, which leaves two blanks.
        first = f"line {problems[0].row}: {problems[0].column} {problems[0].reason}".replace(":  ", ": ")
        warnings.warn(f"{Path(path).name}: {len(problems):,} rows cannot be read; {first}.", stacklevel=2)
    index = pd.Index(numbers, name="line")
    columns = {name: _column([row[at] for row in rows], index) for at, name in enumerate(source.columns)}
    frame = pd.DataFrame(columns, index=index)
    frame.attrs = {"text": text, "readings": {each.name: each.reading for each in reading.columns}}
    return frame


def _column(values: Sequence[Any], index: "Index[Any]") -> "Series[Any]":
    """Return a column in which every whole number keeps its digits: a float has 16 of them, an id may have 19."""
    import pandas as pd

    kinds = {type(value) for value in values}
    if kinds == {int, type(None)} and all(value is None or abs(value) < _LONG for value in values):
        return pd.Series(values, index, dtype="Int64")
    is_exact = kinds <= {int} or not any(type(value) is int and abs(value) > _EXACT for value in values)
    return pd.Series(values, index) if is_exact else pd.Series(values, index, dtype="object")


_LONG, _EXACT = 2**63, 2**53
"""Where the integers of pandas end, and up to where a float has every integer."""


def _value(row: Row, column: str) -> Any:
    return row.cells[column] if column in row.given else row.value(column)

"""The rows of a table, whatever file they come from, and what may be wrong with one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["csv", "json", "parquet", "excel"]


class NotATable(ValueError):
    """The file is not a table; the message says what to do."""


@dataclass(frozen=True)
class Row:
    """One record; `number` is its first line, `record` its typed values if the file is not plain text."""

    number: int
    cells: Mapping[str, str]
    record: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Problem:
    """Why a row is not valid."""

    row: int
    column: str
    reason: str


Line = Row | Problem

Cells = tuple[int, list[str]]
"""The number of a record and its cells, in the order of the columns; there may be fewer cells than columns."""

Record = tuple[int, Mapping[str, Any]]
"""The number of a record and its typed values, which JSON can represent."""


def as_text(value: Any) -> str:
    """Return the value of a cell as text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def column_names(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns, each once; those without a name or with the name of another are numbered."""
    given = [cell.strip() for cell in cells]
    taken, names = set(given), dict[str, None]()
    for position, name in enumerate(given, start=1):
        number = position
        new = name or f"Column {position}"
        while new in names or (new in taken and new != name):
            new = f"{name} ({number})" if name else f"Column {number}"
            number += 1
        names[new] = None
    return tuple(names)


def counted(number: int, thing: str) -> str:
    """Return a count in words: `1 row`, `1,240 rows`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def lines_named(lines: Sequence[int]) -> str:
    """Return the first of some line numbers in words: `line 5`, or `first in line 5`."""
    return f"line {lines[0]:,}" if len(lines) == 1 else f"first in line {lines[0]:,}"

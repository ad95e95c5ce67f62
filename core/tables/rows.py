"""The rows of a table, whatever file they come from, and what may be wrong with one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class Unreadable(ValueError):
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


def as_text(value: Any) -> str:
    """Return the value of a cell as text."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def column_names(cells: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns; those without a name or with the name of another are numbered."""
    names: list[str] = []
    for position, cell in enumerate(cells, start=1):
        name = cell.strip() or f"Column {position}"
        names.append(name if name not in names else f"{name} ({position})")
    return tuple(names)

"""Convert the upstream sources of a model to a table of text and back.

A source is an object with any fields. Fields become columns, the conventional ones first. A value that is not text is
shown as JSON, and keeps its type unless the cell is edited.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

CONVENTION = ("name", "license", "citation", "url")

Source = Mapping[str, Any]
Cells = dict[str, str]


def columns(given: Iterable[Source]) -> list[str]:
    """Return the columns of the table."""
    return list(dict.fromkeys([*CONVENTION, *(name for source in given for name in source)]))


def rows(given: Iterable[Source]) -> list[Cells]:
    """Return one row per source, without empty cells."""
    return cleaned({name: None if value is None else _cell(value) for name, value in each.items()} for each in given)


def cleaned(table: Iterable[Mapping[str, Any]]) -> list[Cells]:
    """Remove empty cells and rows from the rows of a table editor."""
    result = [
        {name: cell.strip() for name, cell in row.items() if isinstance(cell, str) and cell.strip()} for row in table
    ]
    return [row for row in result if row]


def sources(table: Sequence[Cells], before: Sequence[Source]) -> list[dict[str, Any]]:
    """Convert a table back to sources; `before` are those that the table was made from."""
    values = {
        (name, _cell(value)): value for source in before for name, value in source.items() if not isinstance(value, str)
    }
    return [{name: values.get((name, cell), cell) for name, cell in row.items()} for row in table]


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

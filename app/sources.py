"""The upstream sources of a model as a table of text, and back.

A source is a free-form object. Its fields become columns, those of the convention first; a value that is no text is
written as JSON, and stays the value that it was as long as its cell is not changed.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

CONVENTION = ("name", "license", "citation", "url")

Source = Mapping[str, Any]
Cells = dict[str, str]


def columns(found: Iterable[Source]) -> list[str]:
    """The columns of the table."""
    return list(dict.fromkeys([*CONVENTION, *(name for source in found for name in source)]))


def rows(found: Iterable[Source]) -> list[Cells]:
    """One row a source, without its empty cells."""
    return cleaned({name: None if value is None else _cell(value) for name, value in each.items()} for each in found)


def cleaned(table: Iterable[Mapping[str, Any]]) -> list[Cells]:
    """Rows as a table editor gives them, without empty cells and empty rows."""
    found = [
        {name: cell.strip() for name, cell in row.items() if isinstance(cell, str) and cell.strip()} for row in table
    ]
    return [row for row in found if row]


def sources(table: Sequence[Cells], before: Sequence[Source]) -> list[dict[str, Any]]:
    """The sources that a table stands for, when it was made from those `before`."""
    values = {
        (name, _cell(value)): value for source in before for name, value in source.items() if not isinstance(value, str)
    }
    return [{name: values.get((name, cell), cell) for name, cell in row.items()} for row in table]


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

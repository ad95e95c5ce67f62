"""Sources as a table and back: nothing that was not touched changes."""

from typing import Any

from traitbench_app.model.description import cleaned, source_columns, source_rows, sources_of

BEFORE: list[dict[str, Any]] = [
    {"name": "Reviews", "license": "MIT", "year": 2020, "authors": ["A", "B"]},
    {"name": "Mail", "url": "https://example.org", "checked": True, "note": None},
]


def test_columns_begin_with_the_convention_and_hold_whatever_else_there_is() -> None:
    assert source_columns(BEFORE) == ["name", "license", "citation", "url", "year", "authors", "checked", "note"]


def test_what_is_not_touched_comes_back_as_the_value_it_was() -> None:
    assert sources_of(source_rows(BEFORE), BEFORE) == [
        {"name": "Reviews", "license": "MIT", "year": 2020, "authors": ["A", "B"]},
        {"name": "Mail", "url": "https://example.org", "checked": True},
    ]


def test_a_cell_that_was_changed_is_text() -> None:
    table = source_rows(BEFORE)
    table[0]["year"] = "2021"
    assert sources_of(table, BEFORE)[0]["year"] == "2021"


def test_empty_cells_and_rows_are_left_out() -> None:
    assert cleaned([{"name": " A ", "url": None, "license": float("nan")}, {"name": "  "}, {}]) == [{"name": "A"}]

"""`core/docs/api.md` against the code: routes, query parameters, and the fields of every wire type."""

from typing import get_args

import pytest

from tests.docs import routes, wire_types
from tests.docs.markdown import headings, read, section, table, tables
from traitbench.contract.fields import Wire
from traitbench.contract.scores import Tier

PAGE = read("api.md")


def test_the_table_of_routes() -> None:
    assert tables(section(PAGE, "Routes"))[0] == list(routes.rows())


def test_the_table_of_query_parameters() -> None:
    listed = [{name: row[name] for name in row if name != "Meaning"} for row in tables(section(PAGE, "Routes"))[1]]
    assert listed == list(routes.query_rows())


def test_every_wire_type_has_a_section() -> None:
    assert {each.__name__ for each in wire_types.every()} <= set(headings(PAGE))


@pytest.mark.parametrize("wire_type", list(wire_types.every()), ids=lambda each: each.__name__)
def test_the_fields_of_a_wire_type(wire_type: type[Wire]) -> None:
    rows = table(PAGE, wire_type.__name__)
    listed = [(row["Field"].strip("`"), row["Type"], row[wire_types.third_column(wire_type)]) for row in rows]
    assert listed == list(wire_types.fields(wire_type))


def test_a_type_that_is_named_on_the_page_is_explained_there() -> None:
    explained = set(headings(PAGE))
    cells = [
        row[column] for rows in tables(PAGE) for row in rows for column in ("Type", "Body", "Answer") if column in row
    ]
    named = {name for cell in cells for name in routes.named_types(cell) if not name.isupper()}  # values have capitals
    assert named - {*get_args(Tier)} <= explained

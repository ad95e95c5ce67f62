"""`core/docs/api.md` against the code: routes, query parameters, and the fields of every wire type."""

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import get_args

import pytest

from core import contract
from core.contract.fields import Received, Returned, Wire
from core.contract.scores import Tier
from tests.docs import routes, wire_types
from tests.docs.markdown import headings, read, section, table, tables

PAGE = read("api.md")
BASES = {"Wire", "Received", "Returned", "Page"}


def test_the_table_of_routes() -> None:
    assert tables(section(PAGE, "Routes"))[0] == list(routes.rows())


def test_the_table_of_query_parameters() -> None:
    listed = [{name: row[name] for name in row if name != "Meaning"} for row in tables(section(PAGE, "Routes"))[1]]
    assert listed == list(routes.query_rows())


def types() -> Iterator[type[Wire]]:
    """Every wire type of the contract package, bases left out."""
    for module in pkgutil.iter_modules(contract.__path__):
        loaded = import_module(f"{contract.__name__}.{module.name}")
        for name, each in inspect.getmembers(loaded, inspect.isclass):
            if issubclass(each, Wire) and each.__module__ == loaded.__name__ and name not in BASES and "[" not in name:
                yield each


def test_every_wire_type_has_a_section() -> None:
    assert {each.__name__ for each in types()} <= set(headings(PAGE))


@pytest.mark.parametrize("wire_type", list(types()), ids=lambda each: each.__name__)
def test_the_fields_of_a_wire_type(wire_type: type[Wire]) -> None:
    rows = table(PAGE, wire_type.__name__)
    last = "Default" if issubclass(wire_type, Received) else "Present"
    listed = [(row["Field"].strip("`"), row["Type"], row[last]) for row in rows]
    assert listed == list(wire_types.fields(wire_type))


def test_a_type_that_is_named_on_the_page_is_explained_there() -> None:
    explained = set(headings(PAGE))
    cells = [
        row[column] for rows in tables(PAGE) for row in rows for column in ("Type", "Body", "Answer") if column in row
    ]
    named = {name for cell in cells for name in routes.named_types(cell)}
    assert named - {*get_args(Tier)} <= explained


def test_received_and_returned_are_the_only_bases() -> None:
    assert all(issubclass(each, (Received, Returned)) for each in types())

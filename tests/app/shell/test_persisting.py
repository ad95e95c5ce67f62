"""An error in the middle of a page empties no field of it: each says where its value is while it is not drawn."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.test_imports import ROOT

FIELDS = frozenset(
    (
        *("text_input", "text_area", "number_input", "date_input", "checkbox", "toggle", "radio", "selectbox"),
        *("multiselect", "pills", "segmented_control", "slider", "select_slider"),
    )
)
# What is typed anew each time, and switches that are saved at once: the service has their value.
EMPTIED = {"f'Type {model.handle} to confirm'", "'Words'", "'The language model may be asked'", "'Hold worse versions'"}


def test_every_field_persists_or_is_in_the_address() -> None:
    found = [*fields()]
    assert len(found) > 100
    assert {label for label, arguments in found if not arguments & {"persist_state", "bind"}} == EMPTIED


def fields() -> Iterator[tuple[str, set[str | None]]]:
    """The label of each field of the workbench as it is written, and the names of the field's arguments."""
    for path in (*Path(ROOT, "app").rglob("*.py"), *Path(ROOT, "pages").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FIELDS:
                yield ast.unparse(node.args[0]), {each.arg for each in node.keywords}

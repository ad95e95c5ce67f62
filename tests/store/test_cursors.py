import base64
import json

import pytest

from tests.contexts import ON_SQLITE
from traitbench.errors import InvalidCursor
from traitbench.store.cursors import read_name, read_number, write_cursor

pytestmark = ON_SQLITE


def test_a_cursor_brings_back_its_place() -> None:
    assert read_number("samples 1 None", write_cursor("samples 1 None", 42)) == 42
    assert read_name("models a", write_cursor("models a", "local.näme")) == "local.näme"
    assert read_number("samples 1 None", None) is None


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "not a cursor",
        "ünicode",
        "\ud800",
        "AAAA" * 1000,
        base64.urlsafe_b64encode(json.dumps({"last": 1}).encode()).decode(),
        write_cursor("samples 2 None", 42),
        write_cursor("samples 1 7", 42),
        write_cursor("samples 1 None", "a name"),
        write_cursor("samples 1 None", 42)[:-1],
        write_cursor("samples 1 None", 42) + "=",
    ],
)
def test_a_cursor_that_this_listing_did_not_give_out_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidCursor):
        read_number("samples 1 None", cursor)

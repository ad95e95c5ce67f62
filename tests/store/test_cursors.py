import base64
import json

import pytest

from tests.contexts import ON_SQLITE
from traitbench.errors import InvalidCursor
from traitbench.store.cursors import PageRequest, write_cursor

pytestmark = ON_SQLITE


def test_a_cursor_brings_back_its_place() -> None:
    samples, models = write_cursor("samples 1 None", 42), write_cursor("models a", "local.näme")
    assert PageRequest.of(int, "samples 1 None", 5, samples, most=5).after == 42
    assert PageRequest.of(str, "models a", 5, models, most=5).after == "local.näme"
    assert PageRequest.of(int, "samples 1 None", 5, None, most=5).after is None


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
        PageRequest.of(int, "samples 1 None", 5, cursor, most=5)

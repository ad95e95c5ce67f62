"""Conversations in a table: whose words are the text of a row, and lists that are none."""

import io
import json
from typing import Any

import pytest

from tests.tables.in_process import opened_here
from traitbench.tables.conversations import messages_of, text_of
from traitbench.tables.source import restored

ASKED, TOLD = "My parcel never came.", "I am sorry. I will look."
ROLES = [
    {"role": "system", "content": "You are the help desk."},
    {"role": "user", "content": ASKED},
    {"role": "assistant", "content": TOLD},
]


@pytest.mark.parametrize(
    "value",
    [
        ROLES,
        json.dumps(ROLES),
        str(ROLES),
        [{"from": "human", "value": ASKED}, {"from": "gpt", "value": TOLD}],
        [{"speaker": "Ana", "text": ASKED}, {"speaker": "Shop", "text": TOLD}],
        [{"role": "prompter", "text": ASKED}, {"role": "assistant", "text": TOLD}],
        [{"author": {"type": "user"}, "body": ASKED}, {"author": {"type": "admin"}, "body": TOLD}],
        [
            {"role": "user", "content": [{"type": "text", "text": ASKED}]},
            {"role": "model", "content": {"parts": [TOLD]}},
        ],
        [{"user": ASKED, "assistant": TOLD}],
        [{"human": ASKED}, {"gpt": TOLD}],
        [{"author_id": 17, "body": ASKED}, {"author_id": 4, "body": TOLD}],
        [{"role": "Customer", "message": ASKED}, {"role": "Agent", "message": TOLD}, {"role": "tool", "message": "{}"}],
    ],
)
def test_each_side_of_a_conversation_has_its_words(value: Any) -> None:
    messages = messages_of(value)
    assert messages is not None
    assert text_of(messages, "user") == ASKED
    assert text_of(messages, "assistant") == TOLD
    assert text_of(messages, "all") == f"{ASKED}\n\n{TOLD}"


@pytest.mark.parametrize(
    "value",
    [
        "[not a list, but a text]",
        [],
        ["neg"],
        {"role": "user", "content": ASKED},
        [{"start": 0, "end": 3, "name": "PER", "text": "Ana"}],
        [{"name": "priority", "value": "high"}],
        "[" * 100_000,
        None,
        "[{",
    ],
)
def test_other_lists_are_no_conversations(value: Any) -> None:
    assert messages_of(value) is None


def test_the_cell_of_a_conversation_is_the_text_of_a_side_and_never_its_source() -> None:
    rows = [{"id": 1, "chat": ROLES}, {"id": 2, "chat": [{"no": "message"}]}, {"id": 3, "chat": ROLES[:2]}]
    source = opened_here("chats.jsonl", io.BytesIO("\n".join(map(json.dumps, rows)).encode()))
    assert source.head.conversations == ("chat",)
    assert [row.cells["chat"] for row in source.head.rows] == [ASKED, "", ASKED]
    assert [row.cells["chat"] for row in source.with_turn("assistant").head.rows] == [TOLD, "", ""]
    assert [row.record for row in source.head.rows] == rows
    assert [json.loads(row.original("chat")) for row in source.head.rows] == [row["chat"] for row in rows]
    again = restored(source.with_turn("all").with_clean(["chat"], ["html"]).saved())
    assert (again.cleanings, again.cleaned_columns) == (("html",), ("chat",))
    assert again.head.rows[0].cells["chat"] == f"{ASKED}\n\n{TOLD}"


def test_a_file_of_one_conversation_is_one_row() -> None:
    content = json.dumps({"messages": ROLES, "id": "c1"}, indent=1).encode()
    assert [row.cells["messages"] for row in opened_here("c.json", io.BytesIO(content)).head.rows] == [ASKED]

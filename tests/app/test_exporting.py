"""A download holds exactly what it should, and a spreadsheet finds no formula in it."""

import csv
import io
import json

import pytest

from app.exporting import csv_file, jsonl_file
from app.importing import read


def cells(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize("text", ["=1+1", "+49 30", "-a", "@b", "\tc", "\rd"])
def test_a_text_that_a_spreadsheet_would_run_begins_with_an_apostrophe(text: str) -> None:
    assert cells(csv_file(["text"], [[text]]))[1] == [f"'{text}"]


def test_numbers_and_other_texts_stay_as_they_are() -> None:
    rows = cells(csv_file(["text", "quality"], [["a = b; “c”, d\ne", -0.5]]))
    assert rows == [["text", "quality"], ["a = b; “c”, d\ne", "-0.5"]]


def test_jsonl_is_exact_and_can_be_read_again() -> None:
    content = jsonl_file(["text", "quality"], [["=1+1\n", 1.0], ["ä", 0.0]])
    assert json.loads(content.splitlines()[0]) == {"text": "=1+1\n", "quality": 1.0}
    assert [row.cells["text"] for row in read("a.jsonl", content).rows] == ["=1+1\n", "ä"]

"""A download holds exactly what it should, and a spreadsheet finds no formula in it."""

import csv
import io
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.size import sized
from tests.tables.in_process import read
from traitbench.tables.writing import csv_file, jsonl_file

NUMBER = re.compile(r"[+-]?[0-9.,]+(e[+-]?[0-9]+)?%?")


def cells(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize(
    "text", ["=1+1", "+49 30", "-a", "@b", "\tc", "\rd", "＝1", "＋1", "－1", "＠b", "'=1", "-1+2", "+-1"]
)
def test_a_text_that_a_spreadsheet_would_run_begins_with_an_apostrophe(text: str) -> None:
    assert cells(csv_file([text], [[text]])) == [[f"'{text}"], [f"'{text}"]]


@pytest.mark.parametrize("text", ["a;=1+1", "a\t=1", "a\n=1", "a;＝1", ";@b"])
def test_a_formula_behind_another_separator_is_none_either(text: str) -> None:
    [[guarded]] = cells(csv_file([text], []))
    assert not re.search(r"(^|[;\t\n])[=+@＝-]", guarded)


@pytest.mark.parametrize("text", ["-5", "-0.5", "+3", "-1,250.75", "-1e-7", "-12%", "1;2"])
def test_a_number_in_a_text_stays_a_number(text: str) -> None:
    assert cells(csv_file([text], [[text]])) == [[text], [text]]


_SIGNS = st.text(st.sampled_from("=+-@＝＋－＠;\t\r\n',\"| a1."), min_size=1, max_size=12)


@given(header=_SIGNS, texts=st.lists(_SIGNS | st.text(min_size=1, max_size=20), min_size=1, max_size=5))
@settings(max_examples=sized(100, 300), derandomize=True, deadline=None)
def test_no_cell_begins_a_formula_and_a_file_that_is_read_again_has_the_same_texts(
    header: str, texts: list[str]
) -> None:
    texts = [text for text in texts if text.strip() and not any("\ud800" <= sign <= "\udfff" for sign in text)]
    content = csv_file(["text", f"{header}x"], [[text, "x"] for text in texts])
    for row in cells(content):
        for cell in row:
            first = re.split(r"[;\t\r\n]", cell)
            assert not any(part.startswith(tuple("=+-@＝＋－＠")) and not NUMBER.fullmatch(cell) for part in first)
    if texts:
        result = read("a.csv", content)
        assert [row.cells["text"] for row in result.rows] == texts
        assert result.columns[1] in (f"{header}x".strip(), f"{header}x".strip() + " (2)")


def test_numbers_and_other_texts_stay_as_they_are() -> None:
    rows = cells(csv_file(["text", "quality"], [["a = b; “c”, d\ne", -0.5]]))
    assert rows == [["text", "quality"], ["a = b; “c”, d\ne", "-0.5"]]


def test_jsonl_is_exact_and_can_be_read_again() -> None:
    content = jsonl_file(["text", "quality"], [["=1+1\n", 1.0], ["ä", 0.0]])
    assert json.loads(content.splitlines()[0]) == {"text": "=1+1\n", "quality": 1.0}
    assert [row.cells["text"] for row in read("a.jsonl", content).rows] == ["=1+1\n", "ä"]

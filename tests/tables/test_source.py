"""Any usual file becomes rows, one after the other; and what is written as Parquet is what came in, and its scores."""

import csv
import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import traitbench as tb
from tests.foreign_files.records import packed
from tests.size import sized
from tests.tables.in_process import opened_here
from traitbench.batch.outcomes import RowOutcome, Shape, write_parquet
from traitbench.display.scored_rows import ScoredColumns
from traitbench.formulas import as_written
from traitbench.tables.columns import read_columns
from traitbench.tables.rows import NotATable, Problem, Row
from traitbench.tables.source import Source, opened

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
# An apostrophe before a formula is one that our own downloads put there, and it is removed.
CELL = TEXT.filter(lambda text: as_written(text) == text)
JSON = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), TEXT, st.lists(st.integers()))


def rows_of(name: str, content: bytes) -> list[Row | Problem]:
    source = opened_here(name, io.BytesIO(content))
    results = list(source.lines())
    assert len(results) == source.count
    assert list(source.lines()) == results, "as often as one likes"
    return results


@settings(max_examples=sized(20, 60), deadline=None)
@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=8))
def test_a_csv_has_the_cells_that_were_written(records: Sequence[tuple[str, str]]) -> None:
    place = io.StringIO(newline="")
    writer = csv.writer(place, quoting=csv.QUOTE_ALL)
    writer.writerows([("id", "text"), ("1", "the first"), *records])
    kept = [cells for cells in records if any(cell.strip() for cell in cells)]
    result = rows_of("a.csv", place.getvalue().encode())
    assert [tuple(row.cells.values()) for row in result if isinstance(row, Row)][1:] == kept


@settings(max_examples=sized(20, 60), deadline=None)
@given(st.lists(st.dictionaries(TEXT, JSON, max_size=3) | st.just("no json"), max_size=8))
def test_jsonl_has_the_records_that_were_written_in_their_places(lines: Sequence[dict[str, object] | str]) -> None:
    records = [{"text": "the first"}, *lines]
    content = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in records).encode()
    result = rows_of("a.jsonl", content)
    assert [row.record if isinstance(row, Row) else "no json" for row in result] == records
    assert [row.number if isinstance(row, Row) else row.row for row in result] == list(range(1, len(records) + 1))


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("Danke, das war gut.\n\nNein, leider nicht.\n", ["Danke, das war gut.", "Nein, leider nicht."]),
        ("Thank you\nGo away\n", ["Thank you", "Go away"]),
        ("text\nThank you\n", ["Thank you"]),
        ("ok,gut\nja,nein\nnein,danke\nok,ja\n", ["ok,gut", "ja,nein", "nein,danke", "ok,ja"]),
        ("one text", ["one text"]),
        ("ja,nein", ["ja,nein"]),
        ("ありがとう、助かりました。\nもういいです。\n", ["ありがとう、助かりました。", "もういいです。"]),
    ],
)
def test_a_list_of_texts_has_one_in_each_line_and_no_header(content: str, texts: list[str]) -> None:
    source = opened_here("texts.TXT", io.BytesIO(content.encode()))
    assert [row.cells["text"] for row in source.whole.rows] == texts
    assert ("blank" in source.survey.summary) == ("\n\n" in content)


def test_a_list_of_texts_can_be_a_table_and_can_have_a_header() -> None:
    table = b"label\ttext\nham\tSee you\nspam\tWin!\nham\tBye\n"
    assert opened_here("a.txt", io.BytesIO(table)).columns == ("label", "text")
    assert opened_here("a.txt", io.BytesIO(table.partition(b"\n")[2])).count == 3
    assert opened_here("a.txt", io.BytesIO(b"id;comment;mood\n1;Fine;up\n2;Bad;down\n")).columns[1] == "comment"
    assert opened_here("a.txt", io.BytesIO(b"Answers\nFine\n"), header=True).columns == ("Answers",)
    assert opened_here("a.txt", io.BytesIO(b"text\nFine\n"), header=False).count == 2


def test_parquet_is_read_by_what_it_is_and_told_as_json_has_it() -> None:
    moment = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    table = pa.table(
        {
            "text": ["Grüße", None],
            "raw": [b"abc", b"\xff"],
            "at": [moment, None],
            "price": pa.array([Decimal("1.50"), None], pa.decimal128(6, 2)),
            "ratio": [0.5, float("nan")],
            "deep": [{"a": [1, 2]}, None],
        }
    )
    first, second = rows_of("download", packed(table))
    assert isinstance(first, Row)
    assert isinstance(second, Row)
    assert first.record == {
        "text": "Grüße",
        "raw": "abc",
        "at": "2026-01-02T03:04:00+00:00",
        "price": "1.50",
        "ratio": 0.5,
        "deep": {"a": [1, 2]},
    }
    assert (first.cells["deep"], second.cells["text"], second.record["ratio"]) == ('{"a": [1, 2]}', "", None)  # type: ignore[index]
    assert (first.number, second.number) == (1, 2)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.parquet", b"no such thing", "is not a valid Parquet file"),
        ("a.parquet", b"PAR1 and then nothing", "is not a valid Parquet file"),
        ("a.parquet", packed(pa.table({"text": pa.array([], pa.string())})), "has no rows"),
        ("a.csv", b" \n \n", "is empty"),
        ("a.csv", b"text\n", "has a header but no rows"),
        ("a.csv", b"\xff\xfe\x00", "claims to be UTF-16 but is not"),
        ("a.csv", b"text\n\x81\x8d\n", "neither UTF-8 nor Windows-1252"),
        ("a.jsonl", b"1\n2\n", "No line is a JSON object"),
        ("a.json", b'[{"text": 1}', "starts like a JSON array"),
    ],
)
def test_what_is_no_table_is_told_with_the_way_out(name: str, content: bytes, sentence: str) -> None:
    with pytest.raises(NotATable, match=sentence):
        opened_here(name, io.BytesIO(content))


def written(source: Source) -> pa.Table:
    """Its rows beside a reason each, as if none of them could be scored."""
    shape = Shape(source.columns, ("warmth",))
    outcomes = [
        RowOutcome(each.number if isinstance(each, Row) else each.row, None, None, "a", "because", number)
        for number, each in enumerate(source.lines(), start=1)
    ]
    place = io.BytesIO()
    write_parquet(place, source, shape, outcomes)
    return parquet.read_table(io.BytesIO(place.getvalue()))


def test_parquet_out_keeps_the_types_of_parquet_in() -> None:
    table = pa.table({"row": pa.array([7, 8], pa.int8()), "text": ["a", None], "at": [datetime(2026, 1, 2), None]})
    out = written(opened("a.parquet", io.BytesIO(packed(table))))
    assert out.column_names == ["row_input", "text", "at", *ScoredColumns(["warmth"]).names]
    assert out.select([0, 1, 2]).rename_columns(table.column_names).to_pylist() == table.to_pylist()
    assert out.schema.field("row_input").type == pa.int8()
    assert out.column("row").to_pylist() == [1, 2]


def test_parquet_out_of_jsonl_has_numbers_where_all_are_numbers() -> None:
    content = b'{"n": 1, "x": 0.5, "b": true, "m": 1}\nno json\n{"n": null, "x": 1, "b": false, "m": "two"}\n'
    out = written(opened("a.jsonl", io.BytesIO(content)))
    assert [str(out.schema.field(name).type) for name in ("n", "x", "b", "m")] == ["int64", "double", "bool", "string"]
    assert out.select(["n", "x", "m", "error"]).to_pylist() == [
        {"n": 1, "x": 0.5, "m": "1", "error": "because"},
        {"n": None, "x": None, "m": None, "error": "because"},
        {"n": None, "x": 1.0, "m": "two", "error": "because"},
    ]


@settings(max_examples=sized(15, 40), deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(["a", "line", "é"]), JSON, max_size=3), min_size=1, max_size=6))
def test_whatever_json_holds_can_be_written_as_parquet(records: Sequence[dict[str, object]]) -> None:
    content = "\n".join(json.dumps(record | {"text": "\ud83d"}) for record in records)
    out = written(opened_here("a.jsonl", io.BytesIO(content.encode())))
    assert out.num_rows == len(records)
    assert len(set(out.column_names)) == len(out.column_names)


# ---- values inside objects -------------------------------------------------------------------------------------------


def test_values_inside_objects_are_columns_with_their_path() -> None:
    rows: list[dict[str, object]] = [
        {"id": "1", "data": {"text": "Thank you.", "at": {"city": "Ulm"}}, "tags": ["a"], "more": {}},
        {"id": "2", "data": None, "a.b": "own"},
        {"id": "3", "data": {"text": "Go away.", "votes": 3}, "a": {"b": "inside"}},
    ]
    source = opened_here("a.jsonl", io.BytesIO("\n".join(map(json.dumps, rows)).encode()))
    assert source.columns == ("id", "data.text", "data.at.city", "tags", "more", "a.b", "data.votes")
    assert [row.cells.get("data.text", "") for row in source.head.rows] == ["Thank you.", "", "Go away."]
    assert [row.record for row in source.head.rows] == rows
    assert [row.value("data.votes") for row in source.head.rows] == [None, None, 3]
    assert written(source).column("data.text").to_pylist() == ["Thank you.", None, "Go away."]


def test_an_object_whose_keys_are_values_is_one_column() -> None:
    rows = [{"text": "Hello", "votes": {f"u{at}.{of}": 1 for of in range(5)}} for at in range(40)]
    source = opened_here("a.jsonl", io.BytesIO("\n".join(map(json.dumps, rows)).encode()))
    assert source.columns == ("text", "votes")
    assert json.loads(source.head.rows[39].cells["votes"]) == rows[39]["votes"]


@pytest.mark.parametrize("indent", [None, 2])
def test_the_rows_may_be_inside_an_object(indent: int | None) -> None:
    log = {"channel": {"name": "help"}, "messages": [{"id": "1", "content": "Hi all"}, {"id": "2", "content": "Bye"}]}
    source = opened_here("log.json", io.BytesIO(json.dumps(log, indent=indent).encode()))
    assert [row.cells["content"] for row in source.head.rows] == ["Hi all", "Bye"]
    assert "messages" in source.notes[0]
    two = json.dumps(log | {"users": [{"id": 1}]}, indent=indent).encode()
    with pytest.raises(NotATable, match='"messages", "users"'):
        opened_here("log.json", io.BytesIO(two))


def test_labels_of_several_people_are_a_row_each_as_in_the_tools_own_csv() -> None:
    def label(person: object, *chosen: str) -> dict[str, object]:
        result = {"from_name": "mood", "type": "choices", "value": {"choices": list(chosen)}}
        return {"completed_by": person, "result": [result] if chosen else []}

    tasks = [
        {
            "id": 1,
            "data": {"text": "Thanks"},
            "annotations": [label(1, "warm"), label({"email": "b@x.org"}, "warm", "new")],
        },
        {"id": 2, "data": {"text": "No"}, "annotations": [], "predictions": []},
    ]
    source = opened_here("tasks.json", io.BytesIO(json.dumps(tasks).encode()))
    assert [(row.number, *row.cells.values()) for row in source.head.rows] == [
        (1, "1", "Thanks", "1", "warm"),
        (2, "1", "Thanks", "b@x.org", '["warm", "new"]'),
        (3, "2", "No"),
    ]
    assert source.columns == ("id", "data.text", "annotator", "mood")
    assert source.notes == ("3 rows of 2 texts: one row for each person who labelled a text.",)
    record = {"id": 1, "fields": {"text": "Thanks"}, "responses": {"mood": [{"value": "warm", "user_id": "u"}]}}
    source = opened_here("records.json", io.BytesIO(json.dumps([record]).encode()))
    assert dict(source.head.rows[0].cells) == {"id": "1", "fields.text": "Thanks", "annotator": "u", "mood": "warm"}


def test_columns_of_texts_are_used_one_after_the_other_with_the_rest_of_their_rows() -> None:
    content = b"n,What was good?,What was bad?\n1,It was quick.,\n2,A bad,The handle broke off at once.\n3,x\n"
    source = opened_here("a.csv", io.BytesIO(content)).stacked(["What was good?", "What was bad?"])
    assert [(row.number, *row.cells.values()) for row in source.whole.rows] == [
        (1, "1", "What was good?", "It was quick."),
        (2, "2", "What was good?", "A bad"),
        (3, "3", "What was good?", "x"),
        (4, "2", "What was bad?", "The handle broke off at once."),
    ]
    assert (source.columns, source.count) == (("n", "question", "text"), 4)


def test_columns_of_sentences_are_texts_and_those_of_labels_and_codes_are_not() -> None:
    rows = [
        ("1", "the first answer, which is long", "Surely", "この店はとても親切でした", "a@b.org"),
        ("2", "no", "Surely", "もう二度と行きません。残念です", "c@d.org"),
        ("3", "another answer of four words", "Surely", "普通でした。可もなく", "e@f.org"),
    ]
    content = "\n".join("\t".join(cells) for cells in [("id", "why", "again", "理由", "mail"), *rows])
    reading = read_columns(opened_here("a.csv", io.BytesIO(content.encode())).whole)
    assert (reading.column, reading.also) == ("why", ("理由",))


# ---- frames ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b'{"id": 1912345678901234501, "text": "a"}\n{"id": null, "text": "b"}\n{"id": 7, "text": "c"}\n'),
        ("b.jsonl", b'{"id": 1912345678901234501, "text": "a"}\n{"text": "b"}\n{"id": 7.0, "text": "c"}\n'),
        ("c.csv", b"id,text\n1912345678901234501,a\n,b\n7,c\n"),
        ("d.jsonl", b'{"id": 19123456789012345010, "text": "a"}\n{"id": null, "text": "b"}\n'),
    ],
)
def test_a_frame_keeps_every_digit(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    frame = tb.read_table(tmp_path / name)
    first, second, *_ = frame["id"].tolist()
    assert str(first) in ("1912345678901234501", "19123456789012345010")
    assert pd.isna(second) or second == ""


def test_words_for_nothing_are_words_in_a_frame(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("region,segment,code,text\nNA,null,000007,a\nEMEA,None,NaN,b\n", "utf-8")
    frame = tb.read_table(tmp_path / "a.csv")
    assert frame[["region", "segment", "code"]].to_numpy().tolist() == [
        ["NA", "null", "000007"],
        ["EMEA", "None", "NaN"],
    ]


def test_an_object_of_records_or_of_columns_is_a_table() -> None:
    keyed = {"a7": {"text": "Thanks", "label": 1}, "b8": {"text": "Go away", "label": 0}}
    source = opened_here("a.json", io.BytesIO(json.dumps(keyed, indent=1).encode()))
    assert [tuple(row.cells.values()) for row in source.head.rows] == [("a7", "Thanks", "1"), ("b8", "Go away", "0")]
    columns = {"text": ["Thanks", "Go away"], "label": [1, 0]}
    source = opened_here("a.json", io.BytesIO(json.dumps(columns).encode()))
    assert [tuple(row.cells.values()) for row in source.head.rows] == [("Thanks", "1"), ("Go away", "0")]
    one = {"data": {"text": "Thanks"}, "meta": {"n": 1}}
    assert opened_here("a.json", io.BytesIO(json.dumps(one).encode())).columns == ("data.text", "meta.n")


def test_a_first_line_that_looks_like_data_is_said() -> None:
    rows = "".join(f"{at % 2},The answer number {at} was long.\n" for at in range(10))
    source = opened_here("a.csv", io.BytesIO(rows.encode()))
    assert source.notes[-1].startswith("Line 1 is read as the header, although “0” occurs below it too.")
    assert not opened_here("a.csv", io.BytesIO(f"label,text\n{rows}".encode())).notes
    assert opened_here("a.csv", io.BytesIO(rows.encode()), header=False).count == 10

"""A file of texts scored row by row: what came in stands beside what came out, and bad rows stop nobody."""

import csv
import io
import json
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import traitbench as tb
from tests.cli.asking import Ask
from tests.conftest import COLD, WARM, Trained
from tests.size import SOAK, sized
from traitbench.display.scored_rows import Also, ScoredColumns


def rows(out: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(out, newline="")))


def test_a_csv_comes_out_with_its_columns_and_the_scores(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    file = tmp_path / "letters.csv"
    file.write_text(f'id,message\n1,"{WARM[0]}"\n2,"{COLD[0]}"\n')
    code, out, err = ask("score", trained.handle, "--batch", str(file))
    said = ["2 rows from 3 lines (1 with column names)", "columns: id (identifier), message (text)."]
    assert (code, err.splitlines()) == (0, [*(f"{file}: {each}" for each in said), "texts from message"])
    warm, cold = rows(out)
    ours = ["row", "warmth_score", "warmth_side", "warmth_confidence", "warmth_reason", "version", "error"]
    assert list(warm) == ["id", "message", *ours]
    assert (warm["id"], warm["message"], warm["row"], warm["version"]) == ("1", WARM[0], "1", "v1")
    card = trained.client.scores.score(trained.handle, WARM[0])
    assert (warm["warmth_score"], warm["warmth_confidence"]) == (str(card.scores["warmth"]), card.confidence)
    assert (warm["warmth_side"], cold["warmth_side"]) == ("warm", "cold")
    assert int(warm["warmth_score"]) > int(cold["warmth_score"])


def test_tier_and_composite_come_out_if_they_are_asked_for(ask: Ask, trained: Trained) -> None:
    code, out, _ = ask("score", trained.handle, "--batch", "-", "--with", "composite,tier", stdin=f"text\n{WARM[0]}\n")
    card = trained.client.scores.score(trained.handle, WARM[0])
    [row] = rows(out)
    assert (code, list(row)[6:]) == (0, ["warmth_tier", "composite", "version", "error"])
    assert (row["warmth_tier"], row["composite"]) == (card.detail["warmth"].label or "", str(card.composite))
    code, _, err = ask("score", trained.handle, "--batch", "-", "--with", "headroom", stdin="text\na\n")
    assert (code, "--with headroom is unknown. Use tier or composite." in err) == (2, True)


def test_a_csv_says_why_a_confidence_is_not_high(ask: Ask, trained: Trained) -> None:
    texts = [WARM[0], "qwpo xzzk vbnm lkjh asdf 48151", "It is about four."]
    code, out, _ = ask("score", trained.handle, "--batch", "-", stdin="text,id\n" + ",1\n".join([*texts, " "]) + ",1\n")
    cards = [trained.client.scores.score(trained.handle, text) for text in texts]
    assert code == 1, "the last row has no text"
    why = [row["warmth_reason"] for row in rows(out)]
    assert why == [*(card.detail["warmth"].confidence_reason or "" for card in cards), ""]
    assert why[1] == "unlike_samples"
    code, out, _ = ask("score", trained.handle, "--batch", "-", "--format", "jsonl", stdin=f"text\n{texts[1]}\n")
    assert json.loads(out)["warmth_reason"] == why[1]


def test_jsonl_comes_out_with_its_fields_as_they_were_and_ours_beside(ask: Ask, trained: Trained) -> None:
    records: list[dict[str, object]] = [
        {"id": 7, "deep": {"a": [1, None]}, "text": WARM[0]},
        {"id": "8", "text": "Grüße \U0001f600", "error": 404},
    ]
    stdin = "\n".join(json.dumps(record) for record in records)
    code, out, _ = ask("score", trained.handle, "--batch", "-", "--traits", "warmth", stdin=stdin)
    lines = [json.loads(line) for line in out.splitlines()]
    records[1]["error_input"] = records[1].pop("error")
    ours = ["row", "warmth_score", "warmth_side", "warmth_confidence", "warmth_reason", "version", "error"]
    assert [list(line)[-7:] for line in lines] == [ours, ours]
    assert [{name: line[name] for name in line if name not in ours} for line in lines] == records
    assert (code, [(line["row"], line["error"]) for line in lines]) == (0, [(1, None), (2, None)])


def test_rows_that_cannot_be_scored_are_told_by_their_line_and_the_others_go_on(
    ask: Ask, trained: Trained, tmp_path: Path
) -> None:
    file, result = tmp_path / "some.jsonl", tmp_path / "scored.csv"
    file.write_text('{"text": "   "}\nno json\n{"text": "Hello"}\n{"text": "half \\ud83d"}\n[1]\n{"text": "Bye"}\n')
    code, out, err = ask("score", trained.handle, "--batch", str(file), "--format", "csv", "-o", str(result))
    assert (code, out) == (1, "")
    assert [line.partition(":")[0] for line in err.splitlines()[2:]] == [
        "line 1",
        "line 2",
        "line 4",
        "line 5",
        "Error",
    ]
    assert err.endswith("4 of 6 rows could not be scored.\n")
    scored = rows(result.read_text())
    assert [bool(row["error"]) for row in scored] == [True, True, False, True, True, False]
    assert [bool(row["warmth_score"]) for row in scored] == [False, False, True, False, False, True]
    assert [row["row"] for row in scored] == [*"123456"]


def test_when_no_row_can_be_scored_there_is_a_table_of_reasons(ask: Ask, trained: Trained) -> None:
    code, out, _ = ask("score", trained.handle, "--batch", "-", stdin="id,text\n1,\n2,\n")
    assert code == 1
    assert [(row["id"], row["warmth_score"], bool(row["error"])) for row in rows(out)] == [
        ("1", "", True),
        ("2", "", True),
    ]


def test_what_was_scored_before_keeps_its_columns(ask: Ask, trained: Trained) -> None:
    _, once, _ = ask("score", trained.handle, "--batch", "-", stdin="text,tier,row_input\nHello there,Gold,4\n")
    code, twice, err = ask("score", trained.handle, "--batch", "-", stdin=once)
    assert code == 0, err
    [row] = rows(twice)
    assert row["warmth_score"] == row["warmth_score_input"]
    assert (row["tier"], row["row_input"], row["row_input_input"], row["row"]) == ("Gold", "4", "1", "1")


def test_the_column_of_the_texts_can_be_named(ask: Ask, trained: Trained) -> None:
    stdin = f'text,answer\n"{COLD[7]}","{WARM[7]}"\n'
    _, out, _ = ask("score", trained.handle, "--batch", "-", "--column", "answer", stdin=stdin)
    assert int(rows(out)[0]["warmth_score"]) == trained.client.scores.score(trained.handle, WARM[7]).scores["warmth"]
    code, _, err = ask("score", trained.handle, "--batch", "-", "--column", "body", stdin=stdin)
    assert (code, "no column body; it has text, answer" in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["score", "trained.nobody", "--batch", "-"], "trained.nobody"),
        (["score", "{}", "--batch", "-", "--traits", "colour"], "traits.0"),
    ],
)
def test_what_would_befall_every_row_is_told_once(
    ask: Ask, trained: Trained, arguments: list[str], sentence: str
) -> None:
    stdin = "text\n" + "Hello\n" * 100
    code, out, err = ask(*(argument.format(trained.handle) for argument in arguments), stdin=stdin)
    assert (code, out) == (1, "")
    assert err.count(sentence) <= 2
    assert "line " not in err


@pytest.mark.parametrize("stdin", ["", "text\n", "text\n\n\n"])
def test_a_file_without_rows_is_told(ask: Ask, trained: Trained, stdin: str) -> None:
    code, out, err = ask("score", trained.handle, "--batch", "-", stdin=stdin)
    assert (code, out) == (1, "")
    assert "stdin.csv: The file" in err


def test_a_place_that_cannot_be_written_to_is_told(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    place = tmp_path / "none" / "out.csv"
    code, _, err = ask("score", trained.handle, "--batch", "-", "-o", str(place), stdin="text\nHello\n")
    assert (code, f"{place} cannot be written: No such file" in err) == (1, True)


# ---- forms -----------------------------------------------------------------------------------------------------------


def test_parquet_goes_in_and_comes_out_with_its_types(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    file, out = tmp_path / "letters.parquet", tmp_path / "scored.parquet"
    parquet.write_table(pa.table({"id": pa.array([7, 8, 9], pa.int16()), "text": [WARM[0], None, COLD[0]]}), file)
    code, printed, err = ask("score", trained.handle, "--batch", str(file), "-o", str(out))
    assert (code, printed, err.splitlines()[-1]) == (1, "", "Error: 1 of 3 rows could not be scored.")
    table = parquet.read_table(out)
    assert table.column_names[:4] == ["id", "text", "row", "warmth_score"]
    assert table.schema.field("id").type == pa.int16()
    warm = trained.client.scores.score(trained.handle, WARM[0]).scores["warmth"]
    assert table.column("warmth_score").to_pylist()[:2] == [warm, None]
    assert [reason is None for reason in table.column("error").to_pylist()] == [True, False, True]
    kinds = {name: str(table.schema.field(name).type) for name in table.column_names[2:]}
    assert {name for name, kind in kinds.items() if kind == "int64"} == {"row", "warmth_score"}
    assert {*kinds.values()} == {"int64", "string"}


def test_the_name_of_the_output_says_its_form(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    lines, table = tmp_path / "out.jsonl", tmp_path / "out.csv"
    ask("score", trained.handle, "--batch", "-", "-o", str(lines), stdin="text\nHello\n")
    assert json.loads(lines.read_text("utf-8"))["text"] == "Hello"
    ask("score", trained.handle, "--batch", "-", "-o", str(table), stdin='{"text": "Hello"}')
    assert rows(table.read_text("utf-8"))[0]["text"] == "Hello"


def test_a_mode_is_asked_for_and_an_unknown_one_is_a_wrong_command(ask: Ask, trained: Trained) -> None:
    code, _, err = ask("score", trained.handle, "--batch", "-", "--mode", "layer4", stdin="text\nHello\n")
    assert (code, "cannot score in the mode layer4" in err) == (sized(1, 0), not SOAK)
    assert ask("score", trained.handle, "--batch", "-", "--mode", "fast", stdin="text\nHello\n")[0] == 2


@pytest.mark.parametrize("option", [["--mode", "static"], ["--resume"], ["--format", "parquet"]])
def test_options_of_a_batch_go_with_a_batch(ask: Ask, trained: Trained, option: list[str]) -> None:
    code, _, err = ask("score", trained.handle, "Hello", *option)
    assert (code, "need --batch" in err) == (2, True)


def test_parquet_comes_out_of_a_pipe_too(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    out, again = tmp_path / "scored.pq", tmp_path / "again.csv"
    stdin = f'id,text\n1,"{WARM[0]}"\n'
    assert ask("score", trained.handle, "--batch", "-", "-o", str(out), stdin=stdin)[0] == 0
    assert parquet.read_table(out).column("id").to_pylist() == ["1"]
    assert ask("score", trained.handle, "--batch", "-", "-o", str(again), stdin=out.read_bytes())[0] == 0
    [row] = rows(again.read_text("utf-8"))
    assert row["warmth_score"] == row["warmth_score_input"]


@pytest.mark.parametrize(
    ("stdin", "options", "number"),
    [
        ("Thank you!\nGo away.\n", [], 2),
        ("Спасибо\nУходи\n", [], 2),
        ("ありがとう", [], 1),
        ('"Thanks, dear"\n"Go, now"\n', [], 2),
        ("7,Thank you\n8,Go away\n", [], 2),
        ("text\nThank you!\n", [], 1),
        ("Reviews\nThank you!\n", [], 1),
        ("review_text\nThank you!\n", [], 1),
        ("Antwort\nDanke!\n", ["--column", "Antwort"], 1),
        ("id,What did you like?\n1,Thank you!\n", [], 1),
    ],
)
def test_a_pipe_without_a_header_loses_no_text(
    ask: Ask, trained: Trained, stdin: str, options: list[str], number: int
) -> None:
    code, out, err = ask("score", trained.handle, "--batch", "-", "--format", "jsonl", *options, stdin=stdin)
    assert (code, len(out.splitlines())) == (0, number), err
    assert ("the first line is read as data" in err) == (number == len(stdin.splitlines()))


# ---- addresses -------------------------------------------------------------------------------------------------------


def test_an_address_in_a_file_is_scored_as_it_stands_unless_it_is_to_be_fetched(ask: Ask, trained: Trained) -> None:
    stdin = "text\nhttp://127.0.0.1:9/letter\nThank you\n"
    code, out, err = ask("score", trained.handle, "--batch", "-", stdin=stdin)
    assert (code, [row["error"] for row in rows(out)]) == (0, ["", ""]), err
    code, out, err = ask("score", trained.handle, "--batch", "-", "--fetch", stdin=stdin)
    assert (code, [bool(row["error"]) for row in rows(out)]) == (1, [True, False]), err


# ---- other surfaces --------------------------------------------------------------------------------------------------


def test_files_frames_and_engines_give_the_same_rows(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    texts = [*WARM[:2], " ", "https://example.org/a", *COLD[:2], "qwpo xzzk vbnm", "=1+1", "👍🏽"]
    table, model = tmp_path / "in.csv", tmp_path / "model.tb"
    with table.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["id", "text"], *enumerate(texts)])
    model.write_text(trained.client.models.export(trained.handle).model_dump_json(), "utf-8")
    made: dict[str, Any] = {}
    for form in ("csv", "jsonl", "parquet"):
        out = tmp_path / f"out.{form}"
        ask("score", trained.handle, "--batch", str(table), "-o", str(out), "--with", "tier,composite")
        with pytest.warns(UserWarning, match="apostrophe") if form == "csv" else nullcontext():
            made[form] = tb.read_table(out).astype("object").to_dict("records")
    also: Sequence[Also] = ("tier", "composite")
    lines, traits = trained.client.scores.batch(trained.handle, texts), trained.client.traits.list(trained.handle)
    made["client"] = tb.frames.frame(lines, traits=traits, also=also).astype("object").to_dict("records")
    frame = pd.DataFrame({"text": texts})
    made["frame"] = tb.score(frame, "text", scorer=model, also=also).astype("object").to_dict("records")
    made["engine"] = [{"row": at, **row} for at, row in enumerate(tb.UDF(model)(texts), start=1)]
    names = ScoredColumns(["warmth"], also).names
    for name, result in made.items():
        assert [each for each in result[0] if each not in ("id", "text")] == names, name
        assert [[_plain(each[column]) for column in names[:-1]] for each in result] == [
            [_plain(each[column]) for column in names[:-1]] for each in made["jsonl"]
        ], name
        assert [_plain(each["error"]) is not None for each in result] == [text == " " for text in texts], name
        assert all(str(each["error"])[0].isupper() for each in result if _plain(each["error"])), name


def _plain(cell: Any) -> object:
    """A cell without the ways to say nothing; the cells of a CSV file are texts."""
    return None if cell == "" or pd.isna(cell) else str(cell)

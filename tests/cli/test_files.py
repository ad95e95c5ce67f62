"""Files of others on the command line: every row in and out, what was read is said, and nothing ends the process."""

import csv
import io
import json
from pathlib import Path

import pandas as pd
import pytest

import traitbench as tb
from tests.cli.asking import Ask
from tests.conftest import Trained
from tests.foreign_files.cases import drawn
from tests.foreign_files.hostile import HOSTILE
from tests.foreign_files.sheets import Sheet, workbook
from traitbench.cli import options
from traitbench.client import Traitbench
from traitbench.tables.columns import READINGS

SAYINGS = ('"Wonderful" they said, not I', 'She said "never again"', '"I will be back', "@shop thank you!", "=^.^=")


def scored(ask: Ask, handle: str, file: Path) -> tuple[list[str], str]:
    code, out, err = ask("score", handle, "--batch", str(file), "--format", "jsonl")
    assert "Traceback" not in err, code
    rows = pd.read_json(io.StringIO(out), lines=True)
    return rows["text"].tolist(), err


def test_every_row_of_an_unquoted_file_is_scored_and_imported(
    ask: Ask, trained: Trained, client: Traitbench, namespace: str, tmp_path: Path
) -> None:
    texts, file = [f"{text} {number}" for number in range(8) for text in SAYINGS], tmp_path / "tweets.tsv"
    file.write_text("text\tlabel\n" + "".join(f"{text}\t{number % 2}\n" for number, text in enumerate(texts)))
    result, err = scored(ask, trained.handle, file)
    assert result == texts
    assert "40 rows from 41 lines (1 with column names)" in err
    assert "Quotation marks are read as part of the texts (first in line 2)" in err
    handle = f"{namespace}.tweets"
    client.models.create(handle)
    client.traits.add(handle, [tb.TraitInput(name="Warmth")])
    assert ask("samples", "import", handle, str(file))[0] == 0
    added = [(sample.text, sample.quality) for sample in client.samples.list(handle)]
    assert added == [(text, number % 2) for number, text in enumerate(texts)]


def test_a_file_that_would_end_the_process_is_refused(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    for name in ("a cell far away", "a sheet in another folder", "a count of strings that lies"):
        file = tmp_path / "hostile.xlsx"
        file.write_bytes(drawn(HOSTILE.small[name], name, 0).bytes())
        code, out, err = ask("score", trained.handle, "--batch", str(file))
        assert (code, out, "Traceback" in err) == (1, "", False), name
        assert "Error: " in err


def test_a_file_without_texts_is_refused_unless_a_column_is_named(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    file = tmp_path / "figures.csv"
    file.write_text("id,stars\n1,5\n2,3\n")
    code, out, err = ask("score", trained.handle, "--batch", str(file))
    assert (code, out) == (1, "")
    assert "No column looks like texts: id, stars." in err
    assert ask("score", trained.handle, "--batch", str(file), "--column", "stars")[0] == 0


def test_no_output_replaces_a_file_unasked_and_none_the_input(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    file, link, out = tmp_path / "in.csv", tmp_path / "link.csv", tmp_path / "out.csv"
    file.write_text("text\nHello.\n")
    link.symlink_to(file)
    out.write_text("of a person")
    for output in (file, link):
        code, _, err = ask("score", trained.handle, "--batch", str(file), "-o", str(output), "--overwrite")
        assert (code, "is the input" in err, file.read_text()) == (1, True, "text\nHello.\n")
    for command in (
        ("score", trained.handle, "--batch", str(file)),
        ("export", trained.handle),
        ("audit", "draw", str(file)),
    ):
        code, _, err = ask(*command, "-o", str(out))
        assert (code, "add --overwrite" in err, out.read_text()) == (1, True, "of a person")
    assert ask("gate", trained.handle, trained.handle, "-o", str(out))[0] == 2
    assert ask("score", trained.handle, "--batch", str(file), "-o", str(out), "--overwrite")[0] == 0
    assert out.read_text().startswith("text,row,")


def test_a_device_is_no_input_and_a_full_one_says_so(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    file, link = tmp_path / "in.csv", tmp_path / "endless.csv"
    file.write_text("text\nHello.\n")
    link.symlink_to("/dev/zero")
    for name in ("/dev/zero", str(link)):
        code, out, err = ask("score", trained.handle, "--batch", name)
        assert (code, out, "neither a file nor a pipe" in err) == (2, "", True)
    code, _, err = ask("score", trained.handle, "--batch", str(file), "-o", "/dev/full")
    assert (code, "/dev/full cannot be written: No space left on device." in err, "Traceback" in err) == (
        1,
        True,
        False,
    )


def test_a_sheet_can_be_named(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    file = tmp_path / "two.xlsx"
    file.write_bytes(workbook(Sheet([("text",), ("Hello.",)], "S1"), Sheet([("text",), ("Good bye.",)], "S2")))
    assert scored(ask, trained.handle, file)[0] == ["Hello."]
    code, out, _ = ask("score", trained.handle, "--batch", str(file), "--sheet", "S2", "--format", "jsonl")
    assert (code, "Good bye." in out) == (0, True)
    code, _, err = ask("score", trained.handle, "--batch", str(file), "--sheet", "S3")
    assert (code, 'no sheet "S3". It has S1, S2' in err) == (1, True)


def test_what_was_written_for_spreadsheets_is_scored_as_it_was(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    source, once, twice = tmp_path / "in.csv", tmp_path / "once.csv", tmp_path / "twice.csv"
    with source.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([("id", "text"), *enumerate(SAYINGS)])
    assert ask("score", trained.handle, "--batch", str(source), "-o", str(once))[0] == 0
    assert ask("score", trained.handle, "--batch", str(once), "-o", str(twice))[0] == 0
    assert not once.read_bytes().startswith(b"\xef\xbb\xbf")
    with pytest.warns(UserWarning, match="apostrophe"):
        first, again = (tb.read_table(file) for file in (once, twice))
    assert list(first["text"]) == list(again["text"]) == [*SAYINGS]
    assert list(first["warmth_score"]) == list(again["warmth_score_input"]) == list(again["warmth_score"])


# ---- what texts are like ---------------------------------------------------------------------------------------------


def warmths(ask: Ask, handle: str, file: Path, *options: str) -> tuple[list[int], str]:
    """The scores of a file's rows, and what is said."""
    code, out, err = ask("score", handle, "--batch", str(file), "--format", "csv", *options)
    assert code == 0, err
    return [int(row["warmth_score"]) for row in csv.DictReader(io.StringIO(out))], err


def test_the_text_of_a_conversation_is_what_one_side_said(ask: Ask, trained: Trained, tmp_path: Path) -> None:
    file, plain = tmp_path / "chats.jsonl", tmp_path / "plain.txt"
    turns = [{"role": "user", "content": "Thank you so much!"}, {"role": "assistant", "content": "Go away."}]
    file.write_text(json.dumps({"id": "c0", "messages": turns}) + "\n")
    plain.write_text("Thank you so much!\nGo away.\n")
    said, _ = warmths(ask, trained.handle, plain)
    user, err = warmths(ask, trained.handle, file)
    assert "texts from messages: what the user said (--turn)" in err
    assert [*user, *warmths(ask, trained.handle, file, "--turn", "assistant")[0]] == said


def test_texts_with_markup_or_decoded_twice_are_read_on_a_persons_word(
    ask: Ask, trained: Trained, tmp_path: Path
) -> None:
    file, plain = tmp_path / "odd.csv", tmp_path / "plain.csv"
    file.write_text('text\n"<p>Thank&nbsp;you, it&#39;s fine</p>"\nI donâ€™t thank you\nn/a\n')
    plain.write_text("text\nThank you, it's fine\nI don’t thank you\nn/a\n")
    right, err = warmths(ask, trained.handle, plain)
    assert "1 of 3 texts says nothing" in err
    assert "--clean" not in err
    _, err = warmths(ask, trained.handle, file)
    assert "1 of 3 texts has HTML." in err
    assert "such as “donâ€™t” for “don’t”" in err
    assert "add --clean html --clean encoding" in err
    assert warmths(ask, trained.handle, file, "--clean", "html", "--clean", "encoding")[0] == right
    assert tb.read_table(file, clean=("html", "encoding"))["text"].tolist() == tb.read_table(plain)["text"].tolist()


def test_the_column_of_the_texts_is_named_with_the_other_one_and_a_reading_can_be_given(
    ask: Ask, trained: Trained, tmp_path: Path
) -> None:
    file = tmp_path / "form.csv"
    first = ("It came a day early.", "A real person answered me.", "Setting it up was quick and easy.")
    second = ("Nobody picks up the phone.", "My form was lost twice.", "The handle broke off at once.")
    rows = [("id", "What is good?", "What should we change?"), *zip("123", first, second, strict=True)]
    file.write_text("\n".join(map(",".join, rows)))
    _, err = warmths(ask, trained.handle, file)
    assert "columns: id (identifier), What is good? (text), What should we change? (text)." in err
    assert "“What should we change?” has texts too. To use another column, name it with --column." in err
    assert "texts from What is good?" in err
    _, err = warmths(ask, trained.handle, file, "--read", "What is good?=not_used", "--column", "What is good?")
    assert "texts from What is good?" in err
    code, _, err = ask("score", trained.handle, "--batch", str(file), "--read", "What is good?=not_used")
    assert "texts from What should we change?" in err
    for wrong in ("id=poem", "name=text", "id"):
        code, _, err = ask("score", trained.handle, "--batch", str(file), "--read", wrong)
        assert code == 2, err
    assert tb.read_table(file).attrs["readings"]["id"] == "identifier"


def test_the_option_names_all_readings() -> None:
    assert options._READINGS == READINGS


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_the_output_has_the_cells_as_they_were_although_texts_are_cleaned(
    ask: Ask, trained: Trained, tmp_path: Path, kind: str
) -> None:
    file, out = tmp_path / "odd.csv", tmp_path / f"scored.{kind}"
    file.write_text('text\n"<p>Thank&nbsp;you</p>"\n')
    assert ask("score", trained.handle, "--batch", str(file), "--clean", "html", "-o", str(out))[0] == 0
    with pytest.warns(UserWarning, match="1 of 1 text has HTML"):
        assert tb.read_table(out)["text"].tolist() == ["<p>Thank&nbsp;you</p>"]

"""`traitbench agreement`: a table for people, JSON for programs, and exit code 2 for what cannot be compared."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.cli.asking import command

ask = partial(command, "agreement")

ROWS = (
    ("one", "Warmth", "positive", "1", "yes"),
    ("two", "Warmth", "negative", "0", "no"),
    ("three", "Warmth", "positive", "0", "no"),
    ("four", "Warmth", "positive", "1", ""),
    ("one", "Tone", "negative", "0", "no"),
    ("two", "Tone", "negative", "", "no"),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    path.write_text("\n".join(map(";".join, (("text", "trait", "gpt", "anna", "ben"), *ROWS))), "utf-8")
    return path


def test_every_two_raters_are_compared_by_trait(file: Path) -> None:
    code, out, err = ask(str(file), "--text", "text", "--labels", "gpt", "anna", "ben", "--trait", "trait")
    assert (code, err.partition(": ")[2].partition("\n")[0]) == (0, "6 rows from 7 lines (1 with column names)")
    lines = out.splitlines()
    assert lines[0].split("  ")[0] == "TRAIT"
    assert [" ".join(line.split()[:3]) for line in lines[1:7]] == [
        f"{trait} {pair}" for trait in ("Warmth", "Tone") for pair in ("gpt, anna", "gpt, ben", "anna, ben")
    ]
    assert "75 %       4      0.50" in lines[1]
    assert "only one label" in lines[4]
    assert lines[7].startswith("All 3 raters on Warmth: Krippendorff's alpha 0.")
    assert lines[8] == "All 3 raters on Tone: Krippendorff's alpha undefined, because all labels are the same."


def test_programs_get_every_figure(file: Path) -> None:
    code, out, _ = ask(str(file), "--text", "text", "--labels", "gpt", "--labels", "anna", "--trait", "trait", "--json")
    answer = json.loads(out)
    first, second = answer["pairs"]
    assert code == 0
    assert (first["trait"], first["raters"], first["texts"], first["agreed"]) == ("Warmth", ["gpt", "anna"], 4, 3)
    assert first["kappa"] == pytest.approx(0.5)
    low, high = first["kappa_interval"]
    assert low < 0.5 < high
    assert first["in_words"] == "too few texts to tell"
    assert (second["kappa"], second["kappa_interval"], second["in_words"]) == (None, None, None)
    assert "same label" in second["why_not"]
    assert answer["krippendorff"] == []


def test_without_a_column_of_traits_all_rows_are_of_one(file: Path) -> None:
    code, out, err = ask(str(file), "--text", "text", "--labels", "gpt", "anna", "--json")
    (pair,) = json.loads(out)["pairs"]
    assert (code, pair["trait"], pair["texts"]) == (0, None, 3), "gpt labels text one in two ways"
    assert "gpt labels 1 text in two ways; these labels are left out." in err


def test_stdin_is_read_and_words_get_their_meaning() -> None:
    lines = [{"t": "a", "x": "fine", "y": 1}, {"t": "b", "x": "awful", "y": 0}]
    given = ("-", "--text", "t", "--labels", "x", "y")
    stdin = "\n".join(map(json.dumps, lines))
    code, _, err = ask(*given, stdin=stdin)
    assert code == 2
    assert "The meaning of these labels in x is unknown: 'fine', 'awful'." in err
    code, out, _ = ask(*given, "--word", "fine=1", "--word", "awful=0", "--json", stdin=stdin)
    assert (code, json.loads(out)["pairs"][0]["kappa"]) == (0, 1.0)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--text", "body", "--labels", "gpt", "anna"), "The file has no column body; it has text, trait, gpt"),
        (("--text", "text", "--labels", "gpt", "eve"), "The file has no column eve"),
        (("--text", "text", "--labels", "gpt", "anna", "--trait", "kind"), "The file has no column kind"),
        (("--text", "text", "--labels", "gpt"), "Name at least two columns of labels"),
        (("--text", "text", "--labels", "gpt", "gpt"), "Name at least two columns of labels"),
        (("--text", "text", "--labels", "gpt", "trait"), "The meaning of these labels in trait is unknown: 'Warmth'"),
        (("--text", "text", "--labels", "gpt", "anna", "--word", "x=2"), "--word x=2 is not WORD=QUALITY"),
        (("--text", "text"), "at least two columns of labels"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_the_reason(file: Path, arguments: tuple[str, ...], says: str) -> None:
    code, out, err = ask(str(file), *arguments)
    assert (code, out) == (2, "")
    assert says in err


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "The file is empty"),
        ("text;a;b\n;1;0\n", "line 2: text is empty"),
        ("text;a;b\nx;;\n", "The columns have no labels."),
    ],
)
def test_a_file_without_labels_is_refused_too(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(content, "utf-8")
    code, out, err = ask(str(path), "--text", "text", "--labels", "a", "b")
    assert (code, out) == (2, "")
    assert says in err


def test_a_file_with_a_row_for_each_text_and_person_needs_no_columns_named(tmp_path: Path) -> None:
    texts = [f"The answer number {at} was long and kind." for at in range(6)]
    given = {"1": "PPNNPN", "2": "PPNNPN", "3": "PNNNPP"}
    rows = [
        (text, person, "Positive" if labels[at] == "P" else "Negative")
        for at, text in enumerate(texts)
        for person, labels in given.items()
    ]
    rows[0] = (*rows[0][:2], '"{""choices"":[""Positive"",""Negative""]}"')
    file = tmp_path / "long.csv"
    file.write_text("\n".join(map(",".join, [("text", "annotator", "sentiment"), *rows])))
    code, out, err = ask(str(file), "--json")
    assert (code, "labels of annotator 1, annotator 2, annotator 3" in err) == (0, True), err
    assert "1 row with several labels left out." in err
    pairs = {tuple(each["raters"]): (each["texts"], each["agreed"]) for each in json.loads(out)["pairs"]}
    assert pairs["annotator 1", "annotator 2"] == (5, 5)
    assert pairs["annotator 2", "annotator 3"] == (6, 4)

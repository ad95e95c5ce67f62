"""A file is read in any usual form, every row is judged, and nothing is guessed that a person would not expect."""

import io
from collections.abc import Mapping, Sequence

import pytest

from tests.tables.in_process import opened_here, read
from traitbench.contract.samples import LONGEST_TEXT, Sample
from traitbench.contract.traits import Trait
from traitbench.tables.rows import Row, Table
from traitbench.tables.sample_files import (
    Checked,
    FileLayout,
    LabelColumn,
    check,
    compared,
    guess_columns,
    guess_group_column,
    guess_note_column,
    guess_text_column,
    guess_words,
    known_traits,
    known_words,
    words,
)


def trait(key: str, name: str, negative: str = "negative", positive: str = "positive") -> Trait:
    return Trait.model_construct(key=key, name=name, positive_label=positive, negative_label=negative)


WARMTH = trait("warmth", "Warmth", "cold", "warm")
PLAIN = trait("plain_words", "Plain words", "jargon", "plain")
TRAITS = [WARMTH, PLAIN]


def layout(
    column: str | None = "quality",
    words: Mapping[str, float | None] | None = None,
    *,
    trait: str | None = "trait",
    default: str | None = None,
) -> FileLayout:
    return FileLayout("text", (LabelColumn(column, default, words or {}),), trait)


# ---- reading ---------------------------------------------------------------------------------------------------------


def test_unicode_is_read_without_a_remark() -> None:
    source = opened_here("a.csv", io.BytesIO("text,quality\nGrüße,1\n".encode("utf-16")))
    assert (source.columns, source.head.rows[0].cells, source.notes) == (
        ("text", "quality"),
        {"text": "Grüße", "quality": "1"},
        (),
    )


def test_labels_that_differ_in_case_or_blanks_are_one_word() -> None:
    table = read("a.csv", "text,label\na,Happy\nb,happy \nc,HAPPY\nd,happy\ne,sad\nf,\u00a0Sad\n".encode())
    assert words(table, "label") == {"happy": 2 + 2, "sad": 2}
    checked = check(table, layout("label", {"happy": 1.0, "sad": None}, trait=None, default="tone"), TRAITS)
    assert [sample.quality for sample in checked.samples] == [1.0] * 4
    assert (checked.left_out, checked.problems) == (2, ())


@pytest.mark.parametrize(
    ("content", "column"),
    [
        (b"id,score\n1,5\n2,4\n", None),
        (b"id,day\n1,2026-01-02T03:04:05Z\n", None),
        (b"id,text\n1,\n2,\n", "text"),
        ("id,answer\n1,\U0001f600\n2,\n".encode(), "answer"),
        (b"text,remark\n1,late again\n2,fine\n", "remark"),
    ],
)
def test_numbers_and_dates_are_not_taken_for_texts(content: bytes, column: str | None) -> None:
    assert guess_text_column(read("a.csv", content)) == column


def test_numbers_of_dates_are_questioned() -> None:
    source = opened_here("a.csv", io.BytesIO(b"text,date\na,45123\nb,45124\nc,45125\n"))
    assert "serial numbers" in source.notes[0]


def test_rows_are_counted_as_lines_of_the_file() -> None:
    table = read("a.csv", b'text,quality\n"two\nlines",1\n\nnext,0\n')
    assert [row.number for row in table.rows] == [2, 5]
    assert table.rows[0].cells["text"] == "two\nlines"


def test_a_row_with_too_many_cells_is_a_problem_of_that_row() -> None:
    table = read("a.csv", b"text,quality\nfine,1\nOne, two,1\n")
    assert [(problem.row, "3 cells" in problem.reason) for problem in table.problems] == [(3, True)]
    assert len(table.rows) == 1


def test_columns_of_the_same_name_stay_apart() -> None:
    assert read("a.csv", b"text,text,\na,b,c\n").columns == ("text", "text (2)", "Column 3")


def test_jsonl_rows_keep_their_lines_and_bad_ones_are_problems() -> None:
    content = b'{"text": "a", "quality": 1}\n\nnonsense\n[1]\n{"text": "b", "label": true, "extra": null}\n'
    table = read("a.jsonl", content)
    assert [row.number for row in table.rows] == [1, 5]
    assert table.columns == ("text", "quality", "label", "extra")
    assert table.rows[1].cells == {"text": "b", "label": "true", "extra": ""}
    assert [problem.row for problem in table.problems] == [3, 4]


def test_rows_belong_to_the_group_of_their_cell() -> None:
    table = read("a.csv", "text,quality,thread\na,1,Gespräch 7\nb,0, Gespräch 7 \nc,1,\n".encode())
    layout = FileLayout("text", (LabelColumn("quality", "warmth", {}),), group="thread")
    assert [each.group for each in check(table, layout, TRAITS).samples] == ["Gespräch 7", "Gespräch 7", None]
    long = read("a.csv", f"text,quality,thread\na,1,{'x' * 501}\n".encode())
    assert check(long, layout, TRAITS).problems[0].reason == "has 501 characters; a group has at most 500"


def test_only_in_a_file_of_samples_from_here_a_group_is_what_samples_belong_to() -> None:
    assert guess_group_column(read("a.csv", b"text,trait,quality,provenance,group\na,warmth,1,authored,g\n")) == "group"
    assert guess_group_column(read("a.csv", b"text,label,group\na,1,control\n")) is None


def test_notes_come_back_from_a_file_of_samples_from_here() -> None:
    table = read("a.csv", b"text,trait,quality,provenance,note\na,warmth,1,authored,Polite.\nb,warmth,0,authored,\n")
    layout = FileLayout("text", (LabelColumn("quality", "warmth", {}),), note=guess_note_column(table))
    assert [each.note for each in check(table, layout, TRAITS).samples] == ["Polite.", None]
    assert guess_note_column(read("a.csv", b"label,note\n1,What a day.\n")) is None


# ---- guesses ---------------------------------------------------------------------------------------------------------


def test_columns_are_guessed_by_name_and_the_text_by_length() -> None:
    table = read("a.csv", b"id,what,Label,trait\n1,A long enough text.,warm,Warmth\n")
    assert guess_columns(table, TRAITS) == ("what", "trait", "Label")


def test_a_trait_column_without_any_trait_of_the_model_is_not_taken() -> None:
    assert guess_columns(read("a.csv", b"text,trait\na,unheard\n"), TRAITS)[1] is None


def test_a_column_of_pole_words_is_guessed_whatever_its_name() -> None:
    table = read("a.csv", b"message,kind,about\nHello dear friend of mine,warm,Warmth\nNo.,curt,warmth\n")
    assert guess_columns(table, TRAITS) == ("message", "about", "kind")


def test_words_are_what_is_no_quality() -> None:
    table = read("a.csv", b"text,label\na,1\nb,0.5\nc,warm\nd,warm\ne,\n")
    assert words(table, "label") == {"warm": 2}


def test_numbers_of_another_scale_are_words() -> None:
    """Else the 1 of one to five stars would be the positive pole."""
    table = read("a.csv", b"text,stars\na,1\nb,5\n")
    assert words(table, "stars") == {"1": 1, "5": 1}


def test_words_are_guessed_from_the_labels_and_from_common_use() -> None:
    guessed = guess_words(["Warm", "cold", "yes", "NEG", "mixed", "purple"], TRAITS)
    assert guessed == {"Warm": 1.0, "cold": 0.0, "yes": 1.0, "NEG": 0.0, "mixed": 0.5, "purple": None}


def test_german_words_and_emoji_are_known() -> None:
    frown = "\N{WHITE FROWNING FACE}\N{VARIATION SELECTOR-16}"
    guessed = guess_words(["Gut", "schlecht", "ja", "Nein", "neutral", "\N{THUMBS UP SIGN}", frown], ())
    assert list(guessed.values()) == [1.0, 0.0, 1.0, 0.0, 0.5, 1.0, 0.0]


def test_a_word_that_is_one_pole_here_and_the_other_there_is_not_guessed() -> None:
    assert guess_words(["plain"], [PLAIN, trait("a", "A", negative="plain")]) == {"plain": None}


# ---- checking --------------------------------------------------------------------------------------------------------


def test_rows_become_samples_in_the_order_of_the_file() -> None:
    table = read("a.csv", b'text,trait,quality\na,Warmth,1\nb,plain_words,0\nc,PLAIN WORDS,"0,25"\n')
    checked = check(table, layout(), TRAITS)
    assert [(each.text, each.trait, each.quality) for each in checked.samples] == [
        ("a", "warmth", 1.0),
        ("b", "plain_words", 0.0),
        ("c", "plain_words", 0.25),
    ]
    assert checked.lines == (2, 3, 4)
    assert checked.problems == ()


def test_defaults_stand_in_for_absent_columns_and_empty_cells() -> None:
    table = read("a.csv", b"text,quality\na,\nb,0\n")
    checked = check(table, layout(words={"": 1.0}, trait=None, default="warmth"), TRAITS)
    assert [(each.trait, each.quality) for each in checked.samples] == [("warmth", 1.0), ("warmth", 0.0)]


def test_words_are_mapped_as_chosen() -> None:
    table = read("a.csv", b"text,stars\na,1\nb,5\n")
    chosen = layout("stars", {"1": 0.0, "5": 1.0}, trait=None, default="warmth")
    assert [each.quality for each in check(table, chosen, TRAITS).samples] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("row", "column"),
    [
        (["   ", "warmth", "1"], "text"),
        (["x" * (LONGEST_TEXT + 1), "warmth", "1"], "text"),
        (["nul \\u0000 in it", "warmth", "1"], "text"),
        (["half \\ud800 a pair", "warmth", "1"], "text"),
        (["fine", "unheard", "1"], "trait"),
        (["fine", "", "1"], "trait"),
        (["fine", "warmth", "maybe"], "quality"),
        (["fine", "warmth", ""], "quality"),
    ],
)
def test_a_bad_cell_is_a_problem_of_its_row_and_column(row: list[str], column: str) -> None:
    line = '{{"text": "{}", "trait": "{}", "quality": "{}"}}'.format(*row)
    good = '{"text": "ok", "trait": "warmth", "quality": 1}'
    checked = check(read("a.jsonl", f"{good}\n{line}".encode()), layout(), TRAITS)
    assert [(problem.row, problem.column) for problem in checked.problems] == [(2, column)]
    assert len(checked.samples) == 1


def checked_labels(cells: Sequence[str], words: Mapping[str, float | None] | None = None) -> Checked:
    rows = (Row(line, {"text": f"Text {line}.", "label": cell}) for line, cell in enumerate(cells, start=2))
    table = Table(("text", "label"), tuple(rows), ())
    known = {**known_words(table, "label", TRAITS), **(words or {})}
    return check(table, FileLayout("text", (LabelColumn("label", "warmth", known),)), TRAITS)


@pytest.mark.parametrize("cells", [["0", "1", "0,1"], ["1", "2", "3", "1,3"], ["0", "1", "0;1"]])
def test_several_answers_are_never_a_number(cells: list[str]) -> None:
    checked = checked_labels(cells * 4)
    assert (len(checked.samples), len(checked.problems)) == (0, 4 * len(cells))
    chosen = checked_labels(cells * 4, {"0": 0.0, "1": 1.0, "2": 1.0, "3": 1.0})
    assert {each.quality for each in chosen.samples} <= {0.0, 1.0}
    assert all("several answers: " in each.reason for each in chosen.problems)


@pytest.mark.parametrize(
    ("cells", "qualities"),
    [
        (["1.0", "0.0", "nan"], [1.0, 0.0]),
        (["warm", "cold", "NA"], [1.0, 0.0]),
        (["1", "0", "99"], [1.0, 0.0]),
        (["yes", "no", "refused"], [1.0, 0.0]),
        (['["warm"]', '["cold"]', "[]"], [1.0, 0.0]),
        (["accept", "reject", "ignore"], [1.0, 0.0]),
    ],
)
def test_words_codes_and_lists_are_read_as_in_any_file(cells: list[str], qualities: list[float]) -> None:
    checked = checked_labels(cells * 8)
    assert [each.quality for each in checked.samples] == qualities * 8
    assert (checked.problems, checked.left_out) == ((), 8)


def test_a_stray_number_is_a_problem_of_its_row_only() -> None:
    rows = "".join("a,warmth,1\n" for _ in range(30))
    checked = check(read("a.csv", f"text,trait,quality\n{rows}a,warmth,1.5\n".encode()), layout(), TRAITS)
    assert [(problem.row, problem.column) for problem in checked.problems] == [(32, "quality")]


def test_a_trait_is_found_in_any_spelling_and_an_unknown_one_is_answered_with_the_known_ones() -> None:
    cafe = TRAITS[0].model_copy(update={"key": "café", "name": "Café au lait"})
    names = ("Cafe\u0301 au lait", "CAFE\u0301", "café", "CAFÉ AU LAIT")
    rows = "".join(f"a,{name},1\n" for name in names)
    checked = check(read("a.csv", f"text,trait,quality\n{rows}".encode()), layout(), [cafe, *TRAITS[1:]])
    assert [sample.trait for sample in checked.samples] == ["café"] * 4
    assert known_traits(checked.problems, TRAITS) == ""
    wrong = check(read("a.csv", b"text,trait,quality\na,cafe,1\n"), layout(), TRAITS)
    assert known_traits(wrong.problems, TRAITS) == f"Traits of this model: {', '.join(t.name for t in TRAITS)}."


def test_a_problem_never_repeats_a_text() -> None:
    table = read("a.csv", b"text,trait,quality\nsecret words,also secret,very secret\n")
    assert not [problem for problem in check(table, layout(), TRAITS).problems if "secret" in problem.reason]


def test_a_text_in_another_form_is_there_already() -> None:
    content = "text,quality\nGro\u0308ße,1\nGrö\u00adße,0\nneu,1\nn\u200beu,1\n".encode()
    checked = check(read("a.csv", content), layout(trait=None, default="warmth"), TRAITS)
    there = Sample.model_construct(id=1, trait="warmth", text="Größe", quality=1.0)
    against = compared(checked, [there])
    assert (against.same, against.new, dict(against.other)) == ((0, 3), (2,), {1: (there,)})

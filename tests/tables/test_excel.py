"""Excel files: the first sheet is a table like any other, and no file takes the memory of the machine."""

import io
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from tests.foreign_files.sheets import Sheet, workbook
from tests.tables.in_process import opened_here, read
from traitbench.tables.rows import NotATable


def test_the_first_sheet_is_read_with_the_numbers_of_its_rows() -> None:
    rows = [("text", "label"), ("Thank you.", 1), (), ("Go away.", 0.25, True)]
    source = opened_here("a.xlsx", io.BytesIO(workbook(Sheet(rows), Sheet([("other",)], "Other"))))
    assert source.columns[:2] == ("text", "label")
    assert [(row.number, row.cells["text"], row.cells["label"]) for row in source.head.rows] == [
        (2, "Thank you.", "1"),
        (4, "Go away.", "0.25"),
    ]
    assert "2 sheets" in source.notes[0]


TABLE = Sheet([("Nr", "Antwort", "Urteil"), *((at, f"Alles war gut {at}.", "ja") for at in range(5))], "Daten")
README = Sheet([("Umfrage 2026",), ("Die Antworten stehen im zweiten Blatt.",), ("Fragen an die Redaktion",)], "Start")
PAIRS = Sheet([("Survey", "Winter"), ("Contact", "Anna"), ("Exported", "2026-11-03"), ("Rows", 5)], "Sheet1")
LONG = Sheet([("Antwort",), *((f"Das war gut {at}.",) for at in range(50))], "Texte")
CODES = Sheet([("Code", "Name", "Since"), ("1", "yes", 2020), ("2", "no", 2021)], "Codes")


@pytest.mark.parametrize(
    ("sheets", "name"),
    [
        ((README, TABLE), "Daten"),
        ((PAIRS, TABLE), "Daten"),
        ((Sheet(TABLE.rows, "Read me first"), TABLE), "Daten"),
        ((TABLE, README), "Daten"),
        ((README, PAIRS), "Start"),
        ((LONG, CODES), "Texte"),
        ((Sheet([("comment",), ("Well done.",)], "One"), TABLE), "One"),
    ],
)
def test_the_first_sheet_with_a_table_is_read_and_not_the_words_before_it(sheets: tuple[Sheet, ...], name: str) -> None:
    source = opened_here("a.xlsx", io.BytesIO(workbook(*sheets)))
    assert source.survey.sheet == name
    assert ("not" in source.notes[0]) == (name != sheets[0].name)


def test_cells_that_a_spreadsheet_probably_cut_are_named_by_their_row() -> None:
    texts = ["a" * 32_767, "b" * 32_767, "short", "c" * 32_766]
    source = opened_here("a.xlsx", io.BytesIO(workbook(Sheet([("id", "transcript"), *enumerate(texts)]))))
    [note] = source.condition("transcript").notes()
    assert note.startswith("2 texts have exactly 32,767 characters")
    assert note.endswith("probably cut (rows 2, 3).")


def test_a_sheet_without_a_header_has_numbered_columns() -> None:
    table = read("a.xlsx", workbook(Sheet([("Thank you.", "warm")])), header=False)
    assert [dict(row.cells) for row in table.rows] == [{"Column 1": "Thank you.", "Column 2": "warm"}]


def test_a_file_that_is_too_large_when_unpacked_is_not_called_damaged() -> None:
    place = io.BytesIO(workbook(Sheet([("text",), ("Hello.",)])))
    with ZipFile(place, "a", ZIP_DEFLATED) as archive, archive.open("xl/media/picture.bin", "w") as part:
        for _ in range(513):
            part.write(bytes(2**20))
    with pytest.raises(NotATable, match="too large"):
        read("a.xlsx", place.getvalue())


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"PK\x03\x04 and then nothing", "not a valid Excel file"),
        (workbook(Sheet([("text",)])), "header but no rows"),
        (workbook(Sheet()), "is empty"),
        (workbook(Sheet([("text",)], behind="<row><c r='XFD1048576'/></row>")), "XFD1048576 is far outside the table"),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_a_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(NotATable, match=sentence):
        read("a.xlsx", content)

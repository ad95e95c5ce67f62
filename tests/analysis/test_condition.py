"""What the texts of a file are like: markup, texts decoded twice, cut cells, and answers that say nothing."""

from dataclasses import replace

import pytest

from traitbench.analysis.condition import (
    LONGEST_CELL,
    condition_of,
    cut_by_spreadsheets,
    decoded_once,
    has_markup,
    read_markup,
    says_nothing,
    without_markup,
)

GOOD = (
    "I don’t think that’s fair…",
    "Ünïcödé “quote” – dash",
    "Привет, как дела? Ещё раз: Сёмга",
    "日本語のテキスト“はい”",
    "voilà, à la carte",
    "Zażółć gęślą jaźń",
    "Ελληνικά",
    "مرحبا بالعالم",
    "emoji 😀👍🏽",
)


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        *((text, codec) for text in GOOD for codec in ("latin-1", "cp1252")),
        *((GOOD[0], codec) for codec in ("cp1251", "mac_roman")),
        *((text, "cp1251") for text in GOOD[2:4]),
        (GOOD[1], "mac_roman"),
        (GOOD[5], "cp1250"),
    ],
)
def test_a_text_decoded_twice_is_repaired_and_a_good_one_stays(text: str, codec: str) -> None:
    assert decoded_once(text) == text
    try:
        twice = text.encode().decode(codec)
    except UnicodeDecodeError:
        return
    assert decoded_once(twice) == text
    if codec == "cp1252" and len(text) < 30:
        assert decoded_once(decoded_once(twice.encode().decode("latin-1"))) == text, "three times"


@pytest.mark.parametrize(
    "text",
    [
        "CAFÉ” and BRÜ™, BRÜ™",
        "MANHÃ”",
        "ESPAÑ”",
        "50 °C, 3 ª",
        "Â vs. Ã",
        "n° 5 «À»",
        "√2 ≤ 3",
        "l’électricité d’à côté, l’été",
    ],
)
def test_signs_after_letters_are_no_fault(text: str) -> None:
    assert decoded_once(text) == text


def test_the_closing_mark_that_programs_drop_is_there_again() -> None:
    assert decoded_once("â€œSorryâ€\ufffd isnâ€™t") == "“Sorry” isn’t"
    assert decoded_once("â€œSorryâ€ he said") == "“Sorry” he said"


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (
            '<div class="c"><p>I can&#39;t log in &amp; nobody&#39;s</p><br/><p>&nbsp;</p></div>',
            "I can't log in & nobody's",
        ),
        ("One<br>two<BR />three", "One\ntwo\nthree"),
        ("<b>bold</b>ly <a href='x'>said</a>", "boldly said"),
        ("<style>p {color: red}</style>Hi<!-- note --> all", "Hi all"),
        ("Caf&eacute; &#x1F600;", "Café 😀"),
        ("<p>Two\nlines<o:p></o:p></p><p>three</p>", "Two lines\nthree"),
    ],
)
def test_markup_is_read_as_a_person_reads_it(text: str, read: str) -> None:
    assert has_markup(text)
    assert without_markup(text) == read


@pytest.mark.parametrize(
    "text", ["I <3 you", "a < b and b > c", "AT&T; R&D", "Dear <name>,", "x<y>z", "&foo; &;", "1 &lt"]
)
def test_other_brackets_and_signs_are_no_markup(text: str) -> None:
    assert not has_markup(text)
    assert without_markup(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("n/a", "N/A.", "-", "--", ".", "???", "x", "XX", "nothing", "Nothing!", "no comment", "See above", "(none)"),
        *(
            "don't know",
            "Don’t know.",
            "idk",
            "k.A.",
            "k. A.",
            "Keine",
            "ninguno",
            "なし",
            "特になし。",
            "无",
            "없음",
            "لا شيء",
        ),
        *("Нет", "ras", "R.A.S.", "geen", " nichts ", "“nothing”", "नहीं", "n.v.t.", "ingen", "yok", "不知道"),
        *("n / a", "I have no further comments.", "Keine weiteren Anmerkungen", "aucune remarque particulière"),
        *(
            "Please see my previous answer",
            "siehe oben, Frage 3",
            "sin más comentarios",
            "geen opmerkingen",
            "as above",
        ),
        *("pas d'idées", "I don't have any", "nothing to report"),
    ],
)
def test_an_answer_can_say_nothing(text: str) -> None:
    assert says_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "Nothing works",
        "No comment was ever read by you",
        "ok",
        "good",
        "👍",
        "5",
        "yes",
        "x-ray",
        "Nice",
        "無料",
        "No!!! Never",
        *(
            "no idea why it broke",
            "no feedback ever came back",
            "See above all the dirt",
            "no complaints",
            "sin duda",
            ":)",
            ":-( :-(",
            "<3",
        ),
    ],
)
def test_a_short_answer_can_say_something(text: str) -> None:
    assert not says_nothing(text)


def test_what_texts_are_like_is_said_with_numbers_and_rows() -> None:
    texts = ["a" * LONGEST_CELL, "b" * (LONGEST_CELL - 1), "<p>Hi</p>", "", "n/a", "donâ€™t", "fine", "  "]
    condition = condition_of(texts)
    assert (condition.texts, condition.markup, condition.twice, condition.cut, condition.nothing) == (
        *(6, (2,), (5,)),
        *((0,), (4,)),
    )
    assert replace(condition, cut_rows=(2,)).notes() == [
        "1 of 6 texts has HTML.",
        "1 of 6 texts looks decoded twice, such as “donâ€™t” for “don’t”.",
        "1 text has exactly 32,767 characters, the most that a cell can hold: probably cut (row 2).",
        "1 of 6 texts says nothing, such as “n/a” or “no comment”.",
    ]
    assert condition_of(["fine", "good"]).notes() == []


def test_texts_that_a_spreadsheet_would_cut_are_said() -> None:
    assert cut_by_spreadsheets(["a" * LONGEST_CELL, "b"]) == ""
    assert cut_by_spreadsheets(["a" * 40_000, "b"]).startswith("1 text has more than 32,767 characters")


@pytest.mark.parametrize(
    ("text", "stretches"),
    [
        ("<p>You fool.</p><p>Fish &amp; chips &#128512; now.</p>", ("You fool.", "Fish &amp; chips &#128512; now.")),
        ("Plain.\nAnd plain again.", ("Plain.", "And plain again.")),
        ("<!-- no -->One <b>bold</b> word.<br/>Two\nlines.", ("One <b>bold</b> word.", "Two\nlines.")),
    ],
)
def test_a_stretch_of_what_is_read_leads_back_to_the_markup(text: str, stretches: tuple[str, str]) -> None:
    read = read_markup(text)
    assert read.text == without_markup(text)
    first, second = read.text.split("\n")
    at = len(first) + 1
    assert text[read.origin(0) : read.origin(len(first))].endswith(stretches[0])
    assert text[read.origin(at) : read.origin(at + len(second))].startswith(stretches[1])

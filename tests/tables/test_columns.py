"""What each column of a file means: answers, scales, verdicts, people and rows that belong together, of any tool."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables.in_process import read
from traitbench.tables.columns import READINGS, FileReading, read_columns
from traitbench.tables.rows import Row, Table


def texts(rows: int) -> list[str]:
    return [f"This is what person {row} wrote about the day." for row in range(rows)]


def reading_of(columns: Mapping[str, Sequence[str]], **given: Any) -> FileReading:
    rows = zip(*columns.values(), strict=True)
    own = tuple(Row(line, dict(zip(columns, cells, strict=True))) for line, cells in enumerate(rows, start=2))
    return read_columns(Table(tuple(columns), own, ()), **given)


def beside(cells: Sequence[str], name: str = "label", **given: Any) -> FileReading:
    """A column beside texts."""
    return reading_of({"text": texts(len(cells)), name: cells}, **given)


def readings(reading: FileReading) -> dict[str, str]:
    return {each.name: each.reading for each in reading.columns}


def qualities(reading: FileReading, trait: int = 0) -> dict[str, float | None]:
    """The quality of each different cell for a trait."""
    own = reading.traits[trait]
    return {cell: own.quality(cell) for cell in own.answers.cells}


# ---- several answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "answers"),
    [
        (["1", "2", "3", "1,2", "1,3", "2,3"], {"1", "2", "3"}),
        (["0", "1", "0,1"], {"0", "1"}),
        (["1", "2", "1, 2"], {"1", "2"}),
        (["1", "2", "1;2"], {"1", "2"}),
        (["1", "2", "3", "1,2,3"], {"1", "2", "3"}),
        (["price", "staff", "price;delivery", "staff;delivery", "delivery"], {"price", "staff", "delivery"}),
        (["a|b", "a", "b|c", "c"], {"a", "b", "c"}),
        (["Preis, Service", "Preis", "Service, Lieferung", "Lieferung"], {"Preis", "Service", "Lieferung"}),
        (["価格、配送", "価格", "配送"], {"価格", "配送"}),
        (["price\nstaff", "price", "staff"], {"price", "staff"}),
        (["red blue", "red", "blue", "blue red"], {"red", "blue"}),
        (["#a #b", "#a", "#b"], {"#a", "#b"}),
        (['["joy", "fear"]', '["joy"]', '["fear"]', "[]"], {"joy", "fear"}),
        (["['joy', 'fear']", "['joy']", "['fear']"], {"joy", "fear"}),
    ],
)
def test_several_answers_make_a_trait_each_and_never_a_number(cells: list[str], answers: set[str]) -> None:
    reading = beside(cells * 4)
    assert readings(reading)["label"] == "several_answers"
    assert {each.positive for each in reading.traits} == answers
    for trait in reading.traits:
        assert {trait.quality(cell) for cell in cells} - {None} == {0.0, 1.0}
        assert all(trait.quality(cell) == 1.0 for cell in cells if trait.positive in cell)


@pytest.mark.parametrize(
    "cells",
    [
        ["0,1", "0,5", "0,75", "1"],
        ["1,5", "2,0", "3,5", "4,0"],
        ["1", "1,5", "2", "2,5", "3", "3,5", "4", "4,5", "5"],
        ["0", "0,5", "1"],
    ],
)
def test_decimals_with_a_comma_are_numbers(cells: list[str]) -> None:
    assert readings(beside(cells * 4, "score"))["score"] in ("number", "scale")


@pytest.mark.parametrize(
    "cells", [["Yes, always", "No, never"], ["and/or", "either"], ["C++", "C"], ["very good", "good"]]
)
def test_a_comma_in_a_label_is_part_of_it(cells: list[str]) -> None:
    assert readings(beside(cells * 4))["label"] == "labels"


def test_an_answer_in_own_words_beside_several_makes_no_trait() -> None:
    cells = ["Friends, Web", "Friends", "Web"] * 6 + ["Friends, a poster at the tram stop", "Web, my aunt told me"]
    assert {each.positive for each in beside(cells, "How did you hear of us?").traits} == {"Friends", "Web"}


# ---- scales and codes for no answer ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "missing", "expected"),
    [
        (["1", "2", "3", "4", "5"], ["99", "-9"], [0, 0.25, 0.5, 0.75, 1]),
        (["1", "2", "3", "4", "5"], ["98", "99"], [0, 0.25, 0.5, 0.75, 1]),
        (["1", "2", "3", "4"], ["8", "9"], [0, 1 / 3, 2 / 3, 1]),
        (["0", "1", "2", "3", "4"], ["999", "refused"], [0, 0.25, 0.5, 0.75, 1]),
        (["1", "2", "3", "4", "5"], ["-1", "keine Angabe"], [0, 0.25, 0.5, 0.75, 1]),
        (["1 - Strongly disagree", "3 - Neutral", "5 - Strongly agree"], ["99 - Refused"], [0, 0.5, 1]),
        (["Never", "Sometimes", "Always"], ["Don't know"], [0, 0.5, 1]),
        (["No", "Maybe", "Definitely"], ["prefer not to say"], [0, 0.5, 1]),
        (["stimme nicht zu", "teils/teils", "stimme voll und ganz zu"], ["weiß nicht"], [0, 0.5, 1]),
        (["jamais", "parfois", "toujours"], ["ne sait pas"], [0, 0.5, 1]),
        (["nunca", "a veces", "siempre"], ["NS/NC"], [0, 0.5, 1]),
        (["никогда", "иногда", "всегда"], ["затрудняюсь ответить"], [0, 0.5, 1]),
        (["不同意", "中立", "同意"], ["不知道"], [0, 0.5, 1]),
        (["そう思わない", "どちらともいえない", "そう思う"], ["無回答"], [0, 0.5, 1]),
        (["لا أوافق", "محايد", "أوافق"], ["لا أعرف"], [0, 0.5, 1]),
        (["1/5", "2/5", "3/5", "4/5", "5/5"], ["n/a"], [0, 0.25, 0.5, 0.75, 1]),
        (["★☆☆", "★★☆", "★★★"], ["-"], [0, 0.5, 1]),
        (["Poor (1)", "Fair (2)", "Good (3)"], ["Refused (99)"], [0, 0.5, 1]),
        (["Poor - 1", "Fair - 2", "Good - 3"], ["Refused - 99"], [0, 0.5, 1]),
        (["1.0", "2.0", "3.0", "4.0", "5.0"], ["99.0", "-99.0"], [0, 0.25, 0.5, 0.75, 1]),
        (["-2", "-1", "0", "1", "2"], ["99", "999"], [0, 0.25, 0.5, 0.75, 1]),
    ],
)
def test_a_scale_has_its_order_and_codes_for_no_answer_are_left_out(
    cells: list[str], missing: list[str], expected: list[float]
) -> None:
    given = [*cells, *missing] * 3
    reading = beside([*given, *cells], "rating")
    assert readings(reading)["rating"] == "scale"
    (trait,) = reading.traits
    assert [trait.quality(cell) for cell in cells] == pytest.approx(expected)
    assert [trait.quality(cell) for cell in missing] == [None] * len(missing)
    out = reading.as_json()
    assert sum(len(each["rows"]) for each in out["left_out"]) == 3 * len(missing)
    assert all(word in str(out["left_out"]) for word in missing)
    assert out["traits"][0]["unlabelled"] == 3 * len(missing)


@pytest.mark.parametrize("cells", [["-1", "0", "1"], [*map(str, range(11))], ["7", "8", "9", "10", "6"]])
def test_the_ends_of_a_scale_are_no_codes(cells: list[str]) -> None:
    assert None not in qualities(beside(cells * 3, "rating")).values()


def test_words_that_fall_with_rising_numbers_turn_the_scale() -> None:
    (trait,) = beside(["1 - Strongly agree", "2 - Agree", "4 - Disagree", "5 - Strongly disagree"] * 3, "q1").traits
    assert (trait.negative, trait.positive) == ("Strongly disagree", "Strongly agree")
    assert (trait.quality("1 - Strongly agree"), trait.quality("5 - Strongly disagree")) == (1.0, 0.0)


def test_words_of_a_leading_number_name_the_sides() -> None:
    (trait,) = beside(["1 - Strongly disagree", "2 - Disagree", "4 - Agree", "5 - Strongly agree"] * 3, "q1").traits
    assert (trait.negative, trait.positive) == ("Strongly disagree", "Strongly agree")


# ---- words for nothing -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["nan", "NA", "None", "null", "n/a", "-", "#N/A", "NaN", "<NA>", "N.A.", "—", "NULL"])
@pytest.mark.parametrize(("negative", "positive"), [("unhappy", "happy"), ("0.0", "1.0"), ("no", "yes")])
def test_words_for_nothing_are_no_label(word: str, negative: str, positive: str) -> None:
    reading = beside([positive, negative, word] * 4)
    (trait,) = reading.traits
    assert (trait.quality(negative), trait.quality(positive), trait.quality(word)) == (0.0, 1.0, None)
    assert len(reading.unlabelled(reading.traits)) == 4


def test_a_word_for_nothing_can_be_an_answer() -> None:
    reading = beside(["NA", "EU"] * 4, as_answers=["NA"])
    assert {each.positive for each in reading.traits} | {each.negative for each in reading.traits} == {"NA", "EU"}


def test_none_in_small_letters_is_a_class() -> None:
    assert {each.positive for each in beside(["racism", "sexism", "none"] * 4).traits} == {"racism", "sexism", "none"}


def test_a_cell_for_nothing_is_no_text() -> None:
    reading = reading_of({"text": ["NA", *texts(4), "nan"], "mood": ["happy", "unhappy"] * 3})
    assert reading.as_json()["left_out"] == [
        {"rows": [1], "reason": "“text” says “NA”, which is no text"},
        {"rows": [6], "reason": "“text” says “nan”, which is no text"},
    ]


def test_a_region_called_na_is_a_region() -> None:
    reading = reading_of({"text": texts(9), "region": ["NA", "EU", "APAC"] * 3, "mood": ["a1", "b1", "a1"] * 3})
    assert readings(reading) == {"text": "text", "region": "group", "mood": "labels"}
    assert "NA" in next(each.said for each in reading.columns if each.name == "region")


# ---- lists, verdicts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_list", [json.dumps, str, lambda labels: json.dumps({"choices": labels})])
def test_labels_in_lists_lose_their_brackets(as_list: Any) -> None:
    labels = [["pos"], ["neg"]] * 14 + [[], ["pos", "neg"]]
    reading = beside([as_list(each) for each in labels])
    (trait,) = reading.traits
    assert (trait.negative, trait.positive) == ("neg", "pos")
    out = reading.as_json()
    assert [each["rows"] for each in out["left_out"]] == [[29], [30]]
    assert "contradict" in out["left_out"][1]["reason"]
    assert (out["traits"][0]["negative"], out["traits"][0]["positive"], out["traits"][0]["unlabelled"]) == (14, 14, 1)


@pytest.mark.parametrize(
    ("accept", "reject", "ignore"),
    [
        ("accept", "reject", "ignore"),
        ("approved", "rejected", "skip"),
        ("Accepted", "Declined", "Pending"),
        ("angenommen", "abgelehnt", "offen"),
        ("承認", "却下", "保留"),
    ],
)
def test_verdicts_are_about_the_question(accept: str, reject: str, ignore: str) -> None:
    if reject == "Declined":
        reject = "Denied"
    answers = [accept, reject] * 6 + [ignore]
    reading = reading_of({"text": texts(13), "label": ["COMPLAINT"] * 13, "answer": answers})
    assert readings(reading)["answer"] == "verdicts"
    (trait,) = reading.traits
    assert (trait.name, trait.negative, trait.positive) == ("Complaint", "not complaint", "complaint")
    assert (trait.quality(accept), trait.quality(reject), trait.quality(ignore)) == (1.0, 0.0, None)
    assert len(reading.samples(reading.traits).samples) == 12


def test_verdicts_on_several_questions_are_a_trait_each() -> None:
    asked, answers = ["COMPLAINT", "PRAISE"] * 6, ["accept", "accept", "reject", "reject"] * 3
    reading = reading_of({"text": texts(12), "label": asked, "answer": answers})
    assert [(each.name, each.positive) for each in reading.traits] == [("Complaint", "complaint"), ("Praise", "praise")]
    assert [each["positive"] + each["negative"] for each in reading.as_json()["traits"]] == [6, 6]


def test_yes_and_no_answer_the_question_in_another_column() -> None:
    columns = {"text": texts(8), "question": ["Is this a complaint?"] * 8, "answer": ["yes", "no"] * 4}
    (trait,) = reading_of(columns).traits
    assert (trait.negative, trait.positive, trait.quality("yes")) == ("not complaint", "complaint", 1.0)


@pytest.mark.parametrize(
    ("no", "yes"),
    [("нет", "да"), ("non", "oui"), ("否", "是"), ("いいえ", "はい"), ("لا", "نعم"), ("negativo", "positivo")],
)
def test_the_sides_of_two_words_are_known_in_many_languages(no: str, yes: str) -> None:
    assert qualities(beside([yes, no] * 4, "x")) == {yes: 1.0, no: 0.0}


def test_rows_of_a_choice_that_were_not_accepted_have_no_label() -> None:
    chosen = ['["POSITIVE"]', '["NEGATIVE"]'] * 6
    answers = ["accept"] * 9 + ["ignore", "reject", "ignore"]
    reading = reading_of({"text": texts(12), "accept": chosen, "answer": answers})
    (trait,) = reading.traits
    assert (trait.negative, trait.positive) == ("NEGATIVE", "POSITIVE")
    assert [each["rows"] for each in reading.as_json()["left_out"]] == [[10, 11, 12]]


def test_verdicts_without_a_question_are_named_like_their_column_or_as_they_are() -> None:
    (trait,) = beside(["approved", "rejected"] * 4, "is_spam").traits
    assert (trait.negative, trait.positive) == ("not spam", "spam")
    (trait,) = beside(["approved", "rejected", "skipped", "approved"] * 4, "status").traits
    assert (trait.name, trait.negative, trait.positive) == ("Approved or rejected", "rejected", "approved")
    assert (trait.quality("approved"), trait.quality("skipped")) == (1.0, None)


@pytest.mark.parametrize("cells", [("★★☆", "★☆☆", "★★★"), ("1/3", "3 of 3", "2/3")])
def test_a_number_that_says_of_how_much_is_a_scale_under_any_header(cells: Sequence[str]) -> None:
    reading = beside([*cells] * 4, "label")
    assert list(readings(reading).values()) == ["text", "scale"]


# ---- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("politeness", ["-3.96", "0.01", "2.71", "-1.2"], {"-3.96": 0.0, "2.71": 1.0}),
        ("score", ["0.2", "0.55", "0.9"], {"0.2": 0.2, "0.55": 0.55, "0.9": 0.9}),
        ("warmth", ["12", "55", "98", "71", "3"], {"12": 0.12, "98": 0.98}),
        ("valence", ["1.2", "3.1", "4.8"], {"1.2": 0.0, "4.8": 1.0}),
        ("score (0-10)", ["2", "3", "4", "5", "8"], {"2": 0.2, "8": 0.8}),
        ("y", ["0,25", "0,5", "0,75", "1,0"], {"0,25": 0.25, "1,0": 1.0}),
    ],
)
def test_numbers_beside_texts_are_graded_labels(name: str, cells: list[str], expected: Mapping[str, float]) -> None:
    reading = beside([*cells, *cells[::-1]], name)
    (trait,) = reading.traits
    assert {cell: trait.quality(cell) for cell in expected} == pytest.approx(expected)


def test_class_codes_and_regions_make_no_trait_unless_a_person_says_so() -> None:
    codes = reading_of({"text": texts(12), "class": ["0", "1", "2"] * 4})
    assert (readings(codes)["class"], codes.traits) == ("not_used", ())
    as_labels = reading_of({"text": texts(12), "class": ["0", "1", "2"] * 4}, given={"class": "labels"})
    assert [each.positive for each in as_labels.traits] == ["0", "1", "2"]
    as_scale = reading_of({"text": texts(12), "class": ["0", "1", "2"] * 4}, given={"class": "scale"})
    assert qualities(as_scale) == {"0": 0.0, "1": 0.5, "2": 1.0}
    region = reading_of({"text": texts(12), "region": ["N", "S"] * 6})
    assert (readings(region)["region"], region.traits) == ("group", ())


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("price", ["$3.50", "$4.20", "$10.00"]),
        ("phone", ["+49 170 1234567", "+49 170 7654321"]),
        ("age_group", ["18-24", "25-34", "35-44"]),
        ("Datum", ["03.11.2026", "04.11.2026"]),
    ],
)
def test_what_describes_a_row_is_no_label(name: str, cells: list[str]) -> None:
    assert beside(cells * 4, name).traits == ()


def test_a_number_behind_a_word_may_say_nothing() -> None:
    assert {each.positive for each in beside(["refund (12)", "cancel (3)", "upgrade (4)"] * 4, "intent").traits} == {
        *("refund (12)", "cancel (3)", "upgrade (4)")
    }


def test_measures_of_a_text_are_no_labels() -> None:
    reading = reading_of(
        {"text": texts(12), "age": [str(20 + 3 * row) for row in range(12)], "mood": ["up", "down"] * 6}
    )
    assert (readings(reading)["age"], len(reading.traits)) == ("number", 1)


@pytest.mark.parametrize(
    "cells",
    [
        [f"{row:06}" for row in range(1, 13)],
        [str(1_500_000_000_000_000_000 + 7 * row) for row in range(12)],
        [*map(str, range(12))],
        [f"r{row:03}" for row in range(12)],
    ],
)
def test_identifiers_are_no_numbers(cells: list[str]) -> None:
    assert readings(beside(cells, "nr"))["nr"] == "identifier"


# ---- people, rows that belong together, several columns of texts -----------------------------------------------------


def test_several_people_on_the_same_texts_lose_no_row() -> None:
    own, people = texts(6), ["ana", "ben", "cem"]
    labels = ["good" if row % 2 or (row == 0 and who == 2) else "bad" for row in range(6) for who in range(3)]
    columns = {"text": [each for each in own for _ in people], "who": people * 6, "mood": labels}
    reading = reading_of(columns)
    assert readings(reading) == {"text": "text", "who": "people", "mood": "labels"}
    said = next(each.said for each in reading.columns if each.reading == "people")
    assert "3 people labelled the same 6 texts. All agree on 5 and differ on 1." in said
    read = reading.samples(reading.traits)
    assert (len(read.lines), len(read.problems), len(read.samples)) == (18, 0, 6)
    assert read.samples[0].quality == pytest.approx(1 / 3)


def test_a_trait_of_each_row_is_no_person_but_makes_a_trait() -> None:
    own = [each for each in texts(6) for _ in "ab"]
    reading = reading_of({"text": own, "trait": ["warm", "clear"] * 6, "quality": ["1", "0.25", "0", "1"] * 3})
    assert "people" not in readings(reading).values()
    assert [each.name for each in reading.traits] == ["Warm", "Clear"]
    assert {(each.trait, each.quality) for each in reading.samples(reading.traits).samples} == {
        *(("0", 1.0), ("0", 0.0)),
        *(("1", 0.25), ("1", 1.0)),
    }


def test_columns_with_the_same_labels_may_be_people() -> None:
    reading = reading_of({"text": texts(8), "anna": ["warm", "cold"] * 4, "ben": ["cold", "warm", "warm", "cold"] * 2})
    assert reading.notes == ("“anna” and “ben” have the same labels. If they are people, use Compare labels.",)


@pytest.mark.parametrize("name", ["conversation", "author_id", "Gespräch", "x"])
def test_rows_of_a_conversation_belong_together(name: str) -> None:
    groups = [f"c{row % 12}" for row in range(72)]
    labels = [("formal", "casual")[row % 12 % 2] for row in range(72)]
    reading = reading_of({name: groups, "text": texts(72), "style": labels})
    assert (readings(reading)[name], reading.together) == ("rows_together", name)
    assert {each.group for each in reading.samples(reading.traits).samples} == {*groups}
    apart = reading_of({name: groups, "text": texts(72), "style": labels}, groups=False)
    assert {each.group for each in apart.samples(apart.traits).samples} == {None}


def test_numbers_of_conversations_are_no_labels() -> None:
    numbers = [str(100 + row % 12) for row in range(72)]
    alone = reading_of({"conversation_id": numbers, "text": texts(72)})
    assert (readings(alone)["conversation_id"], alone.traits) == ("rows_together", ())


def test_a_second_open_question_is_named_and_can_be_chosen() -> None:
    columns = {"like": texts(8), "change": [f"Please change the thing number {row} soon." for row in range(8)]}
    reading = reading_of({**columns, "back?": ["Definitely", "Maybe", "No", "Maybe"] * 2, "mail": ["a@b.de"] * 8})
    assert (reading.column, reading.also) == ("like", ("change",))
    assert "change" in reading.notes[0]
    assert readings(reading)["mail"] == "identifier"
    assert reading_of(columns, column="change").column == "change"


@pytest.mark.parametrize(
    ("turn", "said"), [("user", "Where is it?"), ("assistant", "On its way."), (None, "Where is it?")]
)
def test_a_conversation_is_read_by_its_turn(turn: Any, said: str) -> None:
    talk = [{"role": "user", "content": "Where is it?"}, {"role": "assistant", "content": "On its way."}]
    table = read("a.jsonl", b"".join(json.dumps({"messages": talk, "n": row}).encode() + b"\n" for row in range(3)))
    reading = read_columns(table, turn=turn)
    assert (reading.column, reading.turn) == ("messages", turn or "user")
    assert reading.texts == ["Where is it?"] if turn != "assistant" else said


# ---- a reading that is given -----------------------------------------------------------------------------------------


def test_an_unknown_column_or_reading_names_the_choices() -> None:
    with pytest.raises(ValueError, match="text, label"):
        beside(["a", "b"], given={"mood": "labels"})
    with pytest.raises(ValueError, match="rows_together"):
        beside(["a", "b"], given={"label": "mood"})


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize(
    "cells", [["1", "2", "3", ""], ["a", "b", "a, b", "NA"], ["", "", "", ""], ["[]", "{", '"', "\N{FIRE}"]]
)
def test_any_reading_can_be_given_to_any_column(reading: str, cells: list[str]) -> None:
    found = beside(cells * 3, "x", given={"x": reading})
    assert readings(found)["x"] == reading
    out = found.as_json()
    assert out["rows"] == 12
    if found.traits:
        assert {*found.samples(found.traits).lines} | {
            line + 1 for each in out["left_out"] for line in each["rows"]
        } == set(range(2, 14))


CELLS = st.sampled_from(
    [
        *("", "NA", "1", "2", "99", "-9", "a", "a;b", "1,3", "[]", '["x"]', "accept", "reject", "5 - Good", "4/5"),
        *("007", "12345678901234567890", "yes", "no", "\N{FIRE}", "a\N{COMBINING ACUTE ACCENT}", "نعم", "\x00", "{"),
        *("[[[", "1e309"),
    ]
)
NAMES = st.sampled_from(["text", "label", "id", "rating", "answer", "user", "class", "split", "a=b"])


@given(st.dictionaries(NAMES, st.lists(CELLS, min_size=8, max_size=8), min_size=1, max_size=4))
def test_every_row_of_any_file_is_a_sample_or_has_a_reason(columns: dict[str, list[str]]) -> None:
    reading = reading_of(columns)
    out = reading.as_json()
    assert (out["rows"], [each["name"] for each in out["columns"]]) == (8, [*columns])
    if reading.column is not None and reading.traits:
        read = reading.samples(reading.traits)
        assert {*read.lines} | {problem.row for problem in read.problems} == set(range(2, 10))
    assert all(each["name"] and each["negative_label"] != each["positive_label"] for each in out["traits"])

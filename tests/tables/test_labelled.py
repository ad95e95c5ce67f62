"""What each column of a wild file is for, the traits of its labels, and that no row disappears without a reason."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tables.in_process import read
from traitbench.tables.answers import ColumnAnswers
from traitbench.tables.columns import ColumnReading, read_columns
from traitbench.tables.label_columns import MOST_LABELS
from traitbench.tables.labelled import (
    BLANK,
    CONTRADICTS,
    LEFT_OUT,
    REPEATS,
    REST,
    TraitFound,
    layout_of,
    order_of,
    samples_of,
    shapes_of,
    traits_of,
    unlabelled,
)
from traitbench.tables.rows import Row, Table


def answers(counts: Mapping[str, int]) -> ColumnAnswers:
    """One answer in each cell."""
    return ColumnAnswers({cell: (cell,) for cell in counts}, dict(counts), {})


def table_of(labels: list[str], *, name: str = "label", **more: list[str]) -> Table:
    """Texts with a column of labels, and further columns."""
    columns = {"text": [f"This is text {row}." for row in range(len(labels))], name: labels, **more}
    return of_rows(tuple(columns), list(zip(*columns.values(), strict=True)))


def of_rows(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    own = (Row(line, dict(zip(columns, cells, strict=True))) for line, cells in enumerate(rows, start=2))
    return Table(columns, tuple(own), ())


def column(table: Table, name: str) -> ColumnReading:
    return next(each for each in read_columns(table).columns if each.name == name)


def found(labels: list[str], *, name: str = "label") -> list[TraitFound]:
    own = column(table_of(labels, name=name), name)
    assert own.traits
    return list(own.traits)


def poles(labels: list[str], *, name: str = "label") -> tuple[str, str, str]:
    (trait,) = found(labels, name=name)
    return trait.name, trait.negative, trait.positive


# ---- two sides -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kinds", "expected"),
    [
        ("mood", ["happy", "unhappy"], ("Mood", "unhappy", "happy")),
        ("mood", ["not happy", "happy"], ("Mood", "not happy", "happy")),
        ("tone", ["formal", "informal"], ("Tone", "informal", "formal")),
        ("Stimmung", ["unzufrieden", "zufrieden"], ("Stimmung", "unzufrieden", "zufrieden")),
        ("Stimmung", ["gut", "schlecht"], ("Stimmung", "schlecht", "gut")),
        ("sentiment", ["Positive", "Negative"], ("Sentiment", "Negative", "Positive")),
        ("label", ["warm", "cold"], ("Warm or cold", "cold", "warm")),
        ("m", ["\N{THUMBS UP SIGN}", "\N{THUMBS DOWN SIGN}"], ("M", "\N{THUMBS DOWN SIGN}", "\N{THUMBS UP SIGN}")),
        ("label", ["0", "1"], ("1 or 0", "0", "1")),
        ("is_spam", ["yes", "no"], ("Is spam", "not spam", "spam")),
        ("toxic", ["0", "1"], ("Toxic", "not toxic", "toxic")),
        ("dringend", ["Ja", "Nein"], ("Dringend", "not dringend", "dringend")),
        ("split of it", ["true", "FALSE"], ("Split of it", "not split of it", "split of it")),
    ],
)
def test_the_words_of_two_labels_name_the_sides(name: str, kinds: list[str], expected: tuple[str, str, str]) -> None:
    assert poles(kinds * 4, name=name) == expected
    assert poles(kinds[::-1] * 4, name=name) == expected, "the order of the rows does not matter"


def test_labels_that_differ_in_case_and_blanks_are_one() -> None:
    assert poles(["Happy", "happy ", "HAPPY", "happy", "unhappy", "Unhappy ", "unhappy"]) == (
        "Happy or unhappy",
        "unhappy",
        "happy",
    )


def test_two_rows_are_enough_for_two_sides() -> None:
    assert poles(["warm", "cold"]) == ("Warm or cold", "cold", "warm")


def test_sides_can_be_swapped_with_their_labels() -> None:
    (trait,) = found(["warm", "cold"])
    assert trait.swapped().words == {"warm": 0.0, "cold": 1.0}
    assert trait.swapped().swapped() == trait


def test_a_rare_or_neutral_third_label_is_neither_side() -> None:
    (trait,) = found(["happy", "unhappy"] * 10 + ["mixed", "n/a"], name="mood")
    assert (trait.words, trait.neither) == ({"happy": 1.0, "unhappy": 0.0}, {"mixed": 1})


# ---- more than two labels --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kinds", "shapes"),
    [
        ([], ()),
        (["a"], ()),
        (["a", "b"], ("sides",)),
        (["food", "price", "staff"], ("each", "order")),
        (["1", "2", "3", "4", "5"], ("order", "each")),
        (["low", "High", "medium"], ("order", "each", "sides")),
        (["good", "bad", "refund"], ("each", "order", "sides")),
        (["yes", "no", "neutral"], ("sides", "each", "order")),
    ],
)
def test_the_likeliest_shape_comes_first(kinds: list[str], shapes: tuple[str, ...]) -> None:
    assert shapes_of(dict.fromkeys(kinds, 4)) == shapes


def test_each_kind_becomes_a_trait_against_the_rest() -> None:
    traits = traits_of("topic", answers({"food": 3, "price": 2, "staff": 1}), "each")
    assert [(each.name, each.negative, each.positive) for each in traits] == [
        ("Food", REST, "food"),
        ("Price", REST, "price"),
        ("Staff", REST, "staff"),
    ]
    assert traits[1].words == {"food": 0.0, "price": 1.0, "staff": 0.0}


def test_stars_become_a_scale() -> None:
    (trait,) = found(["1", "2", "3", "4", "5"] * 3, name="stars")
    assert (trait.name, trait.negative, trait.positive) == ("Stars", "few stars", "many stars")
    assert trait.words == {"1": 0.0, "2": 0.25, "3": 0.5, "4": 0.75, "5": 1.0}


def test_known_words_have_an_order_and_others_get_one() -> None:
    assert order_of(dict.fromkeys(["gut", "schlecht", "mittel"], 1)) == ["schlecht", "mittel", "gut"]
    assert order_of(dict.fromkeys(["10", "9", "1"], 1)) == ["1", "9", "10"]
    (trait,) = traits_of("size", answers({"big": 1, "tiny": 1, "odd": 1}), "order", order=["tiny", "big"])
    assert (trait.negative, trait.positive, trait.neither) == ("tiny", "big", {"odd": 1})
    assert traits_of("size", answers({"big": 1, "tiny": 1, "odd": 1}), "order", order=[])[0].words == {}


# ---- columns that are not used ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "reading", "said"),
    [
        ([""] * 8, "not_used", "Is empty."),
        (["alike"] * 8, "not_used", "Says “alike” in every row, so there is no other side to learn."),
        (["alike", ""] * 4, "not_used", "Says “alike” wherever it is filled, so there is no other side to learn."),
        ([f"k{row}" for row in range(8)], "identifier", "Differs in every row, so it is neither a label nor a group."),
        (["2026-01-02", "2026-01-03"] * 4, "date", "Has dates."),
        (["a", "b", "c", "a"] * 2, "group", "A group to compare: a, b and c."),
        (["1", "2", "3", "1"] * 2, "group", "A few numbers, 1, 2 and 3, which may be codes: a group to compare."),
    ],
)
def test_a_column_that_is_not_used_has_a_reason(cells: list[str], reading: str, said: str) -> None:
    own = column(table_of(["warm", "cold"] * 4, other=cells), "other")
    assert (own.reading, own.said, own.traits) == (reading, said, ())


def test_too_many_values_are_not_labels() -> None:
    words = [f"w{row % 60}" for row in range(80)]
    assert (
        column(table_of(["warm", "cold"] * 40, word=words), "word").said == "Has too many different values for labels."
    )


def test_of_many_columns_some_are_labels_and_every_other_one_has_a_reason() -> None:
    rows = 24
    sided = {f"s{place}": ["aa", "bb"] * (rows // 2) for place in range(20)}
    ids = {f"i{place}": [f"{place}-{row}" for row in range(rows)] for place in range(19)}
    more = {"label": ["warm", "cold"] * (rows // 2), **sided, **ids}
    texts = [f"This is text {row}." for row in range(rows)]
    columns = read_columns(of_rows(("text", *more), list(zip(texts, *more.values(), strict=True)))).columns
    assert len(columns) == 41
    assert sum(bool(each.traits) for each in columns) == MOST_LABELS
    assert all(each.said for each in columns)


def test_one_column_of_several_kinds_is_the_label_but_not_two() -> None:
    assert column(table_of(["x1", "y1", "z1"] * 4, name="genre"), "genre").reading == "labels"
    both = table_of(["x1", "y1", "z1"] * 4, name="genre", colour=["u1", "v1", "w1"] * 4)
    assert [each.reading for each in read_columns(both).columns] == ["text", "group", "group"]


def test_addresses_and_test_marks_have_readings_of_their_own() -> None:
    table = table_of(["warm", "cold"], url=["https://a.example/1", "https://a.example/2"], test=["yes", "no"])
    reading = read_columns(table)
    assert [each.reading for each in reading.columns] == ["text", "labels", "identifier", "test"]
    first, second = reading.samples(reading.traits).samples
    assert (first.source_url, first.held_out, second.held_out) == ("https://a.example/1", True, False)


# ---- samples ---------------------------------------------------------------------------------------------------------


def test_texts_that_look_the_same_are_one_sample() -> None:
    content = "text,mood\nSchön.,happy\nScho\u0308n.,happy\nMies.,happy\nMi\u00ades.\u200b,unhappy\nNa ja.,unhappy\n"
    table = read("a.csv", content.encode())
    (trait,) = traits_of("mood", answers({"happy": 3, "unhappy": 2}), "sides")
    result = samples_of(table, layout_of("text", [trait]), [trait])
    assert [each.text for each in result.samples] == ["Schön.", "Na ja."]
    assert [(each.row, each.reason) for each in result.problems] == [(3, REPEATS), (4, CONTRADICTS), (5, CONTRADICTS)]


def test_rows_that_give_no_sample_are_named() -> None:
    content = b"text,mood\nA.,happy\nB.,unhappy\nA.,happy\nC.,happy\nC.,unhappy\n,happy\nD.,\nE.,odd\n"
    table = read("a.csv", content)
    (trait,) = traits_of("mood", answers({"happy": 4, "unhappy": 2, "odd": 1}), "sides")
    layout = layout_of("text", [trait])
    result = samples_of(table, layout, [trait])
    assert [(each.text, each.quality, each.trait) for each in result.samples] == [("A.", 1.0, "0"), ("B.", 0.0, "0")]
    assert [(each.row, each.reason) for each in result.problems] == [
        (4, REPEATS),
        (5, CONTRADICTS),
        (6, CONTRADICTS),
        (7, "is empty"),
        (8, BLANK),
        (9, LEFT_OUT),
    ]
    assert unlabelled(table, layout, [trait]) == ["D."]


CELLS = st.sampled_from(["", " ", "happy", "Happy", "unhappy", "mixed", "1", "0", "0.5", "5", "\N{FIRE}", "n/a", "-"])
TEXTS = st.sampled_from(["", " ", "A.", "B.", "C.", "a\N{COMBINING ACUTE ACCENT}", "x" * 50_001, "\N{FIRE}"])


@given(st.lists(st.tuples(TEXTS, CELLS, CELLS), min_size=1, max_size=30))
def test_every_row_gives_a_sample_or_has_a_reason(rows: list[tuple[str, str, str]]) -> None:
    table = of_rows(("text", "one", "two"), rows)
    reading = read_columns(table, column="text")
    for place in range(3):
        traits = [
            trait
            for each in reading.columns
            if each.shapes
            for trait in traits_of(each.name, each.answers, each.shapes[min(place, len(each.shapes) - 1)])
        ]
        result = reading.samples(traits)
        named = {*result.lines} | {each.row for each in result.problems}
        assert named == {row.number for row in table.rows}
        assert len({(each.trait, each.text) for each in result.samples}) == len(result.samples)

"""Labels of several raters in a table, a blind subset of their texts, and the samples that they become."""

import json
import math
from collections.abc import Collection, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.size import sized
from tests.tables.in_process import read
from traitbench.analysis.agreement import Item
from traitbench.contract.samples import text_hash
from traitbench.contract.traits import Trait
from traitbench.tables.rating_files import Ratings, guess_raters, in_order, preferred, read_ratings, samples_of
from traitbench.tables.rows import Table
from traitbench.tables.sample_files import FileLayout, LabelColumn

WORDS = {"warm": 1.0, "cold": 0.0}


def trait(key: str, positive: str = "warm", negative: str = "cold") -> Trait:
    return Trait.model_construct(key=key, name=key.title(), positive_label=positive, negative_label=negative)


TRAITS = [trait("warmth"), trait("tone", "polite", "rude")]


def table(*rows: Mapping[str, object]) -> Table:
    return read("labels.jsonl", "\n".join(map(json.dumps, rows)).encode())


def ratings(given: Table, *raters: str, trait: str | None = None) -> Ratings:
    default = None if trait else "warmth"
    labels = (LabelColumn(rater, default, {**WORDS, "": None}) for rater in raters)
    return read_ratings(given, FileLayout("text", tuple(labels), trait), TRAITS)


def item(text: str, trait: str = "warmth") -> Item:
    return trait, text_hash(text)


# ---- reading ---------------------------------------------------------------------------------------------------------


def test_every_rater_has_its_own_labels_and_an_empty_cell_is_none() -> None:
    rows = table({"text": "a", "gpt": "warm", "anna": "cold"}, {"text": "b", "gpt": "cold", "anna": ""}, {"text": "c"})
    found = ratings(rows, "gpt", "anna")
    assert found.by_rater == {"gpt": {item("a"): 1.0, item("b"): 0.0}, "anna": {item("a"): 0.0}}
    assert math.isnan(found.qualities[1, 1])
    assert not found.problems


def test_a_text_labelled_twice_alike_counts_once_and_twice_otherwise_not_at_all() -> None:
    rows = table(
        *({"text": "a", "gpt": "warm", "anna": "warm"} for _ in range(3)),
        {"text": "b", "gpt": "warm", "anna": "cold"},
        {"text": "b", "gpt": "cold", "anna": "cold"},
    )
    found = ratings(rows, "gpt", "anna")
    assert found.by_rater == {"gpt": {item("a"): 1.0}, "anna": {item("a"): 1.0, item("b"): 0.0}}
    assert found.contradictions == {"gpt": 1}


def test_the_same_text_has_a_label_for_each_trait() -> None:
    rows = table({"text": "a", "about": "Warmth", "gpt": "warm"}, {"text": "a", "about": "tone", "gpt": "cold"})
    found = ratings(rows, "gpt", trait="about")
    assert found.by_rater["gpt"] == {item("a"): 1.0, item("a", "tone"): 0.0}
    assert found.traits == ["warmth", "tone"]
    assert found.of_trait("tone").tolist() == [[0.0]]


def test_bad_rows_are_named_once_with_their_reason_and_never_with_their_text() -> None:
    rows = table(
        {"text": "secret", "about": "taste", "gpt": "warm", "anna": "warm"},
        {"text": " ", "about": "tone", "gpt": "warm", "anna": "cold"},
        {"text": "ok", "about": "tone", "gpt": "lukewarm", "anna": ""},
    )
    found = ratings(rows, "gpt", "anna", trait="about")
    assert [(each.row, each.column) for each in found.problems] == [(1, "about"), (2, "text"), (3, "gpt")]
    assert "secret" not in str(found.problems)


def test_raters_are_guessed_by_name_by_words_and_by_numbers_of_poles() -> None:
    rows = table(
        *(
            {"id": at, "text": "some longer text", "gpt": "warm", "length": 17, "score": 0.7, "anna": 1, "note": "hm"}
            for at in range(4)
        )
    )
    assert guess_raters(rows, TRAITS) == ("text", None, ["gpt", "score", "anna"])


def test_a_table_without_labels_has_no_rater() -> None:
    assert guess_raters(table({"text": "some text", "id": 7}), TRAITS) == ("text", None, [])


# ---- a blind subset --------------------------------------------------------------------------------------------------


def subset(candidates: Mapping[Item, float], number: int, *, seed: str, first: Collection[Item] = ()) -> list[Item]:
    return in_order(preferred(candidates, seed=seed, first=first)[:number], seed=seed)


CANDIDATES = st.dictionaries(st.text(max_size=6).map(item), st.sampled_from([0.0, 0.5, 1.0]), max_size=60)


@settings(max_examples=sized(20, 60), deadline=None)
@given(CANDIDATES, st.integers(10, 40), st.integers(0, 20), st.text(max_size=3))
def test_more_texts_only_add_to_fewer(candidates: dict[Item, float], number: int, more: int, seed: str) -> None:
    few, many = (subset(candidates, size, seed=seed) for size in (number, number + more))
    assert len(few) == min(number, len(candidates))
    assert len(set(few)) == len(few)
    assert [item for item in many if item in set(few)] == few, "and do not change their order"


@settings(max_examples=sized(20, 60), deadline=None)
@given(CANDIDATES, st.integers(10, 40))
def test_both_poles_occur_at_least_five_times_if_they_can(candidates: dict[Item, float], number: int) -> None:
    chosen = [candidates[item] for item in subset(candidates, number, seed="s")]
    for pole in (0.0, 1.0):
        assert chosen.count(pole) >= min(5, list(candidates.values()).count(pole))


def test_a_choice_depends_on_its_seed_and_not_on_the_order_of_the_file() -> None:
    candidates = {item(str(number)): float(number % 2) for number in range(200)}
    chosen = subset(candidates, 40, seed="a")
    assert subset(dict(reversed(candidates.items())), 40, seed="a") == chosen
    assert subset(candidates, 40, seed="b") != chosen


def test_the_order_of_texts_says_nothing_about_their_labels() -> None:
    """With other labels of equally many texts at each pole, those that are chosen for both come in the same order."""
    candidates = {item(str(number)): float(number < 3) for number in range(200)}
    chosen = subset(candidates, 40, seed="a")
    rare = [place for place, each in enumerate(chosen) if candidates[each]]
    assert len(rare) == 3
    other = subset({each: 1.0 - quality for each, quality in candidates.items()}, 40, seed="a")
    assert [each for each in chosen if each in other] == [each for each in other if each in chosen]


def test_texts_with_known_labels_come_before_others() -> None:
    candidates = {item(str(number)): float(number % 2) for number in range(100)}
    known = {item(str(number)) for number in range(70, 95)}
    assert known <= set(subset(candidates, 30, seed="a", first=known))
    assert set(subset(candidates, 20, seed="a", first=known)) <= known


# ---- samples ---------------------------------------------------------------------------------------------------------


def test_your_labels_are_test_samples_and_their_texts_are_not_trained_with() -> None:
    rows = table(*({"text": text, "gpt": "warm"} for text in "abc"))
    samples = samples_of(ratings(rows, "gpt"), "gpt", {item("a"): 0.0}, set())
    assert [(each.text, each.quality, each.held_out) for each in samples] == [
        ("b", 1.0, False),
        ("c", 1.0, False),
        ("a", 0.0, True),
    ]


def test_texts_that_are_samples_already_are_left_out() -> None:
    rows = table(*({"text": text, "gpt": "warm"} for text in "abc"))
    samples = samples_of(ratings(rows, "gpt"), "gpt", {item("a"): 0.0}, {item("a"), item("b")})
    assert [each.text for each in samples] == ["c"]


def test_labels_of_texts_that_look_the_same_are_labels_of_one_text() -> None:
    rows = table({"text": "é", "gpt": "warm", "ann": ""}, {"text": "e\u0301\u200b", "gpt": "", "ann": "cold"})
    given = ratings(rows, "gpt", "ann")
    assert (given.items, given.qualities.tolist()) == ((item("é"),), [[1.0, 0.0]])


@pytest.mark.parametrize("text", ["a", "A", "a "])
def test_a_text_is_the_same_only_if_every_character_is(text: str) -> None:
    rows = table({"text": text, "gpt": "warm"})
    samples = samples_of(ratings(rows, "gpt"), "gpt", {}, {item("a")})
    assert len(samples) == (text != "a")

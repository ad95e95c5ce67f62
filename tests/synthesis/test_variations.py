"""Variations of a text: what is edited, and what is left alone."""

import re
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.size import sized
from traitbench.sample_data import demo_models
from traitbench.synthesis.variations import MOST, diverse, variations


@pytest.mark.parametrize(
    ("text", "varied"),
    [
        ("I do not like the lamp", ["I don't like the lamp"]),
        ("I don't like the lamp", ["I do not like the lamp"]),
        ("We are glad to help", ["We're glad to help"]),
        ("It is a lamp", ["It's a lamp"]),
        ("i am here now", ["i'm here now"]),
        ("Maybe nobody will come", ["Perhaps nobody will come", "Maybe no one will come", "Perhaps no one will come"]),
        ("It broke. We wept.", ["It broke, and we wept.", "We wept. It broke."]),
        ("Anna came. Bob left.", ["Bob left. Anna came."]),
        ("Yesterday we met.", ["We met yesterday."]),
        ("The lamp broke last week.", ["Last week, the lamp broke."]),
        ("We left because it rained.", ["Because it rained, we left."]),
        ("If you like it, we keep it.", ["We keep it if you like it."]),
        ("It broke, but we kept it.", ["It broke. But we kept it."]),
        ("A lamp, honestly, of a quite dull kind", ["A lamp, honestly, of a dull kind"]),
    ],
)
def test_a_variation_could_have_been_written(text: str, varied: list[str]) -> None:
    assert list(islice(variations(text), len(varied))) == varied


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "Heavy lamp",
        "After 2 weeks",
        "Don't you think?",
        "Isn't that lovely",
        "Here it is.",
        "It's been years",
        "A car I have",
        "On 30 June at 9 o'clock",
        "On June 30",
        "Call 0171 555-2368",
        "Version 2.4, 24/7",
        "The 1 lamp",
        "Schöne Lampe!",
        "It fell İnstead of that",
        "Tıll noon",
    ],
)
def test_some_texts_have_no_variation(text: str) -> None:
    assert list(variations(text)) == []


def test_the_most_different_variations_come_first_and_numbers_make_no_difference() -> None:
    varied = ["We met 7 times.", "We met 8 times. Bye.", "Twice, we met again.", "We met 9 times. Bye."]
    assert diverse("We met 6 times.", varied, 9) == ["Twice, we met again.", "We met 8 times. Bye."]
    assert diverse("We met 6 times.", varied, 1) == ["Twice, we met again."]


def test_one_of_three_sentences_may_be_left_out_but_not_of_two() -> None:
    three, two = (list(variations(text)) for text in ("Good. Bad. Odd.", "Good. Bad."))
    assert {"Good. Bad.", "Bad. Odd.", "Good. Odd."} <= set(three)
    assert two == ["Bad. Good."]


def test_paragraphs_stay_where_they_are() -> None:
    result = list(variations("A one. A two.\n\nA three. A four."))
    assert len(result) > 10
    for varied in result:
        order = [word for word in re.sub("[.,]", "", varied).split() if word not in ("A", "a", "and")]
        assert {*order} <= {"one", "two", "three", "four"}
        assert [word in ("three", "four") for word in order] == sorted(word in ("three", "four") for word in order)


@settings(max_examples=sized(20, 60), deadline=None)
@given(st.text(st.sampled_from("aI'’ .!?\n29donthiesr"), max_size=60))
def test_variations_are_distinct_finite_and_not_blank(text: str) -> None:
    result = list(variations(text))
    assert len(result) == len(set(result)) <= MOST
    assert text not in result
    assert all(varied.strip() for varied in result)


def test_every_variation_of_the_demo_texts_keeps_most_of_its_words() -> None:
    texts = [sample["text"] for model in demo_models() for sample in model.samples][::7]
    pairs = [(text, varied) for text in texts for varied in islice(variations(text), 5)]
    assert len({text for text, _ in pairs}) > len(texts) / 2
    for text, varied in pairs:
        assert len(varied) >= 0.6 * len(text)
        assert varied[0].isupper() or not text[0].isupper()

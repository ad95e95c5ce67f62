"""What the Samples page says: labels in words, titles, what is pasted, and the words that differ between texts."""

import pytest

from traitbench.as_read import read_hash
from traitbench.contract.traits import Trait
from traitbench_app.samples.pasted import PastedText, counted, enough_to_start, paste_title, pasted, set_aside, texts_in
from traitbench_app.samples.words import differing, empty_title, excerpt, label_words, sentence_of, title_of

WARMTH = Trait(
    key="warmth",
    name="Warmth",
    positive_label="warm",
    negative_label="cold",
    sample_count=0,
    positive_samples=0,
    negative_samples=0,
    held_out_samples=0,
    description="",
    kind="extrinsic",
    aggregation="mean",
    discrimination=None,
    explained_variance=None,
    anchor_sample_ids=None,
)


@pytest.mark.parametrize(
    ("quality", "words", "side"),
    [
        *((0.0, "cold", "left"), (0.05, "cold", "left"), (0.1, "mostly cold", "left"), (0.3, "mostly cold", "left")),
        *((0.4, "a little cold", "left"), (0.5, "neither", ""), (0.6, "a little warm", "right")),
        *((0.8, "mostly warm", "right"), (1.0, "warm", "right")),
    ],
)
def test_a_graded_label_is_said_in_words(quality: float, words: str, side: str) -> None:
    label = label_words(WARMTH, quality)
    assert (str(label), label.side) == (words, side)


def test_the_title_counts_and_the_line_below_it_says_what_they_are_for() -> None:
    assert title_of(412, 35) == "412 samples, 35 on the wrong side"
    assert title_of(1, 0) == "1 sample, none on the wrong side"
    assert title_of(20, None) == "20 samples"
    scored = sentence_of(412, 63, scored=True)
    assert scored == "349 teach, 63 only test. Each is scored by a model that had not seen it."
    assert sentence_of(2, 1, scored=False).startswith("1 teaches, 1 only tests. After training")
    assert "None is set aside for testing." in sentence_of(20, 0, scored=False)


def test_an_empty_model_says_how_many_are_enough() -> None:
    assert empty_title([WARMTH]) == "No samples yet: 10 cold and 10 warm ones are enough to start"
    assert empty_title([WARMTH, WARMTH]) == "No samples yet: 10 texts for each side are enough to start"


def test_an_excerpt_is_one_line_of_markdown() -> None:
    assert excerpt("*No*\n need  to") == "“\\*No\\* need to”"
    assert len(excerpt("x" * 50_000)) < 40


# ---- what differs ----------------------------------------------------------------------------------------------------


def marked(before: str, after: str) -> str:
    stretches = [*differing(before, after)]
    assert "".join(text for text, _ in stretches) == after
    return "".join(f"[{text}]" if differs else text for text, differs in stretches)


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("Request denied.", "Request denied.", "Request denied."),
        ("Request denied. See terms.", "Your request denied. See terms.", "[Your request ]denied. See terms."),
        ("Go away.", "Go away now, please.", "Go [away now, please.]"),
        ("", "New.", "[New.]"),
        ("All gone.", "", ""),
        ("拒否されました", "許可されました", "[許可]されました"),
        ("a  b\nc", "a  x\nc", "a  [x\n]c"),
    ],
)
def test_words_that_differ_are_marked(before: str, after: str, shown: str) -> None:
    assert marked(before, after) == shown


def test_long_texts_are_compared_in_a_moment() -> None:
    before = " ".join(f"word{number % 7}" for number in range(8_000))
    after = before.replace("word3", "other")
    assert marked(before, after).startswith("word0 word1 word2 [other")
    assert marked(before, before) == before


# ---- what is pasted --------------------------------------------------------------------------------------------------


def lines(*texts: str) -> list[tuple[int, str]]:
    return texts_in("\n".join(texts), by_line=True)


def notes(*sides: list[tuple[int, str]], known: frozenset[str] = frozenset()) -> list[list[str]]:
    return [[each.note for each in side] for side in pasted(sides, known)]


def test_a_text_is_a_line_or_what_is_between_blank_lines() -> None:
    assert texts_in("  One.\r\n\n\u3000Two.\n", by_line=True) == [(1, "One."), (3, "Two.")]
    assert texts_in("One,\n still one.\n\n \nTwo.", by_line=False) == [(1, "One,\n still one."), (2, "Two.")]
    assert texts_in("", by_line=True) == texts_in(" \n\n", by_line=False) == []


def test_copies_are_left_out_and_named() -> None:
    left = lines("Request denied.", "State your number.", "Request denied.", "request denied!")
    right = lines("Hi there, lovely to meet you!", "Hi there! Lovely to meet you.")
    assert notes(left, right) == [["", "", "as line 1", "almost line 1"], ["", "almost line 1"]]


def test_a_text_in_both_fields_is_asked_about_and_left_out_of_both() -> None:
    sides = pasted([lines("Thanks.", "Go."), lines("Thanks.")], frozenset())
    assert sides[0][0] == PastedText(1, "Thanks.", "in both fields: which side?", "both")
    assert sides[1][0].note == "in both fields: which side?"
    assert not sides[0][1].note


def test_what_is_left_out_of_thousands_is_counted_by_its_reason() -> None:
    typed = [f"Text {number}." for number in range(2_000)]
    left = lines(*typed, *typed, *(f"text {number}!" for number in range(1_500)), "Both.")
    known = frozenset(read_hash(text) for text in typed[:100])
    sides = pasted([left, lines("Both.")], known)
    assert counted(sides[0]) == "2,000 copies, 1,500 near copies, 100 samples already, 1 in both fields"
    assert counted(sides[0][2_000:2_001]) == "1 copy"
    assert counted(()) == ""


def test_signs_alone_are_not_almost_alike() -> None:
    assert notes(lines("👍", "👎", "?!", "…"), lines("ok", "OK")) == [[""] * 4, [""] * 2]


def test_a_title_counts_each_side() -> None:
    assert paste_title(["cold", "warm"], [10, 9], 2) == "10 cold and 9 warm texts, 2 left out"
    assert paste_title(["cold", "warm"], [1, 0], 0) == "1 cold and 0 warm text"
    assert enough_to_start(0, 9) == "1 more is enough to start"
    assert enough_to_start(4, 3) == "3 more are enough to start"
    assert enough_to_start(0, 10) == "enough to start"


def test_a_share_is_set_aside_once_each_side_keeps_enough_and_always_the_same() -> None:
    texts = [f"Text {number}" for number in range(20)]
    assert set_aside(texts[:10], 0) == frozenset()
    assert len(set_aside(texts[:11], 0)) == 1
    chosen = set_aside(texts, 0)
    assert len(chosen) == round(0.2 * 20)
    assert set_aside(texts[::-1], 0) == chosen
    assert set_aside([], 50) == frozenset()

"""What texts are like: their lengths in words and their languages."""

import pytest

from traitbench.analysis.texts import describe

ENGLISH = "This is the answer that you have been waiting for, and it was not easy"
GERMAN = "Das ist nicht gut, und ich bin mit der Antwort nicht zufrieden"


def test_lengths_are_counted_in_words_and_half_are_at_least_the_median() -> None:
    texts = describe(["one", "one two", "one two three", "one two three four"])
    assert texts is not None
    assert (texts.words, texts.median, texts.longest) == ([1, 2, 3, 4], 2, 4)
    assert texts.histogram() == (1, [0, 1, 1, 1, 1])


@pytest.mark.parametrize(("longest", "width"), [(5, 1), (14, 2), (59, 5), (139, 10), (20_000, 1429)])
def test_steps_are_round_and_few(longest: int, width: int) -> None:
    texts = describe(["word " * longest, "word"])
    assert texts is not None
    step, steps = texts.histogram()
    assert step == width
    assert sum(steps) == 2
    assert len(steps) <= 14
    assert steps[longest // step] >= 1


def test_languages_that_few_texts_have_are_left_out() -> None:
    texts = describe([ENGLISH] * 15 + [GERMAN] * 5 + ["Привет"] + ["123"])
    assert texts is not None
    assert texts.main_languages == ["English", "German"]
    assert describe(["123", ""]).main_languages == []  # type: ignore[union-attr]


def test_nothing_is_said_of_no_texts() -> None:
    assert describe([]) is None

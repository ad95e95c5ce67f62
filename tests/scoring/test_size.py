from collections.abc import Callable

import pytest

from tests.nasty import FAMILIES
from traitbench.scoring.segments import TextTooLarge, check


def counted(text: str) -> int:
    raise AssertionError("nothing of a text is given to the tokenizer that need not be")


def test_a_small_text_is_not_counted() -> None:
    check("a " * 25, most_words=100, count_tokens=counted)


@pytest.mark.parametrize(
    ("text", "count_tokens", "says", "details"),
    [
        ("word " * 101, counted, r"101 words; at most 100 .* Split it", {"words": 101, "max_words": 100}),
        ("!?" * 100 + "!", len, "201 tokens; at most 200", {"tokens": 201, "max_tokens": 200}),
    ],
    ids=["many words, before its tokens are counted", "many tokens of few words"],
)
def test_a_text_that_is_too_large_is_refused(
    text: str, count_tokens: Callable[[str], int], says: str, details: dict[str, int]
) -> None:
    with pytest.raises(TextTooLarge, match=says) as refused:
        check(text, most_words=100, count_tokens=count_tokens)
    assert refused.value.details == details


def test_a_text_at_the_limit_is_scored() -> None:
    check("aa " * 100, most_words=100, count_tokens=lambda text: 200)


@pytest.mark.parametrize("family", ["prose", "CJK", "letters"])
def test_megabytes_of_text_are_refused(family: str) -> None:
    with pytest.raises(TextTooLarge):
        check(FAMILIES[family](4 * 2**20), most_words=20_000, count_tokens=counted)

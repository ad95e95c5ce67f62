import pytest

from tests.nasty import FAMILIES
from traitbench.scoring.size import TextTooLarge, check


def counted(text: str) -> int:
    raise AssertionError("nothing of a text is given to the tokenizer that need not be")


def test_a_small_text_is_not_counted() -> None:
    check("a " * 25, most_words=100, count_tokens=counted)


def test_a_text_of_too_many_words_is_refused_before_its_tokens_are_counted() -> None:
    with pytest.raises(TextTooLarge, match=r"101 words; at most 100 .* Split it") as refused:
        check("word " * 101, most_words=100, count_tokens=counted)
    assert refused.value.details == {"words": 101, "max_words": 100}


def test_a_text_of_few_words_and_many_tokens_is_refused_too() -> None:
    with pytest.raises(TextTooLarge, match="201 tokens; at most 200") as refused:
        check("!?" * 100 + "!", most_words=100, count_tokens=len)
    assert refused.value.details == {"tokens": 201, "max_tokens": 200}


def test_a_text_at_the_limit_is_scored() -> None:
    check("aa " * 100, most_words=100, count_tokens=lambda text: 200)


@pytest.mark.parametrize("family", ["prose", "words of one letter", "CJK", "letters", "mixed emoji", "short sentences"])
def test_megabytes_of_text_are_refused(family: str) -> None:
    with pytest.raises(TextTooLarge):
        check(FAMILIES[family](4 * 2**20), most_words=20_000, count_tokens=counted)

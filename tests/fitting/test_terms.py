import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traitbench.fitting.phrases import Terms, kernel, phrases, words

TEXTS = [
    *("The lovely dog barks", "A lovely dog sleeps", "My lovely dog eats", "One lovely dog more"),
    *("The broken lamp hums", "A broken lamp fell", "My broken lamp smells", "One broken lamp more"),
]
FIRST = np.arange(8) < 4


def test_words_are_folded_and_without_signs_and_digits() -> None:
    assert words("Don’t PANIC: 42 cats' naïve x2!") == ["don't", "panic", "cats", "naïve", "x"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@anna see https://x.example/y?z and www.a.example/b", ["see", "and"]),
        ("RT http t.co/ab1, or a.b@c.example &amp; #GreatDay", ["rt", "or", "greatday"]),
        ("<br/>so good 😀 10/10", ["so", "good"]),
        ("यह हिन्दी बहुत अच्छी है।", ["यह", "हिन्दी", "बहुत", "अच्छी", "है"]),
        ("质量很好，贵", ["质量", "很好", "贵"]),
        ("ここのラーメンは美味しい！", ["ここ", "の", "ラーメン", "は", "美味しい"]),
        ("อาหารอร่อย ดีมาก", ["อาหาร", "อร่อย", "ดี", "มาก"]),
        ("الخدمة سيئة، شكرا", ["الخدمة", "سيئة", "شكرا"]),
        ("نمی‌خواهم 👨‍👩‍👧", ["نمی‌خواهم"]),
        ("최고예요 👍🏽 ❤️", ["최고예요"]),
    ],
)
def test_links_handles_and_entities_are_no_words_in_any_script(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_texts_are_similar_by_shared_words() -> None:
    alike = kernel(["red car", "red bike", "blue sky", "", "red car"])
    np.testing.assert_allclose(alike, alike.T)
    np.testing.assert_allclose(np.diag(alike), [1, 1, 1, 0, 1])
    assert alike[0, 4] == pytest.approx(1)
    assert 0 < alike[0, 1] < 1
    assert alike[0, 2] == alike[0, 3] == 0


def test_the_distinctive_words_of_each_group_are_found() -> None:
    above, below = Terms.of(TEXTS).distinctive(FIRST, ~FIRST)
    assert above == ["lovely dog", "dog", "lovely"]
    assert below == ["broken lamp", "broken", "lamp"]


VOCABULARY = ("lamp", "dog", "lovely", "broken", "because")
CORPORA = st.lists(st.tuples(st.sets(st.sampled_from(VOCABULARY)), st.booleans()), min_size=4, max_size=40)


@given(CORPORA)
def test_swapped_groups_swap_their_distinctive_words(corpus: list[tuple[set[str], bool]]) -> None:
    texts, first = [" ".join(sorted(own)) for own, _ in corpus], np.array([side for _, side in corpus])
    assert Terms.of(texts).distinctive(first, ~first) == Terms.of(texts).distinctive(~first, first)[::-1]


def test_a_word_of_a_single_text_is_never_named() -> None:
    secret = [f"{text} {'hunter' if i == 0 else ''}" for i, text in enumerate(TEXTS)]
    above, below = Terms.of(secret).distinctive(FIRST, ~FIRST)
    assert "hunter" not in {*above, *below}


def test_function_words_come_last() -> None:
    texts = [f"{text} {'because' if i < 4 else 'although'}" for i, text in enumerate(TEXTS)]
    above, below = Terms.of(texts).distinctive(FIRST, ~FIRST)
    assert above[-1] == "because"
    assert below[-1] == "although"


def test_equal_groups_have_no_distinctive_word() -> None:
    assert Terms.of(["the same words"] * 8).distinctive(FIRST, ~FIRST) == ([], [])


@pytest.mark.parametrize(
    ("text", "affirmed", "denied"),
    [
        ("We've had no problems with it.", {"no problems"}, {"problems"}),
        ("It doesn't really work, I want a refund", {"doesn't really work", "refund"}, {"work"}),
        ("Not a good film but a brilliant cast", {"not a good", "brilliant cast"}, {"good", "film"}),
        ("Not only cheap", {"cheap"}, {"not only cheap"}),
        ("A lack of interest. Top-up failed", {"lack of interest", "failed"}, set()),
    ],
)
def test_a_phrase_is_what_the_text_affirms(text: str, affirmed: set[str], denied: set[str]) -> None:
    assert affirmed <= phrases(text)
    assert not denied & phrases(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("质量很好，我喜欢", {"质量", "很好", "喜欢", "质量很好"}),
        ("サービスがひどい。", {"サービス", "ひどい", "サービスがひどい"}),
        ("พนักงานบริการดี", {"พนักงาน", "บริการ", "ดี", "พนักงานบริการ", "บริการดี", "พนักงานบริการดี"}),
        ("फ़िल्म अच्छी।", {"फ़िल्म", "अच्छी", "फ़िल्म अच्छी"}),
        ("정말 최고", {"정말", "최고", "정말 최고"}),
    ],
)
def test_the_phrases_of_every_script_are_its_words(text: str, expected: set[str]) -> None:
    assert phrases(text) == expected

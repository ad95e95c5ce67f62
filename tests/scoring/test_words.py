"""Words, sentences and characters in the scripts of the world."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traitbench.scoring.segments import phrases, sentences
from traitbench.scoring.words import characters, first_words, with_endings, words

IN_WORDS = {
    "English": "He|said|“Go|(now)!”|—|a|well-made,|e.g.|don't|wow!!!|@ann|#tag|https://x.example/y?z=1|3.50",
    "Chinese": "这|部|电影|真的|很好|看，|我|和|朋友|们|都|笑得|停不下来。",
    "Japanese": "この|映画|は|とても|面白|かった|です。|「もう一度|見|たい」|と|言った|（本当に）。",
    "Korean": "음식이|정말|맛있었어요.|직원들도|친절해서|다시|가고|싶습니다!",
    "Thai": "ร้าน|นี้|อาหาร|อร่อย|มากๆ|พนักงาน|บริการ|ดี",
    "Lao": "ຂ້ອຍ|ມັກ|ອາຫານ|ຢູ່|ນີ້|ຫຼາຍ",
    "Khmer": "ខ្ញុំ|ចូលចិត្ត|ម្ហូប|នៅ|ទីនេះ|ណាស់។",
    "Burmese": "ဒီဆိုင်|က|အစားအစာ|တွေ|က|အရမ်း|ကောင်း|တယ်။",
    "Arabic": "كانت|الخدمة|رائعة|جدا،|هل|سأعود؟",
    "Persian": "این|غذا|را|نمی‌خواهم!",
    "Hebrew": "האוכל|היה|טעים|מאוד,|תודה!",
    "Hindi": "यह|फ़िल्म|बहुत|अच्छी|थी।|मैं|इसे|फिर|देखूँगा।",
    "Tamil": "இந்தப்|படம்|மிகவும்|நன்றாக|இருந்தது.",
    "Bengali": "খাবারটা|খুব|ভালো|ছিল।",
    "Amharic": "ምግቡ|በጣም|ጥሩ|ነበር።",
    "Greek": "Το|φαγητό|ήταν|υπέροχο·|ευχαριστώ!",
    "Russian": "Очень|вкусно,|спасибо!",
    "Emoji": "Great|👨‍👩‍👧‍👦|trip|🇩🇪|🇫🇷|👍🏽|👍🏿|love|❤️‍🔥|it|🏴󠁧󠁢󠁥󠁮󠁧󠁿|1️⃣",
    "Marks": "Z̷̡a̸l̶g̵o|e\u0301tat|नि|கி|ที่|ᄒ\u1161\u11ab",
    "Mixed": "昨日|iPhone15|を|買った|けど、|battery|が|最悪|😡|😡。",
}
WITHOUT_SPACES = ("Chinese", "Japanese", "Thai", "Lao", "Khmer", "Burmese", "Mixed")


def joined(language: str) -> str:
    """The text, with spaces where its script has them."""
    return IN_WORDS[language].replace("|", "" if language in WITHOUT_SPACES else " ")


@pytest.mark.parametrize("language", IN_WORDS)
def test_words_are_those_that_a_reader_sees(language: str) -> None:
    text = joined(language)
    assert "|".join(text[start:end] for start, end in words(text)) == IN_WORDS[language]


@pytest.mark.parametrize("text", ["", " ", "\n\t\u3000", "\u200b"])
def test_white_space_is_no_word(text: str) -> None:
    assert not [text[start:end] for start, end in words(text) if not text[start:end].strip()]


def test_half_a_pair_of_surrogates_stops_nothing() -> None:
    assert words("日本\ud83d") == [(0, 3)]


SIGNS = st.sampled_from(
    [
        *"ab .(!。「な画っคลิที่ำកខ្ញုំनक्षिᄀ가\u1161\u11a8",
        "e\u0301",
        "👨\u200d👩",
        "🇩",
        "🇪",
        "👍🏽",
        "❤\ufe0f",
        "1\u20e3",
        "\u200d",
    ]
)


@given(st.lists(SIGNS, max_size=40).map("".join), st.integers(1, 9))
def test_words_and_phrases_cover_the_text_and_divide_no_character(text: str, count: int) -> None:
    whole = set(characters(text))
    for spans in (words(text), [(each.start, each.end) for each in phrases(text, count)]):
        assert "".join(text[start:end] for start, end in spans).replace(" ", "") == text.replace(" ", "")
        assert all(before[1] <= after[0] for before, after in pairwise(spans))
        assert {place for span in spans for place in span} <= whole


@pytest.mark.parametrize(
    "expected",
    [
        ["यह फ़िल्म अच्छी थी।", "क्या आप आएँगे?", "हाँ।"],
        ["هل سأعود؟", "نعم بالتأكيد!"],
        ["یہ اچھا ہے۔", "شکریہ۔"],
        ["ဒီဆိုင်ကကောင်းတယ်။", "ဝန်ဆောင်မှုကနှေးတယ်။"],
        ["ម្ហូបឆ្ងាញ់ណាស់។", "អរគុណ។"],
        ["ምግቡ ጥሩ ነበር።", "አመሰግናለሁ።"],
        ["Ճաշը համեղ էր։", "Շնորհակալություն։"],
        ["ร้านนี้อาหารอร่อยมาก ๆ เลย", "พนักงานบริการดี"],
        ["ຂ້ອຍມັກອາຫານ", "ແຕ່ການບໍລິການຊ້າ"],
        ["太好了!", "下次再来？！", "一定。"],
        ["「すごい!」と彼は言った。", "本当に。"],
        ["Dr. Who met Mr. Bean.", "They left 😡!", "日本へ行く。"],
    ],
    ids=lambda expected: expected[0],
)
@pytest.mark.parametrize("gap", [" ", "\n"])
def test_sentences_end_where_a_reader_would_stop_in_every_script(expected: list[str], gap: str) -> None:
    text = gap.join(expected)
    assert [text[each.start : each.end] for each in sentences(text)] == expected


@pytest.mark.parametrize(
    "expected",
    [
        "先生の|説明が|分かりやすく、|感謝しています。",
        "夜は|全然|眠れませんでした。|もう|二度と|行きたく|ありません。",
        "「スタッフの|方も|親切でした」|👍🏽|また|来たいです！",
        "质量|很好。",
    ],
)
def test_japanese_words_are_read_with_their_endings(expected: str) -> None:
    text = expected.replace("|", "")
    assert "|".join(text[start:end] for start, end in with_endings(text)) == expected


def test_the_first_words_end_with_a_word() -> None:
    assert first_words("この映画はとても面白かったです。", 3) == "この映画は"
    assert first_words("one  two three", 2) == "one  two"
    assert first_words("one", 2) == "one"
    assert first_words("one", 0) == ""


def test_phrases_of_a_script_without_spaces_end_at_its_marks() -> None:
    text = "我们等了一个小时，没有人过来，所以我们又走了。"
    assert [text[each.start : each.end] for each in phrases(text, 3)] == [
        "我们等了一个小时，",
        "没有人过来，",
        "所以我们又走了。",
    ]

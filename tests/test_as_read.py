"""Texts that look the same are read the same, and every place of what is read is a place of what was sent."""

from unicodedata import is_normalized, normalize

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests import wild
from tests.size import sized
from traitbench.as_read import FIRST, as_read, is_blank, read_hash

TEXTS = st.one_of(
    wild.TEXTS,
    st.text(
        "aé\u0301\u0327ßЙй\u0306가\u1100\u1161क\u094d\u200c\u200d\u200b\u00ad\ufe0f\u2060❤🔥🏴\U000e0067\U000e007f"
        "می١\n\u180b",
        max_size=30,
    ),
)

SAME = {
    "soft hyphens": ("Yo\xadu are a st\xadup\xadid idiot", "You are a stupid idiot"),
    "zero-width spaces": ("\u200b".join("get lost"), "get lost"),
    "zero-width joiners": ("\u200d".join("get lost"), "get lost"),
    "non-joiners": ("\u200c".join("отстань"), "отстань"),
    "word joiners": ("a\u2060b\u2063c", "abc"),
    "a byte-order mark": ("\ufeffHello", "Hello"),
    "marks of direction": ("\u202a\u200eHello\u200f \u2067world\u2069\u202c", "Hello world"),
    "controls": ("Hel\x08lo\x7f", "Hello"),
    "tags": ("Hello\U000e0001\U000e0041\U000e0042", "Hello"),
    "selectors after letters": ("H\ufe0fello\U000e0100", "Hello"),
    "a grapheme joiner": ("a\u034f\u0301", "á"),
    "accents after their letters": (normalize("NFD", "Größe, señora, très déçu"), "Größe, señora, très déçu"),
    "two accents in another order": ("Việt a\u0301\u0323", "Việt ạ\u0301"),
    "parts of syllables": (normalize("NFD", "정말 감사합니다"), "정말 감사합니다"),
    "kana with marks": (normalize("NFD", "ありがとうございました"), "ありがとうございました"),
    "an accent behind what nobody sees": ("cafe\u200b\u0301", "café"),
    "a filler": ("a\u3164b\u2800c", "a b c"),
    "two joiners": ("می\u200c\u200cخواهم", "می\u200cخواهم"),
}

KEPT = {
    "Persian": "می\u200cخواهم بروم",
    "Malayalam": "അവന്\u200d വന്നു",
    "Hindi": "क्\u200dष क्\u200cष",
    "Sinhala": "ශ්\u200dරී",
    "a family": "👨\u200d👩\u200d👧 together",
    "a heart": "I ❤\ufe0f it, ❤\ufe0f\u200d🔥",
    "a profession with a skin": "👩🏽\u200d🚒",
    "a keycap": "1\ufe0f\u20e3",
    "a region's flag": "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "Mongolian": "ᠠ\u180bᠨ\u180eᠠ",
    "line ends": "a\r\nb\tc\x0bd",
    "wide letters": "Ｙｏｕ",
}


@pytest.mark.parametrize("name", SAME)
def test_what_looks_the_same_is_read_the_same(name: str) -> None:
    odd, plain = SAME[name]
    assert as_read(odd).text == as_read(plain).text == plain
    assert read_hash(odd) == read_hash(plain)


@pytest.mark.parametrize("name", KEPT)
def test_what_carries_meaning_stays(name: str) -> None:
    assert as_read(KEPT[name]).text == KEPT[name]


@settings(max_examples=sized(200, 5_000))
@example("\u0301\u180b\u094d\u200d")  # the marks change places when they are composed
@example("\u0915\u200c\u094d\u0338")
@given(TEXTS)
def test_a_text_that_was_read_is_read_as_it_is(text: str) -> None:
    read = as_read(text).text
    assert as_read(read).text == read
    assert is_normalized("NFC", read)
    assert as_read(normalize("NFD", text)).text == as_read(normalize("NFC", text)).text == read


@settings(max_examples=sized(200, 5_000))
@given(TEXTS)
def test_every_place_is_a_place_of_the_text_as_it_was_sent(text: str) -> None:
    read = as_read(text, FIRST)
    places = [read.origin(place) for place in range(len(read.text) + 1)]
    assert places == sorted(places)
    assert places[0] == 0
    assert not read.text or places[-1] == len(text)
    for place, character in zip(places, read.text, strict=False):
        if character.isalnum() and place:
            assert normalize("NFD", text[place])[0] == normalize("NFD", character)[0]


IN_CAPITALS = {
    "YOU ARE A STUPID IDIOT, GET LOST": "You are a stupid idiot, get lost",
    'STOP. NOW! "PLEASE"\nYES': 'Stop. Now! "Please"\nYes',
    "MADE IN THE U.S.A., AND IT'S NOT MY iPHONE": "Made in the U.S.A., and it's not my iphone",
    "GROẞE STRASSE, SCHÖN": "Große strasse, schön",
    "ÇOK GÜZEL BİR IŞIK": "Çok güzel bir ışık",
    "ΚΑΛΗΜΈΡΑ ΣΑΣ": "Καλημέρα σας",
    "ПОЧЕМУ ТАК ДОЛГО? УЖАС": "Почему так долго? Ужас",
    "¡QUÉ AMABLE! 10 KM MÁS": "¡Qué amable! 10 km más",
    "SEE WWW.EXAMPLE.ORG": "See www.example.org",
    "STUPID": "Stupid",
    "OK 👍": "Ok 👍",
}

NOT_IN_CAPITALS = (
    "That was VERY bad, and NOBODY cares.",
    "IBM and SAP deliver, NATO too.",
    "A",
    "Ｙ 今日は A です",
    "ᎣᏏᏲ ᎠᏂᎩᎸ",
    "1,000 €",
    "今日はいい天気 AI",
)


@pytest.mark.parametrize("text", IN_CAPITALS)
def test_a_text_in_capitals_is_read_as_sentences(text: str) -> None:
    read = as_read(text)
    assert read.text == IN_CAPITALS[text]
    assert [read.origin(place) for place in range(len(text) + 1)] == [*range(len(text) + 1)]
    assert as_read(text, FIRST).text == text


@pytest.mark.parametrize("text", NOT_IN_CAPITALS)
def test_capitals_within_other_texts_stay(text: str) -> None:
    assert as_read(text).text == text


def test_what_looks_the_same_is_a_duplicate_and_what_is_shouted_is_not() -> None:
    assert read_hash("Sehr schön") == read_hash(normalize("NFD", "Sehr schön\u200b"))
    assert read_hash("SEHR SCHÖN") != read_hash("Sehr schön")


@pytest.mark.parametrize("text", [*wild.UNSEEN, "", " \n", "\x85\u3000"])
def test_a_text_of_which_nothing_is_seen_is_blank(text: str) -> None:
    assert is_blank(text)
    assert not as_read(text).text.strip()


@given(TEXTS)
def test_a_text_is_blank_exactly_if_nothing_of_it_is_read(text: str) -> None:
    assert is_blank(text) == (not as_read(text).text.strip())

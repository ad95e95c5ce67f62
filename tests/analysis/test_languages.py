"""The language of a text is named where it is clear, in any script; a short, mixed or wordless text has none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from traitbench.analysis.languages import count_languages, language
from traitbench.display.languages import NAMES, languages_line, listed, main_languages
from traitbench.sample_data import demo_models


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "The delivery was late and the box was broken."),
        ("de", "Das Paket kam viel zu spät."),
        ("fr", "On a attendu une heure pour rien."),
        ("es", "Ya no puedo entrar en mi cuenta."),
        ("it", "Mio figlio l'ha rotto il primo giorno."),
        ("pt", "A entrega não chegou com o pacote e isso foi muito mau."),
        ("nl", "Ik kan niet meer inloggen."),
        ("sv", "Jag kan inte logga in längre."),
        ("pl", "Czekaliśmy godzinę na próżno."),
        ("tr", "Teşekkürler, gerçekten çok hızlıydı!"),
        ("vi", "Tôi không đăng nhập được nữa."),
        ("ru", "Посылка пришла слишком поздно."),
        ("uk", "Посилка прийшла надто пізно."),
        ("ar", "وصل الطرد متأخرا جدا."),
        ("fa", "پسرم روز اول آن را شکست."),
        ("he", "החבילה הגיעה מאוחר מדי."),
        ("hi", "हमने बेकार में एक घंटा इंतज़ार किया।"),
        ("th", "พัสดุมาช้ามาก"),
        ("ko", "택배가 너무 늦게 왔어요."),
        ("ja", "荷物が届くのが遅すぎました。"),
        ("zh", "我们白等了一个小时。"),
    ],
)
def test_a_short_sentence_has_its_language(code: str, text: str) -> None:
    assert language(text) == code
    assert language(text.upper().replace("\u1e9e", "SS")) == code
    assert language(f"@shop {text} https://example.org/en/the-order #orders") == code


@pytest.mark.parametrize(
    "text",
    ["", " ", "Ok!", "lol", "123 👍", "No", "Super!", "Anna Müller", "Berlin, Paris", "@max #win", "Nokia 3310"],
)
def test_a_text_without_a_clear_language_has_none(text: str) -> None:
    assert language(text) is None


@given(st.text(max_size=60))
def test_every_language_has_a_name(text: str) -> None:
    assert language(text) in {None, *NAMES}


def test_hardly_a_demo_sample_has_a_wrong_language() -> None:
    texts = [sample["text"] for demo in demo_models() for sample in demo.samples]
    known, unclear = count_languages(texts)
    assert (known["de"], known["ja"]) == (26, 26)
    assert known["en"] > 0.98 * (len(texts) - 52 - unclear)


def test_languages_are_listed_the_most_frequent_first() -> None:
    texts = ["Das Paket kam viel zu spät."] * 2 + ["The parcel was late again today."] * 3 + ["lol"]
    known, unclear = count_languages(texts)
    assert (known, unclear) == ({"en": 3, "de": 2}, 1)
    assert languages_line(known, unclear) == "English (3), German (2), 1 not clear"
    assert languages_line({"ja": 1_200, "de": 2, "en": 2}, 0, most=2) == (
        "Japanese (1,200), English (2), 2 in other languages"
    )
    assert languages_line({}, 0) == ""
    assert main_languages({"de": 5, "en": 90, "ja": 30}) == ["en", "ja"]
    assert [listed(names) for names in ([], ["A"], ["A", "B"], ["A", "B", "C"])] == ["", "A", "A and B", "A, B and C"]

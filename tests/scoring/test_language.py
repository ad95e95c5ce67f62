"""A name or a quotation does not make an English text one in another language; sentences in others are found."""

import pytest

from traitbench.analysis.languages import language
from traitbench.sample_data import demo_models
from traitbench.scoring.language import is_not_english


@pytest.mark.parametrize(
    "text",
    [
        "Der Akku hält kaum einen halben Tag.",
        "Warum wird meine Karte abgelehnt?",
        "Pourquoi ma carte est-elle refusée ?",
        "Un film ennuyeux et sans surprise.",
        "¿Por qué rechazan mi tarjeta?",
        "El hotel estaba justo enfrente de la playa.",
        "L'albergo era proprio davanti alla spiaggia.",
        "O hotel ficava em frente à praia.",
        "Het hotel lag direct aan het strand.",
        "Filmen var lång och tråkig.",
    ],
)
def test_a_sentence_in_another_language_is_found(text: str) -> None:
    assert is_not_english(text)
    assert is_not_english(text.upper().replace("\u1e9e", "SS"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "Los Angeles",
        "The die is cast, and the war is won.",
        "A dose of la dolce vita, as they say in Rome.",
        "El Niño is back.",
        "Van der Waals forces are weak.",
        "naïve café-goers",
        "He said: c'est la vie.",
        "12345 67890",
        "qwpo xzzk vbnm lkjh",
    ],
)
def test_english_with_foreign_names_is_english(text: str) -> None:
    assert not is_not_english(text)


def test_no_english_demo_sample_is_taken_for_another_language() -> None:
    texts = [sample["text"] for demo in demo_models() for sample in demo.samples]
    english = [text for text in texts if language(text) in ("en", None)]
    assert len(english) > 1_000
    assert not any(map(is_not_english, english))

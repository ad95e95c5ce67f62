"""Texts that look the same, that shout, or that hide their words, with the default encoder."""

from collections.abc import Callable, Mapping
from unicodedata import normalize

import pytest

import traitbench as tb

INSULTING = (
    "You are an idiot and everybody knows it",
    "What a pathetic little man you are",
    "Shut up, you stupid clown",
    "Only a moron would write this",
    "You disgust me, go away",
    "Nobody likes you, loser",
    "You ugly worthless liar",
    "Get lost, you miserable fool",
)
FRIENDLY = (
    "You explained that very well, thank you",
    "What a thoughtful and patient answer",
    "Take your time, we are glad you are here",
    "I learned a lot from what you wrote",
    "Everybody here likes working with you",
    "Your idea is clever and generous",
    "Come and join us, you are welcome",
    "I hope you win, you deserve it",
)
NEW = (
    "You are a stupid idiot, get lost",
    "What a worthless and pathetic loser you are",
    "Shut up, you ugly moron. Nobody wants to read this!",
    "That was so kind of you, thanks a lot",
    "We enjoyed your talk, please come again",
)
HIDDEN: Mapping[str, Callable[[str], str]] = {
    "spaced": lambda text: " ".join(text),
    "underscores": lambda text: text.replace(" ", "_"),
    "wide": lambda text: "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in text),
    "look-alikes": lambda text: text.translate(str.maketrans("aeopc", "аеорс")),
    "digits": lambda text: text.translate(str.maketrans("aeiost", "4310$7")),
}
GERMAN = {
    "zufrieden": (
        "Sehr freundliche Beratung, ich fühle mich gut aufgehoben.",
        "Schöne Verpackung und ein netter Gruß dazu.",
        "Für den Preis außergewöhnlich gut verarbeitet.",
        "Die Rückgabe war völlig unkompliziert.",
    ),
    "unzufrieden": (
        "Unhöfliche Antwort, und das Gerät läuft überhaupt nicht.",
        "Größe falsch, Farbe falsch, Rückruf nie erhalten.",
        "Ständig stürzt die App ab, unmöglich damit zu arbeiten.",
        "Völlig unbrauchbar für ältere Menschen.",
    ),
}
ACCENTS = (
    "Größtes Lob für die höfliche Unterstützung.",
    "Für mich völlig enttäuschend, müsste günstiger sein.",
    "Très déçu : le café était froid et personne n'a répondu.",
    "Señora, ¡qué amable y rápida!",
    "Việc giao hàng rất chậm và tôi rất thất vọng.",
    "정말 감사합니다",
    "とてもがっかりしました",
)


@pytest.fixture(scope="module")
def insults() -> tb.Scorer:
    scorer = tb.Scorer("tone", poles=("friendly", "insulting"), effort="low")
    return scorer.fit([*INSULTING, *FRIENDLY], [1] * len(INSULTING) + [0] * len(FRIENDLY))


@pytest.mark.parametrize("text", NEW)
def test_what_nobody_sees_changes_no_score_and_no_confidence(insults: tb.Scorer, text: str) -> None:
    hidden = ("\u200b".join(text), "\u00ad".join(text), f"\ufeff{text}\u200e", "\u200c".join(text))
    plain, *others = [card.model_dump(exclude={"metadata"}) for card in insults.cards([text, *hidden])]
    assert others == [plain] * len(others)


@pytest.mark.parametrize("text", NEW)
def test_capitals_change_a_score_by_at_most_ten_points_and_never_the_side(insults: tb.Scorer, text: str) -> None:
    plain, small, capitals = insults.score_texts([text, text.lower(), text.upper()]).tolist()
    assert abs(capitals - plain) <= 10
    assert abs(capitals - small) <= 10
    assert (capitals > 50) == (plain > 50) == (small > 50)


@pytest.mark.parametrize("disguise", HIDDEN)
def test_a_disguise_keeps_the_side_or_is_said_to_be_unlike_the_samples(insults: tb.Scorer, disguise: str) -> None:
    for text in NEW:
        plain, hidden = (card.detail["tone"] for card in insults.cards([text, HIDDEN[disguise](text)]))
        assert (plain.score > 50) == (hidden.score > 50) or hidden.confidence_reason == "unlike_samples"


def test_accents_after_their_letters_change_nothing_in_samples_and_texts() -> None:
    texts, labels = zip(*((text, label) for label, own in GERMAN.items() for text in own), strict=True)
    first, second = (
        tb.Scorer("ton", poles=("unzufrieden", "zufrieden"), effort="low").fit(
            [normalize(form, text) for text in texts], labels
        )
        for form in ("NFC", "NFD")
    )
    scores = first.predict_proba(ACCENTS).tolist()
    for scorer in (first, second):
        assert scorer.predict_proba([normalize("NFD", text) for text in ACCENTS]).tolist() == scores
    assert (
        first.predict_proba(texts).tolist() == first.predict_proba([normalize("NFD", each) for each in texts]).tolist()
    )

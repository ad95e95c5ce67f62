"""The reasons on the Score page: lit in the text, in numbers on request, with the samples that are like the text."""

import re
import unicodedata

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import COLD, WARM, Trained, not_none
from tests.pages.drive import Workbench, html, plain, words
from traitbench.contract.explanations import Explanation
from traitbench.display.reasons import amount, strongest
from traitbench.scoring.words import with_endings

TEXT = f"{WARM[0]} {COLD[0]} <b>No</b> *reply* is needed."
HIGHLIGHT, ADDS = 'class="tb-why"', 'class="tb-adds"'


def explained(trained: Trained, text: str) -> Explanation:
    """The reasons that the service gives."""
    return (trained.client.scores.score(trained.handle, text, explain=True).explanation or {})["warmth"]


def adds(at: AppTest) -> str:
    """The picture of what each part adds."""
    return next(str(each.proto.body) for each in at.get("html") if ADDS in str(each.proto.body))


def test_words_are_lit_in_the_text_and_said_in_a_sentence(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle, text=TEXT)
    assert html(at).count(HIGHLIGHT) == 1
    pulling = strongest(explained(trained, TEXT), TEXT, positive=True)[0]
    assert f"“{pulling}”" in plain(at)
    assert "towards :orange[**warm**]" in words(at), "the colours are said in words too"
    assert ADDS not in html(at), "numbers come on request"


@pytest.mark.parametrize(
    "text",
    [
        "👨‍👩‍👧料理がとても美味しくて、スタッフの方も親切でした👍🏽。部屋は汚くて臭く、全然眠れませんでした。",
        "🇹🇭อาหารอร่อยมาก พนักงานยิ้มแย้มและบริการดี แต่ห้องพักสกปรกและเหม็นอับ",
        "😡 كان الطعام لذيذا جدا، لكن الغرفة قذرة. هل سأعود؟",
        "खाना बहुत स्वादिष्ट था। लेकिन कमरा गंदा था 🙏🏽।",
    ],
    ids=["Japanese", "Thai", "Arabic", "Hindi"],
)
def test_the_words_of_every_script_are_lit_whole(workbench: Workbench, trained: Trained, text: str) -> None:
    at = workbench.open("score", model=trained.handle, text=text)
    lit = next(str(each.proto.body) for each in at.get("html") if HIGHLIGHT in str(each.proto.body))
    spans = re.findall(r"<span[^>]*>([^<]*)</span>", lit)
    assert "".join(spans) == text.replace(" ", "")
    assert len(spans) > 5
    whole = {text[start:end] for start, end in with_endings(text)}
    assert whole >= {span for span in spans if len(span) == min(map(len, spans))}
    assert not [span for span in spans if unicodedata.category(span[0])[0] == "M" or span[0] in "\u200d🏽"]


def test_a_long_text_is_lit_at_once_and_says_that_its_sentences_are(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle, text=f"{TEXT} " * 30)
    assert HIGHLIGHT in html(at)
    assert "so its sentences are lit" in words(at)


def test_what_parts_add_is_the_same_in_the_text_in_numbers_and_in_a_file(
    workbench: Workbench, trained: Trained
) -> None:
    at = workbench.open("score", model=trained.handle, text=TEXT, reasons="true")
    result = explained(trained, TEXT)
    assert "&lt;b&gt;No&lt;/b&gt;" in html(at)
    assert "<b>No" not in html(at)
    lit = html(at).replace(adds(at), "")
    for piece in (piece for part in result.parts for piece in part.pieces or [part]):
        number = amount(piece.contribution, result.unit)
        assert f"{number}</span>" in adds(at)
        assert f'{number}"' in lit
    at.segmented_control(key="adding.by").set_value("By sentences").run()
    for part in result.parts:
        assert f"{amount(part.contribution, result.unit)}</span>" in adds(at)
    labels = [button.proto.label for button in at.get("download_button")]
    assert {"CSV", "JSON"} <= set(labels)


@pytest.mark.parametrize(("times", "lit"), [(1, "By words"), (4, "By sentences")])
def test_a_text_of_sixty_words_is_shown_by_its_sentences(
    workbench: Workbench, trained: Trained, times: int, lit: str
) -> None:
    at = workbench.open("score", model=trained.handle, text=f"{TEXT} " * times, reasons="true")
    assert at.segmented_control(key="adding.by").value == lit


@pytest.mark.parametrize("role", ["author", "scorer"])
def test_samples_like_the_text_are_named_or_it_says_why_not(
    request: pytest.FixtureRequest, trained: Trained, role: str
) -> None:
    workbench: Workbench = request.getfixturevalue("workbench" if role == "author" else "scorer")
    at = workbench.open("score", model=trained.handle, text=WARM[0])
    nearest = not_none(explained(trained, WARM[0]).nearest)
    assert HIGHLIGHT in html(at)
    first = nearest.positive[0]
    assert str(first.text if role == "author" else f"sample {first.id}") in plain(at)
    assert ("may not list the model's samples" in plain(at)) is (role == "scorer")


def test_a_draft_is_explained_by_what_a_training_would_say(workbench: Workbench, draft: str) -> None:
    at = workbench.open("score", model=draft, text=TEXT)
    assert HIGHLIGHT in html(at)
    assert "once the model is trained" in words(at)


def test_of_two_texts_both_are_highlighted_and_either_is_explained(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle, text=WARM[0], against=COLD[0])
    assert html(at).count(HIGHLIGHT) == 2
    at = workbench.open("score", model=trained.handle, text=WARM[0], against=COLD[0], reasons="true")
    assert COLD[0].split()[0] not in adds(at)
    at.segmented_control(key="adding.text").set_value("Second text").run()
    assert COLD[0].split()[0] in adds(at)

"""The reasons on the Score page: on request, highlighted, with the samples that are like the text."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import COLD, WARM, Trained
from tests.pages.drive import Workbench, html, plain, typed, words
from traitbench.contract.explanations import Explanation

TEXT = f"{WARM[0]} {COLD[0]} <b>No</b> *reply* is needed."
HIGHLIGHT = 'class="tb-why"'


def asked(at: AppTest) -> AppTest:
    return at.toggle(key="score.why").set_value(True).run()


def explained(trained: Trained, text: str) -> Explanation:
    """The reasons that the service gives."""
    return (trained.client.scores.score(trained.handle, text, explain=True).explanation or {})["warmth"]


def test_words_are_highlighted_at_once_and_numbers_on_request(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle, text=TEXT)
    assert html(at).count(HIGHLIGHT) == 1
    assert "▲ **warm**: " in words(at), "the colours are said in words too"
    assert "Together its parts point" not in words(at)
    at.toggle(key="score.highlight").set_value(False).run()
    assert HIGHLIGHT not in html(at)
    assert "Together its parts point" in words(asked(at))


def test_a_long_text_is_highlighted_on_request(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle, text=f"{TEXT} " * 30)
    assert HIGHLIGHT not in html(at)
    at.toggle(key="score.highlight").set_value(True).run()
    assert HIGHLIGHT in html(at)
    assert HIGHLIGHT in html(typed(at, f"{TEXT} " * 31))


def test_what_parts_add_is_highlighted_and_also_a_table_and_a_file(workbench: Workbench, trained: Trained) -> None:
    at = asked(workbench.open("score", model=trained.handle, text=TEXT, numbers="true"))
    result = explained(trained, TEXT)
    assert "&lt;b&gt;No&lt;/b&gt;" in html(at)
    assert "<b>No" not in html(at)
    for piece in (piece for part in result.parts for piece in part.pieces or [part]):
        assert f"{piece.contribution:+.2f}".replace("-0.00", "+0.00") in html(at)
    at.segmented_control(key="score.why_by").set_value("sentences").run()
    assert f"{result.parts[0].contribution:+.2f}" in html(at)
    labels = [button.proto.label for button in at.get("download_button")]
    assert "Download reasons (JSON)" in labels
    assert labels.count("CSV") == 2
    at.toggle(key="score.why_as_table").set_value(True).run()
    table = next(each.value for each in at.dataframe if "Part" in each.value)
    sentences = table[table["Part"] == "sentence"]
    assert sentences["Adds"].tolist() == [part.contribution for part in result.parts]
    assert sentences["Text"].tolist() == [part.text for part in result.parts]


@pytest.mark.parametrize("role", ["author", "scorer"])
def test_samples_like_the_text_are_named_or_it_says_why_not(
    request: pytest.FixtureRequest, trained: Trained, role: str
) -> None:
    workbench: Workbench = request.getfixturevalue("workbench" if role == "author" else "scorer")
    at = asked(workbench.open("score", model=trained.handle, text=WARM[0]))
    nearest = explained(trained, WARM[0]).nearest
    assert nearest is not None
    assert HIGHLIGHT in html(at)
    assert f"**{nearest.positive[0].similarity:.2f}** \\#{nearest.positive[0].id}" in words(at)
    assert ("may not list the model's samples" in plain(at)) is (role == "scorer")


def test_a_draft_is_explained_by_what_a_training_would_say(workbench: Workbench, draft: str) -> None:
    at = asked(workbench.open("score", model=draft, text=TEXT))
    assert HIGHLIGHT in html(at)
    assert "once the model is trained" in words(at)


def test_of_two_texts_both_are_highlighted_and_either_is_explained(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle, text=WARM[0], against=COLD[0])
    assert html(at).count(HIGHLIGHT) == 2
    assert WARM[0].split()[0] in html(asked(at))
    at.segmented_control(key="score.why_text").set_value("Second text").run()
    assert "towards **cold**" in words(at)

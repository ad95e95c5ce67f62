"""The reasons on the Score page: on request, highlighted, with the samples that are like the text."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import COLD, WARM, Service, Trained, make_draft
from tests.pages.drive import Workbench, words
from traitbench.client import Traitbench

TEXT = f"{WARM[0]} {COLD[0]} <b>No</b> *reply* is needed."


def asked(at: AppTest) -> AppTest:
    return at.toggle(key="score.why").set_value(True).run()


def html(at: AppTest) -> str:
    return "\n".join(str(each.proto.body) for each in at.get("html"))


def test_the_words_are_highlighted_without_asking_and_the_numbers_on_request(
    workbench: Workbench, trained: Trained
) -> None:
    at = workbench.open("score", model=trained.handle, text=TEXT)
    assert html(at).count('class="tb-why"') == 1
    assert "▲ **warm**: " in words(at), "the colours are said in words too"
    assert "from the middle" not in words(at)
    at.toggle(key="score.highlight").set_value(False).run()
    assert 'class="tb-why"' not in html(at)
    assert "from the middle" in words(asked(at))


def test_a_text_that_takes_long_is_highlighted_on_request_and_that_choice_stays(
    workbench: Workbench, trained: Trained
) -> None:
    at = workbench.open("score", model=trained.handle, text=f"{TEXT} " * 30)
    assert 'class="tb-why"' not in html(at)
    at.toggle(key="score.highlight").set_value(True).run()
    assert 'class="tb-why"' in html(at)
    at.text_area(key="score.text").set_value(f"{TEXT} " * 31).run()
    assert 'class="tb-why"' in html(at)


def test_both_of_two_texts_are_highlighted(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle, text=WARM[0], against=COLD[0])
    assert html(at).count('class="tb-why"') == 2


def test_the_text_is_highlighted_by_what_its_parts_add(workbench: Workbench, trained: Trained) -> None:
    at = asked(workbench.open("score", model=trained.handle, text=TEXT))
    result = (trained.client.scores.score(trained.handle, TEXT, explain=True).explanation or {})["warmth"]
    assert "&lt;b&gt;No&lt;/b&gt;" in html(at)
    assert "<b>No" not in html(at)
    for piece in (piece for part in result.parts for piece in part.pieces or [part]):
        assert f"{piece.contribution:+.2f}".replace("-0.00", "+0.00") in html(at)
    at.segmented_control(key="score.why_by").set_value("sentences").run()
    assert f"{result.parts[0].contribution:+.2f}" in html(at)


def test_the_numbers_are_there_as_a_table(workbench: Workbench, trained: Trained) -> None:
    at = asked(workbench.open("score", model=trained.handle, text=TEXT))
    at.toggle(key="score.why_as_table").set_value(True).run()
    table = at.dataframe[0].value
    result = (trained.client.scores.score(trained.handle, TEXT, explain=True).explanation or {})["warmth"]
    sentences = table[table["Part"] == "sentence"]
    assert sentences["Adds"].tolist() == [part.contribution for part in result.parts]
    assert sentences["Text"].tolist() == [part.text for part in result.parts]


def test_samples_like_the_text_are_shown_by_pole(workbench: Workbench, trained: Trained) -> None:
    at = asked(workbench.open("score", model=trained.handle, text=WARM[0]))
    result = (trained.client.scores.score(trained.handle, WARM[0], explain=True).explanation or {})["warmth"]
    assert result.nearest is not None
    assert f"**{result.nearest.positive[0].similarity:.2f}** \\#{result.nearest.positive[0].id}" in words(at)


def test_a_scoring_key_sees_reasons_and_no_samples(
    monkeypatch: pytest.MonkeyPatch, service: Service, trained: Trained
) -> None:
    scorer = Workbench(monkeypatch, service, service.issue("scoring", ("trained",)))
    at = asked(scorer.open("score", model=trained.handle, text=WARM[0]))
    assert "tb-why" in html(at)
    assert "may not list the model's samples" in words(at).replace("\\", "")


def test_a_draft_is_explained_by_what_a_training_would_say(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    make_draft(client, f"{namespace}.tone")
    at = asked(workbench.open("score", model=f"{namespace}.tone", text=TEXT))
    assert "tb-why" in html(at)
    assert "once the model is trained" in words(at)


def test_either_of_two_texts_is_explained(workbench: Workbench, trained: Trained) -> None:
    at = asked(workbench.open("score", model=trained.handle, text=WARM[0], against=COLD[0]))
    assert WARM[0].split()[0] in html(at)
    at.segmented_control(key="score.why_text").set_value("Second text").run()
    assert "towards **cold**" in words(at)


def test_all_reasons_can_be_taken_along(workbench: Workbench, trained: Trained) -> None:
    at = asked(workbench.open("score", model=trained.handle, text=TEXT, numbers="true"))
    labels = [button.proto.label for button in at.get("download_button")]
    assert "Download reasons (JSON)" in labels
    assert labels.count("CSV") == 2

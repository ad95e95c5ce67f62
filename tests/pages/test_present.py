"""The presentation without a browser: what is on screen, what teaching changes, and that nothing of it is stored."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import Trained
from tests.pages.drive import Workbench, components
from traitbench.client import Traitbench
from traitbench.local import preview
from traitbench_app.parts.teaching import Taught
from traitbench_app.workspace import rooms

TEXT = "The lamp on the desk is green."


def presented(at: AppTest) -> dict[str, Any]:
    """What the presentation is given to draw."""
    return components(at, "present")[0]


def said(row: dict[str, object]) -> str:
    """The sentence below the bar."""
    return "".join(words for words, _ in row["says"])  # type: ignore[attr-defined]


def test_the_models_own_list_is_shown_under_the_question_of_its_trait(
    workbench: Workbench, client: Traitbench, draft: str
) -> None:
    client.models.update(draft, demo_texts=["A first text.", "A second text."])
    at = workbench.open("score", model=draft, present="1")
    shown = presented(at)
    assert (shown["text"], shown["model"], shown["examples"]) == ("A first text.", f"{draft}, draft", True)
    (row,) = shown["rows"]
    assert "".join(words for words, _ in row["title"]) == "Cold or warm?"
    assert (row["negative"], row["positive"]) == ("cold", "warm")
    assert not at.title, "nothing but the presentation"
    at.session_state["score.text"] = "My own text."
    assert presented(at.run())["text"] == "My own text."


def test_teaching_moves_the_bar_from_the_versions_score_and_is_stored_nowhere(
    workbench: Workbench, trained: Trained
) -> None:
    before = list(trained.client.samples.list(trained.handle))
    now = trained.client.scores.score(trained.handle, TEXT).detail["warmth"].score
    scores = {}
    for positive in (True, False):
        at = workbench.open("score", model=trained.handle, present="1", text=TEXT)
        at.session_state[f"present.taught:{trained.handle}"] = (Taught("warmth", TEXT, positive),)
        at.session_state["present.moved"] = ("taught", "warmth")
        shown = presented(at.run())
        assert shown["taught_say"] == "1 text taught · Nothing is stored"
        row = shown["rows"][0]
        assert row["before"] == {"caption": "was", "score": now}
        assert said(row).startswith(f"Taught as {'warm' if positive else 'cold'}. Changed most: “")
        scores[positive] = row["score"]
    assert scores[True] > now > scores[False]
    assert list(trained.client.samples.list(trained.handle)) == before


def test_the_bar_slides_from_another_version_and_from_another_text(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("score", model=twice.handle, version="v2", present="1", text=TEXT)
    score = twice.client.scores.score
    assert presented(at)["rows"][0]["before"] is None
    at.session_state["present.moved"] = ("version", "v1")
    first = score(f"{twice.handle}@v1", TEXT).detail["warmth"].score
    assert presented(at.run())["rows"][0]["before"] == {"caption": "v1", "score": first}
    at.session_state["score.against"] = "Thank you, my dear friend!"
    at.session_state["present.side"] = "B"
    at.session_state["present.moved"] = ("text", "A")
    row = presented(at.run())["rows"][0]
    assert row["before"] == {"caption": "first text", "score": score(f"{twice.handle}@v2", TEXT).detail["warmth"].score}
    assert row["score"] == score(f"{twice.handle}@v2", "Thank you, my dear friend!").detail["warmth"].score


def test_a_score_without_a_side_says_so_and_why(workbench: Workbench, trained: Trained) -> None:
    card = trained.client.scores.score(trained.handle, "zqx 17")
    assert card.detail["warmth"].confidence == "low"
    row = presented(workbench.open("score", model=trained.handle, present="1", text="zqx 17"))["rows"][0]
    assert (row["side"], row["sure"]) == ("", "low")
    assert said(row).startswith("It cannot tell. ")


def test_what_cannot_be_scored_is_said_instead_of_a_score(
    workbench: Workbench, draft: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise preview.PreviewUnavailable("There is no encoder here.")

    monkeypatch.setattr(preview, "rehearse", refuse)
    shown = presented(workbench.open("score", model=draft, present="1", text=TEXT))
    assert shown["problem"] == "There is no encoder here."
    assert shown["rows"][0]["score"] is None


def test_a_room_sends_texts_only_where_the_operator_and_the_presenter_let_it(
    workbench: Workbench, trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert presented(workbench.open("score", model=trained.handle, present="1"))["room"] == {}
    monkeypatch.setenv("TRAITBENCH_ROOM_URL", "http://localhost:8501")
    at = workbench.open("score", model=trained.handle, present="1")
    assert presented(at)["room"] == {"open": False}
    room = rooms.open_room()
    at.session_state["present.room"] = room.token
    room.send("A text of the room.", "192.0.2.1")
    shown = presented(at.run())
    assert shown["room"]["address"] == f"http://localhost:8501/room/{room.token}"
    assert shown["room"]["code"].startswith("<svg")
    assert shown["room"]["waiting"] == "1 sent: “A text of…” (19 characters)"
    assert shown["text"] != "A text of the room.", "it waits"
    rooms.close(room.token)
    assert presented(at.run())["room"] == {"open": False}

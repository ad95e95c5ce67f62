"""Present mode without a browser: what is shown, what a lesson changes, and that nothing of it is stored."""

from tests.conftest import Trained
from tests.pages.drive import Workbench, bars, typed, words
from traitbench.client import Traitbench
from traitbench_app.score.teaching import Taught

TEXT = "The lamp on the desk is green."


def test_the_models_own_list_is_shown_and_the_text_stays(workbench: Workbench, client: Traitbench, draft: str) -> None:
    client.models.update(draft, demo_texts=["A first text.", "A second text."])
    at = workbench.open("score", model=draft, present="1")
    assert at.text_area(key="score.text").value == "A first text."
    assert "Text 1 of 2. Press **?** for the keys." in words(at)
    ((row,),) = bars(at)
    assert (row["name"], row["negative"], row["positive"]) == ("Warmth", "cold", "warm")
    assert not at.title, "nothing but the text and its bars"
    assert "of 2" not in words(typed(at, "My own text."))


def test_a_lesson_moves_the_bar_at_once_and_is_stored_nowhere(workbench: Workbench, trained: Trained) -> None:
    before = list(trained.client.samples.list(trained.handle))
    scores = {}
    for positive in (True, False):
        at = workbench.open("score", model=trained.handle, present="1", text=TEXT)
        at.session_state[f"present.taught:{trained.handle}"] = (Taught("warmth", TEXT, positive),)
        at.run()
        assert not at.exception
        assert "1 text taught here\\. Nothing is stored\\." in words(at)
        scores[positive] = bars(at)[0][0]["score"]
    assert scores[True] > scores[False]
    assert list(trained.client.samples.list(trained.handle)) == before


def test_a_version_is_shown_beside_another_and_not_beside_itself(workbench: Workbench, twice: Trained) -> None:
    at = workbench.open("score", model=twice.handle, version="v2", present="1", text=TEXT)
    for other, drawn in (("v1", 2), ("v2", 1)):
        at.session_state["present.other"] = other
        at.run()
        assert not at.exception
        assert len(bars(at)) == drawn

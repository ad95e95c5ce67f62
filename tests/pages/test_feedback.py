"""Feedback on a score: chosen, asked about, sent, undone, learned, shown on Samples; and where there is none, why."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import ButtonGroup

from tests.conftest import Service, Trained
from tests.pages.drive import (
    KIND,
    UNKIND,
    Workbench,
    away,
    buttons,
    end_badly,
    hold_busy,
    links,
    press,
    typed,
    words,
)
from traitbench.client import Traitbench
from traitbench.contract.models import Progress
from traitbench.contract.samples import Sample


def form(workbench: Workbench, handle: str, text: str = UNKIND) -> AppTest:
    """The Score page with the form for feedback open."""
    at = workbench.open("score", model=handle, text=text)
    at.session_state["score.feedback"] = True
    return at.run()


def choices(at: AppTest) -> ButtonGroup[Any]:
    (results,) = [group for group in at.segmented_control if str(group.key).startswith("score.feedback:")]
    return results


def send(at: AppTest, choice: str) -> AppTest:
    choices(at).set_value(choice).run()
    return press(press(at, "score.feedback.send"), "score.send.yes")


def fed_back(client: Traitbench, handle: str) -> list[Sample]:
    return [sample for sample in client.samples.list(handle) if sample.provenance == "score_feedback"]


# ---- sending ---------------------------------------------------------------------------------------------------------


def test_a_chosen_pole_is_asked_about_sent_and_waits(workbench: Workbench, client: Traitbench, ready: str) -> None:
    at = form(workbench, ready)
    assert choices(at).options == ["▼ cold", "■ in between", "warm ▲", "exactly …"]
    assert at.button(key="score.feedback.send").disabled
    choices(at).set_value("positive").run()
    press(at, "score.feedback.send")
    assert "You can undo it until it is learned" in words(at)
    assert "Warmth **100**, warm (scored" in words(at)
    assert fed_back(client, ready) == [], "nothing goes before the question is answered"
    press(at, "score.send.yes")
    (sample,) = fed_back(client, ready)
    assert (sample.trait, sample.quality, sample.text) == ("warmth", 1.0, UNKIND)
    assert "Sent for this text: Warmth **100**, warm. Request `req_" in words(at)
    assert at.progress[0].proto.text == "1 correction of 10"
    assert "Learned after 10 corrections, or in 5 min. Due within 5 min." in words(at)
    assert choices(at).value is None


def test_a_number_is_given_exactly_or_not_sent_after_all(workbench: Workbench, client: Traitbench, ready: str) -> None:
    at = form(workbench, ready)
    choices(at).set_value("exact").run()
    assert at.slider[0].value == client.scores.score(ready, UNKIND).scores["warmth"]
    at.slider[0].set_value(31).run()
    press(press(at, "score.feedback.send"), "score.send.no")
    assert fed_back(client, ready) == []
    press(press(at, "score.feedback.send"), "score.send.yes")
    assert [sample.quality for sample in fed_back(client, ready)] == [0.31]


def test_the_rows_are_drawn_when_somebody_opens_them(workbench: Workbench, trained: Trained) -> None:
    assert not workbench.open("score", model=trained.handle, text=UNKIND).segmented_control
    assert choices(form(workbench, trained.handle)).value is None


def test_a_choice_belongs_to_its_text_and_outlives_other_feedback(workbench: Workbench, ready: str) -> None:
    at = form(workbench, ready, KIND)
    choices(at).set_value("positive").run()
    assert choices(typed(at, UNKIND)).value is None
    send(at, "negative")
    assert choices(typed(at, KIND)).value == "positive"


def test_feedback_can_be_undone_until_it_is_learned(workbench: Workbench, client: Traitbench, ready: str) -> None:
    at = press(send(form(workbench, ready), "negative"), "score.feedback.undo")
    assert fed_back(client, ready) == []
    assert "Sent for this text" not in words(at)
    send(at, "positive")
    client.models.retrain(ready)
    client.models.wait(ready)
    at.run()
    assert "Sent for this text" in words(at)
    assert not buttons(at, "score.feedback.undo"), "a version has learned it"


def test_a_choice_is_still_there_when_the_service_is_back(
    monkeypatch: pytest.MonkeyPatch, service: Service, client: Traitbench, ready: str, namespace: str
) -> None:
    key = service.issue(namespaces=(namespace,))
    at = form(Workbench(monkeypatch, service, key), ready)
    choices(at).set_value("negative").run()
    press(at, "score.feedback.send")
    away(monkeypatch, service)
    assert "The service does not answer" in words(press(at, "score.send.yes"))
    Workbench(monkeypatch, service, key)
    assert choices(at.run()).value == "negative"
    assert fed_back(client, ready) == []


# ---- learning --------------------------------------------------------------------------------------------------------


def test_the_tenth_starts_a_retraining(workbench: Workbench, client: Traitbench, ready: str) -> None:
    for number in range(9):
        client.scores.score(ready, f"{UNKIND} This is notice {number}.", feedback={"warmth": 0})
    at = form(workbench, ready)
    assert at.progress[0].value == 90
    send(at, "negative")
    assert client.models.wait(ready).version_no == 2
    at.run()
    assert "**v2 is in use.** It has learned the corrections. You can switch back to v1" in words(at)
    assert "Compare v1 with v2" in links(at)
    assert not at.progress, "nothing waits any more"
    assert at.selectbox(key="version").label == "Scored with v2"


def test_during_a_retraining_the_old_version_scores(workbench: Workbench, service: Service, ready: str) -> None:
    progress = Progress(phase="learning", done=0, total=1, fraction=0.5, elapsed_s=3.0, eta_s=3.0)
    run_id = hold_busy(service.context, ready, progress, kind="retrain")
    at = workbench.open("score", model=ready, text=UNKIND)
    assert "Learning corrections: about 3 s left." in words(at)
    assert at.selectbox(key="version").label == "Scored with v1"
    end_badly(service.context, run_id, "The disk is full.")
    at.run()
    assert "**The corrections could not be learned.** The disk is full\\. v1 keeps scoring" in words(at)


def test_after_a_purge_it_says_why_nothing_is_learned(workbench: Workbench, client: Traitbench, ready: str) -> None:
    client.models.update(ready, zero_data_retention=True)
    client.models.update(ready, zero_data_retention=False)
    client.scores.score(ready, UNKIND, feedback={"warmth": 0})
    at = workbench.open("score", model=ready, text=UNKIND)
    assert at.progress[0].proto.text == "1 correction of 10"
    assert "a new version would be without them" in words(at)


def test_on_a_text_that_no_sample_can_hold_there_is_none(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle, text="Hi. " * 12_501)
    (reason,) = [caption.value for caption in at.caption if "**No feedback possible.**" in caption.value]
    assert "at most 50,000 characters" in reason
    assert not at.get("segmented_control")


# ---- on other pages --------------------------------------------------------------------------------------------------


@pytest.fixture
def waiting(client: Traitbench, ready: str) -> str:
    """A model with one version and two lines of feedback."""
    for text, quality in ((KIND, 1.0), (UNKIND, 0.0)):
        client.scores.score(ready, text, feedback={"warmth": quality})
    return ready


def test_on_samples_it_is_shown_withdrawn_and_trained(workbench: Workbench, client: Traitbench, waiting: str) -> None:
    first, second = client.samples.list(waiting, pending=True)
    at = workbench.open("samples", model=waiting)
    assert "Waiting feedback (2)" in words(at)
    assert f"Warmth: scored {first.score_then}, should be 100." in words(at)
    press(at, f"samples.feedback.withdraw:{second.id}")
    assert [sample.id for sample in client.samples.list(waiting, pending=True)] == [first.id]
    assert "Waiting feedback (1)" in words(at)
    press(at, "samples.feedback.undo")
    left = [(each.text, each.quality) for each in client.samples.list(waiting, pending=True)]
    assert sorted(left) == [(KIND, 1.0), (UNKIND, 0.0)]
    assert "Waiting feedback (2)" in words(at)
    assert not buttons(at, "samples.feedback.undo")
    for held in (True, False):
        at.toggle[0].set_value(held).run()
        assert client.models.get(waiting).hold_if_worse is held
    press(at, "samples.feedback.retrain")
    assert client.models.wait(waiting).version_no == 2
    assert "Waiting feedback" not in words(workbench.open("samples", model=waiting))


def test_a_return_is_one_click_and_so_is_its_undo(workbench: Workbench, client: Traitbench, waiting: str) -> None:
    client.models.retrain(waiting)
    assert client.models.wait(waiting).version_no == 2
    at = workbench.open("versions", model=waiting, record="true")
    assert "learned corrections by" in words(at)
    press(at, "versions.timeline_return")
    assert client.models.get(waiting).version_no == 1
    assert at.button(key="versions.timeline_return").label == "Undo: back to v2"
    press(at, "versions.timeline_return")
    assert client.models.get(waiting).version_no == 2
    causes = [each.cause for each in client.versions.activations(waiting)]
    assert causes[:3] == ["activate", "activate", "retrain"]

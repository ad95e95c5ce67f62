"""Feedback on a score: chosen, asked about, sent, waiting and learnt; and where there is none, why."""

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button, ButtonGroup

from tests.conftest import Service, Trained, free_port, make_draft
from tests.pages.drive import Workbench, end_badly, hold_busy, links, words
from traitbench.client import Traitbench
from traitbench.contract.models import Progress
from traitbench.contract.samples import Sample

KIND = "Thank you so much, it was lovely to hear from you."
UNKIND = "Your request is denied. Do not write again."


@pytest.fixture
def handle(client: Traitbench, namespace: str) -> str:
    """A model with one version, to be taught."""
    return taught(client, f"{namespace}.tone")


@pytest.fixture
def public(service: Service) -> Iterator[str]:
    """A model that everybody may read."""
    with Traitbench(service.base_url, service.issue(namespaces=("demo",))) as owner:
        yield taught(owner, "demo.for-feedback")
        owner.models.delete("demo.for-feedback")


# ---- sending ---------------------------------------------------------------------------------------------------------


def test_what_is_chosen_by_the_names_of_the_poles_is_asked_about_sent_and_waits(
    workbench: Workbench, client: Traitbench, handle: str
) -> None:
    at = wrong(workbench.open("score", model=handle, text=UNKIND))
    assert choices(at).options == ["▼ cold", "■ in between", "warm ▲", "exactly …"]
    assert at.button(key="score.feedback.send").disabled
    choices(at).set_value("positive").run()
    at.button(key="score.feedback.send").click().run()
    assert "You can undo it until the next retraining" in words(at)
    assert "Warmth **100**, warm (scored" in words(at)
    assert fed_back(client, handle) == [], "nothing goes before the question is answered"
    at.button(key="score.send.yes").click().run()
    (sample,) = fed_back(client, handle)
    assert (sample.trait, sample.quality, sample.text) == ("warmth", 1.0, UNKIND)
    assert "Sent for this text: Warmth **100**, warm. Request `req_" in words(at)
    assert at.progress[0].proto.text == "1 sample of feedback; 10 start a retraining"
    assert "when 10 are pending or the oldest has waited 5 min" in words(at)
    assert choices(at).value is None


def test_a_number_can_be_given_exactly_and_nothing_is_sent_on_second_thoughts(
    workbench: Workbench, client: Traitbench, handle: str
) -> None:
    at = wrong(workbench.open("score", model=handle, text=UNKIND))
    choices(at).set_value("exact").run()
    assert at.slider[0].value == client.scores.score(handle, UNKIND).scores["warmth"]
    at.slider[0].set_value(31).run()
    at.button(key="score.feedback.send").click().run()
    at.button(key="score.send.no").click().run()
    assert fed_back(client, handle) == []
    at.button(key="score.feedback.send").click().run()
    at.button(key="score.send.yes").click().run()
    assert [sample.quality for sample in fed_back(client, handle)] == [0.31]


def test_the_rows_are_drawn_when_somebody_opens_them(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", model=trained.handle, text=UNKIND)
    assert not at.segmented_control
    assert choices(wrong(at)).value is None


def test_a_choice_belongs_to_its_text(workbench: Workbench, trained: Trained) -> None:
    at = wrong(workbench.open("score", model=trained.handle, text=UNKIND))
    choices(at).set_value("negative").run()
    at.text_area(key="score.text").set_value(KIND).run()
    assert choices(at).value is None
    at.text_area(key="score.text").set_value(UNKIND).run()
    assert choices(at).value == "negative"


def test_a_choice_for_one_text_stays_when_feedback_on_another_is_sent(
    workbench: Workbench, client: Traitbench, handle: str
) -> None:
    at = wrong(workbench.open("score", model=handle, text=KIND))
    choices(at).set_value("positive").run()
    at.text_area(key="score.text").set_value(UNKIND).run()
    choices(at).set_value("negative").run()
    at.button(key="score.feedback.send").click().run()
    at.button(key="score.send.yes").click().run()
    at.text_area(key="score.text").set_value(KIND).run()
    assert choices(at).value == "positive"


def test_feedback_can_be_undone_until_it_is_learned(workbench: Workbench, client: Traitbench, handle: str) -> None:
    at = wrong(workbench.open("score", model=handle, text=UNKIND))
    choices(at).set_value("negative").run()
    at.button(key="score.feedback.send").click().run()
    at.button(key="score.send.yes").click().run()
    (undo,) = undo_buttons(at)
    undo.click().run()
    assert fed_back(client, handle) == []
    assert "Sent for this text" not in words(at)
    choices(at).set_value("positive").run()
    at.button(key="score.feedback.send").click().run()
    at.button(key="score.send.yes").click().run()
    client.models.retrain(handle)
    client.models.wait(handle)
    at.run()
    assert "Sent for this text" in words(at)
    assert not undo_buttons(at), "a version has learned it"


def test_a_choice_is_still_there_when_the_service_is_back(
    monkeypatch: pytest.MonkeyPatch, service: Service, client: Traitbench, handle: str, namespace: str
) -> None:
    key = service.issue(namespaces=(namespace,))
    at = wrong(Workbench(monkeypatch, service, key).open("score", model=handle, text=UNKIND))
    choices(at).set_value("negative").run()
    at.button(key="score.feedback.send").click().run()
    Workbench(monkeypatch, service, key, base_url=f"http://127.0.0.1:{free_port()}")
    at.button(key="score.send.yes").click().run()
    assert "The service does not answer" in words(at)
    Workbench(monkeypatch, service, key)
    at.run()
    assert choices(at).value == "negative"
    assert fed_back(client, handle) == []


# ---- learning --------------------------------------------------------------------------------------------------------


def test_the_tenth_starts_a_retraining_and_the_page_says_which_version_scores_then(
    workbench: Workbench, client: Traitbench, handle: str
) -> None:
    for number in range(9):
        client.scores.score(handle, f"{UNKIND} This is notice {number}.", feedback={"warmth": 0})
    at = wrong(workbench.open("score", model=handle, text=UNKIND))
    assert at.progress[0].value == 90
    choices(at).set_value("negative").run()
    at.button(key="score.feedback.send").click().run()
    at.button(key="score.send.yes").click().run()
    assert client.models.wait(handle).version_no == 2
    at.run()
    assert not at.exception
    assert "**v2 is active.** It was retrained with feedback. You can switch back to v1" in words(at)
    assert "Compare v1 with v2" in links(at)
    assert not at.progress, "nothing waits any more"
    assert "Preview with v2" in words(at)


def test_a_running_retraining_is_shown_while_the_old_version_scores(
    workbench: Workbench, service: Service, client: Traitbench, handle: str
) -> None:
    progress = Progress(phase="learning", done=0, total=1, fraction=0.5, elapsed_s=3.0, eta_s=3.0)
    run_id = hold_busy(service.context, handle, progress, kind="retrain")
    at = workbench.open("score", model=handle, text=UNKIND)
    assert "Retraining from feedback" in words(at)
    assert (at.progress[0].value, "Preview with v1" in words(at)) == (50, True)
    end_badly(service.context, run_id, "The disk is full.")
    at.run()
    assert "**Retraining from feedback failed.** The disk is full\\. v1 keeps scoring" in words(at)


def test_after_a_purge_nothing_is_learnt_by_itself_and_the_page_says_why(
    workbench: Workbench, client: Traitbench, handle: str
) -> None:
    client.models.update(handle, zero_data_retention=True)
    client.models.update(handle, zero_data_retention=False)
    client.scores.score(handle, UNKIND, feedback={"warmth": 0})
    at = workbench.open("score", model=handle, text=UNKIND)
    assert at.progress[0].proto.text == "1 sample of feedback; 10 start a retraining"
    assert "a new version would be fitted without them" in words(at)


# ---- none ------------------------------------------------------------------------------------------------------------


def test_under_zero_retention_there_is_none(workbench: Workbench, client: Traitbench, handle: str) -> None:
    client.models.update(handle, zero_data_retention=True)
    assert "Zero data retention is on" in no_feedback(workbench.open("score", model=handle, text=KIND))


def test_with_a_scoring_key_there_is_none(monkeypatch: pytest.MonkeyPatch, service: Service, trained: Trained) -> None:
    scorer = Workbench(monkeypatch, service, service.issue("scoring", ("trained",)))
    assert "Use a key of scope `authoring`" in no_feedback(scorer.open("score", model=trained.handle, text=KIND))


def test_on_a_model_of_others_there_is_none(workbench: Workbench, public: str) -> None:
    assert "does not own the namespace *demo*" in no_feedback(workbench.open("score", model=public, text=KIND))


def test_on_a_text_that_no_sample_can_hold_there_is_none(workbench: Workbench, trained: Trained) -> None:
    assert "at most 50,000 characters" in no_feedback(
        workbench.open("score", model=trained.handle, text="Hi. " * 12_501)
    )


def test_a_draft_is_taught_by_samples_instead(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    make_draft(client, f"{namespace}.new")
    at = workbench.open("score", model=f"{namespace}.new", text=KIND)
    assert "once the model is trained" in words(at)
    assert not at.get("segmented_control")


def taught(client: Traitbench, handle: str) -> str:
    make_draft(client, handle)
    client.models.train(handle)
    client.models.wait(handle)
    return handle


def wrong(at: AppTest) -> AppTest:
    """The page with the form open."""
    at.session_state["score.feedback"] = True
    return at.run()


def choices(at: AppTest) -> ButtonGroup[Any]:
    (results,) = [group for group in at.segmented_control if str(group.key).startswith("score.feedback:")]
    return results


def undo_buttons(at: AppTest) -> list[Button]:
    return [button for button in at.button if str(button.key).startswith("score.feedback.undo")]


def no_feedback(at: AppTest) -> str:
    """Why there is none."""
    assert not at.exception
    assert not at.get("segmented_control")
    (reason,) = [caption.value for caption in at.caption if "**No feedback possible.**" in caption.value]
    return str(reason)


def fed_back(client: Traitbench, handle: str) -> list[Sample]:
    return [sample for sample in client.samples.list(handle) if sample.provenance == "score_feedback"]

"""Label mode: texts are brought, labelled, saved, undone and kept, in every state of a model.

The keys are tested in a browser; here answers are handed over as the component sends them.
"""

from collections.abc import Sequence
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.processes import eventually
from tests.app.workspace.earlier import write_earlier
from tests.conftest import WARM, Service, free_port
from tests.pages.drive import Workbench, copied_link, end_badly, hold_busy, labeller, next_step, press, words
from tests.patience import PATIENCE_S
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput, text_hash
from traitbench.contract.traits import TraitInput
from traitbench_app.workspace.earlier_pool import FILE

TEXTS = ("You are a star, thank you!", "Go away and stay away.", "It is raining in the hills.", "Form 7 is enclosed.")


def bring(workbench: Workbench, handle: str, texts: Sequence[str] = TEXTS) -> AppTest:
    """The page after these lines were pasted."""
    at = workbench.open("label", model=handle)
    at.segmented_control(key="label.bring.from").set_value("Pasted lines").run()
    at.text_area[0].set_value("\n".join(texts)).run()
    return press(at, "label.bring.add")


def offered(at: AppTest) -> list[str]:
    """The texts that the labeller was given."""
    return [item["text"] for item in labeller(at)["items"]]


def answer(handle: str, *answers: tuple[str, str, float | None]) -> AppTest:
    """Hand answers over, (text, action, quality), in a session of their own."""

    def script(handle: str, given: "list[tuple[Any, ...]]") -> None:
        import streamlit as st

        from traitbench.contract.samples import text_hash
        from traitbench.local.labeller import LabelAnswer
        from traitbench_app.label import saving
        from traitbench_app.shell.service import client
        from traitbench_app.workspace import pool

        try:
            model = client().models.get(handle)
            st.session_state["model"] = model
        except Exception as error:
            st.session_state["error"] = error
            return
        numbered = enumerate(given, start=1)
        st.session_state["saved"] = saving.take(
            model,
            [LabelAnswer(n, f"{text_hash(text)}:warmth", action, quality) for n, (text, action, quality) in numbered],
        )
        st.session_state["pending"] = sum(each.pending for each in pool.decisions(model))

    return AppTest.from_function(script, args=(handle, list(answers)), default_timeout=PATIENCE_S).run()


def labels(client: Traitbench, handle: str) -> dict[str, float]:
    """The labels that the service has of the texts of this file."""
    return {each.text: each.quality for each in client.samples.list(handle) if each.text in TEXTS}


def test_pasted_texts_are_offered_and_survive_the_session(workbench: Workbench, draft: str, service: Service) -> None:
    assert "Paste a text first." in words(bring(workbench, draft, ()))
    at = bring(workbench, draft, (*TEXTS, TEXTS[0], WARM[0], "  "))
    assert sorted(offered(at)) == sorted(TEXTS), "no text twice, none that is a sample already"
    assert (labeller(at)["done"], labeller(at)["total"], labeller(at)["saved"]) == (0, 4, 0)
    item = labeller(at)["items"][0]
    assert (item["trait"], item["negative"]["label"], item["positive"]["label"]) == ("Warmth", "cold", "warm")
    assert sorted(offered(workbench.open("label", model=draft))) == sorted(TEXTS)
    assert not (service.settings.home / FILE).exists(), "the service keeps them"


def test_answers_become_samples_once_and_can_be_undone(workbench: Workbench, client: Traitbench, draft: str) -> None:
    bring(workbench, draft)
    given = [(TEXTS[0], "label", 1.0), (TEXTS[1], "label", 0.0), (TEXTS[2], "skip", None), (TEXTS[3], "label", 0.67)]
    answer(draft, *given)
    assert labels(client, draft) == {TEXTS[0]: 1.0, TEXTS[1]: 0.0, TEXTS[3]: 0.67}
    answer(draft, *given)
    assert len(list(client.samples.list(draft))) == 20 + 3, "answers that arrive again after a reload are known"
    at = workbench.open("label", model=draft)
    assert (offered(at), labeller(at)["done"], labeller(at)["saved"]) == ([], 4, 3)
    assert offered(press(at, "label.skipped")) == [TEXTS[2]]
    answer(draft, (TEXTS[0], "undo", None), (TEXTS[1], "undo", None), (TEXTS[1], "label", 1.0))
    assert labels(client, draft) == {TEXTS[1]: 1.0, TEXTS[3]: 0.67}


def test_the_label_of_another_is_not_overwritten(workbench: Workbench, client: Traitbench, draft: str) -> None:
    bring(workbench, draft)
    client.samples.add(draft, [SampleInput(trait="warmth", text=text, quality=0.0) for text in TEXTS[:2]])
    at = answer(draft, (TEXTS[0], "label", 1.0), (TEXTS[1], "label", 0.0))
    (conflict,) = at.session_state["saved"].conflicts
    assert (conflict.decision.hash, conflict.sample.quality) == (text_hash(TEXTS[0]), 0.0)
    assert at.session_state["pending"] == 1
    assert labels(client, draft) == {TEXTS[0]: 0.0, TEXTS[1]: 0.0}
    assert len(list(client.samples.list(draft))) == 22, "the same label is not saved twice"
    reloaded = workbench.open("label", model=draft)
    assert "Someone else labelled 1 text differently." in words(reloaded)
    place = f"label.conflict.{text_hash(TEXTS[0])[:16]}.warmth"
    choices = [reloaded.button(key=f"{place}.{whose}").label for whose in ("theirs", "mine")]
    assert choices == ["Keep theirs: cold", "Use mine: warm"]
    answer(draft, (TEXTS[1], "undo", None))
    assert labels(client, draft)[TEXTS[1]] == 0.0, "to undo a decision never removes what somebody else saved"


def test_an_answer_that_is_not_saved_is_said_and_saved_when_it_comes_again(
    workbench: Workbench, client: Traitbench, draft: str, service: Service
) -> None:
    bring(workbench, draft)
    run_id = hold_busy(service.context, draft)
    at = answer(draft, (TEXTS[0], "label", 1.0), (TEXTS[1], "skip", None))
    assert at.session_state["saved"].error is not None
    assert at.session_state["saved"].unsaved == 1, "the browser keeps it"
    assert labels(client, draft) == {}
    waiting = workbench.open("label", model=draft)
    assert not labeller(waiting)
    assert "You can label again when the run is done." in words(waiting)
    end_badly(service.context, run_id, "A test ended it.")
    assert answer(draft, (TEXTS[0], "label", 1.0), (TEXTS[1], "skip", None)).session_state["saved"].unsaved == 0
    assert labeller(workbench.open("label", model=draft))["saved"] == 1
    assert labels(client, draft) == {TEXTS[0]: 1.0}


def test_a_trained_model_takes_labels_as_feedback(workbench: Workbench, client: Traitbench, ready: str) -> None:
    assert sorted(offered(bring(workbench, ready))) == sorted(TEXTS)
    answer(ready, (TEXTS[0], "label", 1.0))
    (sample,) = client.samples.list(ready, pending=True)
    assert (sample.text, sample.quality, sample.provenance) == (TEXTS[0], 1.0, "score_feedback")
    answer(ready, (TEXTS[0], "undo", None))
    assert list(client.samples.list(ready, pending=True)) == []


def test_a_colleague_sees_the_texts_and_labels_with_decisions_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
    service: Service,
    workbench: Workbench,
    client: Traitbench,
    draft: str,
    namespace: str,
) -> None:
    bring(workbench, draft)
    answer(draft, (TEXTS[0], "label", 1.0), (TEXTS[1], "skip", None))
    at = Workbench(monkeypatch, service, service.issue(namespaces=(namespace,))).open("label", model=draft)
    assert sorted(offered(at)) == sorted(TEXTS[1:]), "what has a label needs none, what one skipped another may know"
    answer(draft, (TEXTS[1], "label", 0.0))
    everyone = client.texts.decisions(draft, everyone=True)
    assert sorted(str(each.quality) for each in everyone) == ["0.0", "1.0", "None"]


def test_what_would_help_is_said_as_on_train_and_on_the_dashboard(workbench: Workbench, ready: str) -> None:
    bring(workbench, ready)
    for page in ("label", "train", "model"):
        assert "Add texts on both sides first: 10 of each are too few" in words(workbench.open(page, model=ready)), page


def test_a_short_pole_comes_first_by_a_button(workbench: Workbench, client: Traitbench, draft: str) -> None:
    client.samples.add(
        draft, [SampleInput(trait="warmth", text=f"{WARM[0]} Number {n}.", quality=1.0) for n in range(40)]
    )
    at = bring(workbench, draft)
    assert "Few cold texts (10 of 60)." in words(at)
    assert next_step(at) == "Lowest scores first"
    press(at, "head.step")
    assert at.selectbox(key="queue").value == "bottom"
    assert labeller(at)["run"].endswith("bottom")
    assert "They come first now." in words(at)


def test_enough_labels_are_good_enough_to_train_with_a_key(workbench: Workbench, draft: str) -> None:
    bring(workbench, draft)
    assert eventually(lambda: "from few samples." in words(workbench.open("label", model=draft)))
    at = workbench.open("label", model=draft)
    assert "Enough to train: " in words(at)
    assert "Always guessing one side would get 10" in words(at)
    assert next_step(at) == "Train"
    assert at.button(key="head.step").proto.shortcut == "t"


def test_under_zero_retention_texts_are_in_the_tab_only(
    workbench: Workbench, client: Traitbench, draft: str, service: Service
) -> None:
    before, secret = "a text of before zero retention", "a sentence that nobody may keep"
    bring(workbench, draft, (before,))
    client.models.update(draft, zero_data_retention=True)
    assert "the texts are kept only until you close this tab" in words(workbench.open("label", model=draft))
    at = bring(workbench, draft, (secret,))
    assert (offered(at), labeller(at)["keep"]) == ([secret], "")
    assert not labeller(workbench.open("label", model=draft)), "another session has none"
    written = b"".join(each.read_bytes() for each in service.settings.home.glob("traitbench.db*"))
    assert secret.encode() not in written
    assert before.encode() not in written


def test_texts_that_an_earlier_release_kept_are_taken_over_once(
    workbench: Workbench, client: Traitbench, draft: str, service: Service
) -> None:
    path = service.settings.home / FILE
    decided = [("warmth", TEXTS[0], 1.0, None), ("warmth", TEXTS[1], None, None), ("warmth", TEXTS[2], 0.0, 17)]
    write_earlier(path, service.base_url, draft, "operator", TEXTS, "letters.csv", decided)
    write_earlier(path, service.base_url, f"{draft}-other", "operator", ["theirs"], "other.csv")
    at = workbench.open("label", model=draft)
    assert sorted(offered(at)) == sorted(TEXTS[2:])
    assert labels(client, draft) == {TEXTS[0]: 1.0}, "only what was not saved is saved now"
    assert {each.source for each in client.texts.list(draft)} == {"letters.csv"}
    assert path.exists()
    assert TEXTS[3].encode() not in path.read_bytes()
    workbench.open("label", model=draft)
    assert len(list(client.texts.list(draft))) == 4


def test_only_who_may_write_the_model_has_texts_to_label(
    monkeypatch: pytest.MonkeyPatch, service: Service, workbench: Workbench, draft: str, namespace: str
) -> None:
    bring(workbench, draft)
    at = Workbench(monkeypatch, service, service.issue("scoring", (namespace,))).open("label", model=draft)
    assert not labeller(at)
    assert "may score but not change models" in words(at)


def test_texts_can_wait_for_the_first_trait(workbench: Workbench, client: Traitbench, new: str) -> None:
    at = bring(workbench, new)
    assert "4 texts to label" in words(at)
    assert next_step(at) == "Add traits"
    client.traits.add(new, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    assert len(offered(workbench.open("label", model=new))) == 4
    (trait,) = client.traits.list(new)
    assert trait.sample_count == 0, "texts without labels are no samples"


def test_a_link_restores_trait_queue_and_hidden_scores(workbench: Workbench, client: Traitbench, draft: str) -> None:
    client.traits.add(draft, [TraitInput(name="Form", positive_label="formal", negative_label="casual")])
    bring(workbench, draft)
    link = {"model": draft, "trait": "Form", "queue": "Most informative", "blind": "true"}
    at = workbench.open("label", **link)
    assert {item["trait"] for item in labeller(at)["items"]} == {"Form"}
    assert labeller(at)["blind"]
    assert copied_link(at) == link
    everything = workbench.open("label", model=draft, trait="All traits")
    assert [item["trait"] for item in labeller(everything)["items"]][:2] == ["Warmth", "Form"]


def test_discarded_texts_are_gone(workbench: Workbench, client: Traitbench, draft: str) -> None:
    at = bring(workbench, draft, ("a text to be thrown away",))
    assert not labeller(press(press(at, "label.discard.button"), "label.discard.yes"))
    assert list(client.texts.list(draft)) == []


def test_no_text_is_lost_without_a_service(
    monkeypatch: pytest.MonkeyPatch, workbench: Workbench, draft: str, service: Service
) -> None:
    bring(workbench, draft)
    monkeypatch.setenv("TRAITBENCH_API_URL", f"http://127.0.0.1:{free_port()}")
    assert not labeller(workbench.open("label", model=draft))
    monkeypatch.setenv("TRAITBENCH_API_URL", service.base_url)
    assert len(offered(workbench.open("label", model=draft))) == 4

"""Improving a model in use: a draft of it, its training and comparison, and making it the next version."""

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import TextInput

from tests.comparing import TESTS
from tests.conftest import COLD, WARM, Service, make_draft
from tests.pages.drive import Workbench, words
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput


@pytest.fixture
def ready(client: Traitbench, namespace: str) -> str:
    """A trained model with five test samples at each pole."""
    handle = f"{namespace}.tone"
    make_draft(client, handle)
    tests = [SampleInput(trait="warmth", text=text, quality=quality, held_out=True) for text, quality in TESTS]
    client.samples.add(handle, tests)
    client.models.train(handle, effort="low")
    assert client.models.wait(handle).version_no == 1
    return handle


def open_dialog(workbench: Workbench, handle: str, page: str = "score") -> AppTest:
    at = workbench.open(page, model=handle)
    return at.button(key="shell.improve_button").click().run()


def name_field(at: AppTest, handle: str) -> TextInput:
    return at.text_input(key=f"shell.improve_form.{handle}:0")


@pytest.mark.parametrize("page", ["traits", "samples", "train", "versions", "score", "batch", "model"])
def test_every_page_of_a_ready_model_offers_to_improve_it(
    workbench: Workbench, ready: str, client: Traitbench, page: str
) -> None:
    assert [each for each in workbench.open(page, model=ready).button if each.key == "shell.improve_button"]


def test_a_draft_or_a_model_of_others_is_not_offered_to_be_improved(
    monkeypatch: pytest.MonkeyPatch, workbench: Workbench, service: Service, ready: str, client: Traitbench
) -> None:
    make_draft(client, f"{ready}-draft")
    at = workbench.open("samples", model=f"{ready}-draft")
    assert not [each for each in at.button if each.key == "shell.improve_button"]
    scorer = Workbench(monkeypatch, service, service.issue("scoring", (ready.split(".")[0],)))
    at = scorer.open("score", model=ready)
    assert not [each for each in at.button if each.key == "shell.improve_button"]


def test_the_name_is_filled_in_and_a_taken_one_is_avoided(workbench: Workbench, ready: str, client: Traitbench) -> None:
    client.models.create(f"{ready}-next")
    client.models.delete(f"{ready}-next")
    at = open_dialog(workbench, ready)
    assert name_field(at, ready).value == "tone-next-2"
    name_field(at, ready).set_value("Not a name")
    at.button(key="shell.improve_form.go").click().run()
    assert "This name is not valid" in words(at)
    name_field(at, ready).set_value("tone-next")
    at.button(key="shell.improve_form.go").click().run()
    assert "already a model" in words(at)


def test_a_name_that_was_typed_is_still_there_after_a_click_outside_the_dialog(
    workbench: Workbench, ready: str
) -> None:
    at = open_dialog(workbench, ready)
    name_field(at, ready).set_value("tone-of-october").run()
    at.session_state["shell.improve"] = None
    assert not [each for each in at.run().text_input if "improve" in str(each.key)]
    at.button(key="shell.improve_button").click().run()
    assert name_field(at, ready).value == "tone-of-october"


def test_from_a_draft_to_the_next_version_and_back(workbench: Workbench, ready: str, client: Traitbench) -> None:
    at = open_dialog(workbench, ready, "train")
    at.button(key="shell.improve_form.go").click().run()
    draft = client.models.get(f"{ready}-next")
    assert (draft.state, draft.forked_from and draft.forked_from.handle) == ("draft", ready)
    assert at.selectbox(key="model").value == draft.handle
    assert f"Improves {ready}" in words(at).replace("\\", "")

    more = [SampleInput(trait="warmth", text=f"{text} And more.", quality=1.0) for text in WARM[:3]]
    client.samples.add(draft.handle, [*more, SampleInput(trait="warmth", text=f"{COLD[0]} No more.", quality=0.0)])
    at.run()
    assert at.button(key="train.start").label == "Train and compare"
    at.button(key="train.ahead.preview").click().run()
    ahead = next(each.value for each in at.dataframe if "Test samples" in each.value)
    at.button(key="train.start").click().run()
    client.models.wait(draft.handle)
    at.run()
    assert "training samples: 4 added" in words(at).lower()
    figures = next(each.value for each in at.dataframe if "Test samples" in each.value)
    assert list(figures["Test samples"]) == [len(TESTS)]
    assert ahead.to_numpy().tolist() == figures.to_numpy().tolist(), "the preview is what the training gave"

    at.button(key="train.promote_button").click().run()
    assert "Programs that score with" in words(at)
    at.button(key="train.promote_yes").click().run()
    model = client.models.get(ready)
    assert (model.version_no, client.models.get(draft.handle).state) == (2, "archived")
    assert at.selectbox(key="model").value == ready
    assert client.versions.get(ready).sample_count == 24

    at.button(key="train.back").click().run()
    assert client.models.get(ready).version_no == 1


def test_a_draft_that_exists_is_offered_before_another_one(
    workbench: Workbench, ready: str, client: Traitbench
) -> None:
    client.models.fork(ready, f"{ready}-mine")
    at = open_dialog(workbench, ready)
    at.button(key=f"shell.improve.{ready}-mine").click().run()
    assert at.selectbox(key="model").value == f"{ready}-mine"


def test_a_model_that_moved_on_is_said_before_it_is_done_anyway(
    workbench: Workbench, ready: str, client: Traitbench
) -> None:
    draft = client.models.fork(ready, f"{ready}-late").handle
    client.models.train(draft, effort="low")
    client.models.wait(draft)
    client.models.train(ready, effort="medium", reoptimize_params=True)
    client.models.wait(ready)
    at = workbench.open("train", model=draft)
    at.button(key="train.promote_button").click().run()
    at.button(key="train.promote_yes").click().run()
    assert "got v2 after" in at.warning[0].value
    assert client.models.get(ready).version_no == 2
    at.button(key="train.promote_yes").click().run()
    assert client.models.get(ready).version_no == 3

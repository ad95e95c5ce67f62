"""Improving a model in use: a draft of it, its training and comparison, and making it the next version."""

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import TextInput

from tests.comparing import TESTS
from tests.conftest import COLD, WARM, train
from tests.pages.drive import Workbench, buttons, frame, plain, press, words
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput


@pytest.fixture
def tested(client: Traitbench, draft: str) -> str:
    """A trained model with six test samples at each pole."""
    tests = [SampleInput(trait="warmth", text=text, quality=quality, held_out=True) for text, quality in TESTS]
    client.samples.add(draft, tests)
    assert train(client, draft).version_no == 1
    return draft


def open_dialog(workbench: Workbench, handle: str, page: str = "score") -> AppTest:
    return press(workbench.open(page, model=handle), "shell.improve_button")


def name_field(at: AppTest, handle: str) -> TextInput:
    return at.text_input(key=f"shell.improve_form.{handle}:0")


def test_a_draft_is_not_offered_to_be_improved(workbench: Workbench, draft: str) -> None:
    assert not buttons(workbench.open("samples", model=draft), "shell.improve_button")


def test_a_free_name_is_filled_in_and_others_refused(workbench: Workbench, client: Traitbench, ready: str) -> None:
    client.models.create(f"{ready}-next")
    client.models.delete(f"{ready}-next")
    at = open_dialog(workbench, ready)
    assert name_field(at, ready).value == "ready-next-2"
    for name, says in (("Not a name", "This name is not valid"), ("ready-next", "already a model")):
        name_field(at, ready).set_value(name)
        assert says in words(press(at, "shell.improve_form.go"))


def test_a_name_that_was_typed_outlives_a_click_outside_the_dialog(workbench: Workbench, ready: str) -> None:
    at = open_dialog(workbench, ready)
    name_field(at, ready).set_value("tone-of-october").run()
    at.session_state["shell.improve"] = None
    assert not [each for each in at.run().text_input if "improve" in str(each.key)]
    assert name_field(press(at, "shell.improve_button"), ready).value == "tone-of-october"


def test_a_draft_that_exists_is_offered_first(workbench: Workbench, client: Traitbench, ready: str) -> None:
    client.models.fork(ready, f"{ready}-mine")
    at = press(open_dialog(workbench, ready), f"shell.improve.{ready}-mine")
    assert at.selectbox(key="model").value == f"{ready}-mine"


def test_from_a_draft_to_the_next_version_and_back(workbench: Workbench, client: Traitbench, tested: str) -> None:
    at = press(open_dialog(workbench, tested, "train"), "shell.improve_form.go")
    draft = client.models.get(f"{tested}-next")
    assert (draft.state, draft.forked_from and draft.forked_from.handle) == ("draft", tested)
    assert at.selectbox(key="model").value == draft.handle
    assert f"Improves {tested}" in plain(at)

    more = [SampleInput(trait="warmth", text=f"{text} And more.", quality=1.0) for text in WARM[:3]]
    client.samples.add(draft.handle, [*more, SampleInput(trait="warmth", text=f"{COLD[0]} No more.", quality=0.0)])
    at.run()
    assert at.button(key="train.start").label == "Train and compare"
    press(at, "train.ahead.preview").toggle(key="train.ahead.figures.as_table").set_value(True).run()
    ahead = frame(at, "Test samples")
    press(at, "train.start")
    client.models.wait(draft.handle)
    at.run()
    assert "training samples: 4 added" in words(at).lower()
    at.toggle(key="train.promotion_figures.as_table").set_value(True).run()
    figures = frame(at, "Test samples")
    assert list(figures["Test samples"]) == [len(TESTS)]
    assert ahead.to_numpy().tolist() == figures.to_numpy().tolist(), "the preview is what the training gave"

    press(at, "train.promote_button")
    assert "Programs that score with" in words(at)
    press(at, "train.promote_yes")
    assert (client.models.get(tested).version_no, client.models.get(draft.handle).state) == (2, "archived")
    assert at.selectbox(key="model").value == tested
    assert client.versions.get(tested).sample_count == 24
    press(at, "train.back")
    assert client.models.get(tested).version_no == 1


def test_a_model_that_moved_on_is_said_first(workbench: Workbench, client: Traitbench, tested: str) -> None:
    draft = client.models.fork(tested, f"{tested}-late").handle
    train(client, draft)
    train(client, tested, effort="medium", reoptimize_params=True)
    at = press(press(workbench.open("train", model=draft), "train.promote_button"), "train.promote_yes")
    assert "got v2 after" in at.warning[0].value
    assert client.models.get(tested).version_no == 2
    press(at, "train.promote_yes")
    assert client.models.get(tested).version_no == 3

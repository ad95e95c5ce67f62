"""Ctrl+K: models, traits, samples, pages and actions are found by typing."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.conftest import WARM, Trained
from tests.pages.drive import Workbench, press, words


def found(at: AppTest, typed: str) -> list[str]:
    """The labels of the links that the dialog offers for what is typed."""
    at.text_input(key="shell.find_words").set_value(typed)
    press(at, "shell.find")
    elsewhere = len(at.main.get("page_link")) + len(at.sidebar.get("page_link"))
    return [link.proto.label.replace("\\", "") for link in at.get("page_link")[elsewhere:]]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("BAT", "Batch"),
        ("compare two v", "Compare two versions"),
        ("what share", "Score a file"),
        ("present", "Present a text"),
        ("discover", "Discover traits"),
        ("key", "Create an API key"),
        ("twice", "{twice}"),
        ("warmth twice", "Warmth, a trait of {twice}"),
        (WARM[0][:25].upper(), "“{sample}"),
    ],
)
def test_each_kind_of_place_is_found(
    workbench: Workbench, trained: Trained, twice: Trained, typed: str, first: str
) -> None:
    at = press(workbench.open("score", model=trained.handle), "shell.find")
    label = found(at, typed)[0]
    assert label.startswith(first.format(twice=twice.handle, sample=WARM[0][:25]))


def test_a_model_is_archived_after_a_question(workbench: Workbench, ready: str) -> None:
    at = press(workbench.open("score", model=ready), "shell.find")
    assert found(at, "archive") == []
    at.button(key="shell.find_archive").click().run()
    assert "stops scoring for every program that uses it" in words(at)
    assert at.button(key="catalog.archive.yes")


def test_what_is_nowhere_is_said(workbench: Workbench, trained: Trained) -> None:
    at = press(workbench.open("score", model=trained.handle), "shell.find")
    assert found(at, "zylor ☃ *x* $y$") == []
    assert "Nothing has these words." in [each.value for each in at.caption]


def test_a_link_to_another_model_chooses_it(workbench: Workbench, trained: Trained, twice: Trained) -> None:
    at = workbench.open("score", model=trained.handle)
    at.query_params["open"] = twice.handle
    at.run()
    assert at.session_state["model"] == twice.handle
    assert "open" not in at.query_params


def test_a_link_to_a_model_keeps_it_in_the_address_of_another_tab(workbench: Workbench, trained: Trained) -> None:
    at = workbench.open("score", open=trained.handle)
    assert at.selectbox(key="model").value == trained.handle
    assert {**at.query_params} == {"model": trained.handle}

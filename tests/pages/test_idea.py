"""Try an idea: from two poles to a scored text, and what the page says when it cannot."""

import pytest

from tests.conftest import Service
from tests.pages.drive import Workbench, words
from traitbench.client import Traitbench


def test_an_idea_becomes_a_scored_text_that_says_what_it_is_worth(
    workbench: Workbench, client: Traitbench, namespace: str
) -> None:
    client.models.create(f"{namespace}.politeness")
    at = workbench.open("idea")
    at.button(key="idea.try").click().run()
    assert "Give it a name" in words(at)
    for field, typed in (("name", "Politeness"), ("negative_label", "rude"), ("positive_label", "rude")):
        at.text_input(key=f"idea.{field}").set_value(typed)
    at.text_area(key="idea.text").set_value("Would you kindly take a seat?")
    at.button(key="idea.try").click().run()
    assert "Both sides have the same name" in words(at)
    at.text_input(key="idea.positive_label").set_value("polite")
    at.button(key="idea.try").click().run()

    handle = f"{namespace}.politeness-2"
    assert at.query_params["idea"] in (handle, [handle])
    client.models.wait(handle)
    at.run()
    client.models.wait(handle)
    at.run()
    assert not at.exception
    assert "Trained on made-up text only" in words(at)
    assert at.button(key="idea.label").label == "Label ten real texts"
    assert at.text_area(key="idea.text").value == "Would you kindly take a seat?"
    assert client.models.get(handle).version_no == 1
    assert {sample.generator for sample in client.samples.list(handle)} == {"offline"}


def test_a_failed_idea_says_why(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    client.models.create(f"{namespace}.empty")
    at = workbench.open("idea", idea=f"{namespace}.empty")
    assert "did not work" in words(at)
    at.button(key="idea.again").click().run()
    assert at.button(key="idea.try")
    assert "idea" not in at.query_params


def test_a_key_that_may_only_score_is_told_so(
    service: Service, monkeypatch: pytest.MonkeyPatch, namespace: str
) -> None:
    at = Workbench(monkeypatch, service, service.issue("scoring", (namespace,))).open("idea")
    assert "`authoring`" in words(at)
    assert not at.button


def test_a_link_to_a_trial_that_is_gone_offers_another_one(workbench: Workbench, namespace: str) -> None:
    at = workbench.open("idea", idea=f"{namespace}.gone")
    assert "does not exist, or you cannot read it" in words(at)
    assert at.button(key="idea.try")

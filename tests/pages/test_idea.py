"""Try an idea: from two poles to a scored text, and what the page says when it cannot."""

from tests.pages.drive import Workbench, buttons, press, words
from traitbench.client import Traitbench


def test_an_idea_becomes_a_scored_text_with_its_worth(workbench: Workbench, client: Traitbench, namespace: str) -> None:
    client.models.create(f"{namespace}.politeness")
    at = press(workbench.open("idea"), "idea.try")
    assert "Give it a name" in words(at)
    for field, typed in (("name", "Politeness"), ("negative_label", "rude"), ("positive_label", "rude")):
        at.text_input(key=f"idea.{field}").set_value(typed)
    at.text_area(key="idea.text").set_value("Would you kindly take a seat?")
    assert "Both sides have the same name" in words(press(at, "idea.try"))
    at.text_input(key="idea.positive_label").set_value("polite")
    press(at, "idea.try")

    handle = f"{namespace}.politeness-2"
    assert at.query_params["idea"] in (handle, [handle])
    for _ in ("made texts", "a training"):
        client.models.wait(handle)
        at.run()
    assert not at.exception
    assert "Trained on made-up text only" in words(at)
    assert at.button(key="idea.label").label == "Label ten real texts"
    assert at.text_area(key="idea.text").value == "Would you kindly take a seat?"
    assert client.models.get(handle).version_no == 1
    assert {sample.generator for sample in client.samples.list(handle)} == {"offline"}


def test_an_idea_that_failed_or_is_gone_offers_another_one(workbench: Workbench, new: str, namespace: str) -> None:
    at = workbench.open("idea", idea=new)
    assert "did not work" in words(at)
    press(at, "idea.again")
    assert buttons(at, "idea.try")
    assert "idea" not in at.query_params
    at = workbench.open("idea", idea=f"{namespace}.gone")
    assert "does not exist, or you cannot read it" in words(at)
    assert buttons(at, "idea.try")

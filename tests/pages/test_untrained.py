"""A model without a version: each page says what is missing, and leads to where it can be done."""

import pytest

from tests.conftest import COLD, WARM, Service
from tests.pages.drive import Workbench, bars, buttons, end_badly, hold_busy, next_step, press, words
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput


@pytest.mark.parametrize("page", ["samples", "train", "versions", "batch", "model", "score"])
def test_without_traits_each_page_leads_to_them(workbench: Workbench, new: str, page: str) -> None:
    at = workbench.open(page, model=new)
    assert "This model has no traits yet." in words(at)
    assert next_step(at) == "Add traits"
    assert "train.start" not in buttons(at)
    assert [title.value for title in press(at, "head.step").title] == ["Traits"]
    assert not next_step(at), "here they are added"
    assert at.selectbox(key="model").value == new


@pytest.mark.parametrize("page", ["versions", "batch", "model"])
def test_a_page_that_needs_a_version_leads_to_the_next_step(
    workbench: Workbench, client: Traitbench, service: Service, empty: str, page: str
) -> None:
    def says(sentence: str, label: str) -> None:
        at = workbench.open(page, model=empty)
        assert sentence in words(at)
        assert next_step(at) == label

    says("Add about 10 texts for each side.", "Add samples")
    client.samples.add(empty, [SampleInput(trait="warmth", text=text, quality=1.0) for text in WARM])
    says("No cold texts yet.", "Add cold texts")
    client.samples.add(empty, [SampleInput(trait="warmth", text=COLD[0], quality=0.0)])
    says("1 of about 10 cold texts.", "Add cold texts")
    client.samples.add(empty, [SampleInput(trait="warmth", text=text, quality=0.0) for text in COLD[1:]])
    says("10 + 10 samples.", "Train")
    run_id = hold_busy(service.context, empty)
    says("Training: waiting in the queue.", "Watch")
    end_badly(service.context, run_id, "A test ended it.")
    says("The first training failed.", "See why")


def test_without_samples_nothing_is_trained_and_no_text_is_asked_for(workbench: Workbench, empty: str) -> None:
    at = workbench.open("train", model=empty)
    assert "Warmth needs at least one sample that is *warm* and one that is *cold*." in words(at)
    assert next_step(at) == "Add samples"
    assert at.button(key="train.start").disabled
    assert not workbench.open("score", model=empty).text_area
    at = workbench.open("score", model=empty, text=WARM[0])
    assert next_step(at) == "Add samples"
    assert (at.text_area(key="score.text").value, bars(at)) == (WARM[0], [])


def test_during_discovery_none_asks_for_traits(
    workbench: Workbench, client: Traitbench, service: Service, new: str
) -> None:
    hold_busy(service.context, new, kind="discover")
    for page in ("traits", "samples"):
        at = workbench.open(page, model=new)
        assert "Discovering traits: waiting in the queue." in words(at)
        assert next_step(at) == "Watch"
        assert "Name the trait" not in words(at)

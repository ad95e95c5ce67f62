"""A model without a version: each page says what is missing, and leads to where it can be done."""

import pytest

from tests.conftest import COLD, WARM, Service
from tests.pages.drive import Workbench, bars, buttons, end_badly, hold_busy, links, words
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput

NO_COLD_SAMPLE = "Warmth needs at least one sample that is *cold*."


@pytest.mark.parametrize("page", ["samples", "train", "versions", "batch", "model", "score"])
def test_without_traits_each_page_leads_to_them(workbench: Workbench, new: str, page: str) -> None:
    at = workbench.open(page, model=new)
    assert ("Add a trait first" if page in ("samples", "train") else "This model has no traits yet.") in words(at)
    assert "Add traits" in links(at)
    assert "train.start" not in buttons(at)


@pytest.mark.parametrize("page", ["versions", "batch", "model"])
def test_a_page_that_needs_a_version_leads_to_the_next_step(
    workbench: Workbench, client: Traitbench, service: Service, empty: str, page: str
) -> None:
    def says(sentence: str, link: str) -> None:
        at = workbench.open(page, model=empty)
        assert sentence in words(at)
        assert link in links(at)

    client.samples.add(empty, [SampleInput(trait="warmth", text=WARM[0], quality=1.0)])
    says(NO_COLD_SAMPLE, "Add samples")
    client.samples.add(empty, [SampleInput(trait="warmth", text=COLD[0], quality=0.0)])
    says("This draft has 2 samples.", "Train this model")
    run_id = hold_busy(service.context, empty)
    says("The first version is being trained.", "See the progress")
    end_badly(service.context, run_id, "A test ended it.")
    says("The first training failed.", "See why")


def test_without_samples_nothing_is_trained_and_no_text_is_asked_for(workbench: Workbench, empty: str) -> None:
    at = workbench.open("train", model=empty)
    assert "Warmth needs at least one sample that is *warm* and one that is *cold*." in words(at)
    assert "Add samples" in links(at)
    assert at.button(key="train.start").disabled
    assert not workbench.open("score", model=empty).text_area
    at = workbench.open("score", model=empty, text=WARM[0])
    assert "Add samples" in links(at)
    assert (at.text_area(key="score.text").value, bars(at)) == (WARM[0], [])


def test_during_discovery_none_asks_for_traits(
    workbench: Workbench, client: Traitbench, service: Service, new: str
) -> None:
    hold_busy(service.context, new, kind="discover")
    for page in ("traits", "samples"):
        at = workbench.open(page, model=new)
        assert "This model has no traits yet." in words(at)
        assert "Add traits" not in links(at)
        assert "Name the trait" not in words(at)

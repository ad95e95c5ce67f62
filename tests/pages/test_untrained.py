"""A model without a version: pages that need one say what is missing, and lead to where it can be done."""

import pytest

from tests.conftest import COLD, WARM, Service
from tests.pages.drive import Workbench, end_badly, hold_busy, links, words
from traitbench.client import Traitbench
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput


@pytest.mark.parametrize("page", ["versions", "batch", "model"])
def test_a_page_that_needs_a_version_leads_to_the_next_step(
    workbench: Workbench, client: Traitbench, service: Service, namespace: str, page: str
) -> None:
    def says(sentence: str, link: str) -> None:
        at = workbench.open(page, model=handle)
        assert sentence in words(at)
        assert link in links(at)

    handle = f"{namespace}.new"
    client.models.create(handle)
    says("This model has no traits yet.", "Add traits")
    client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
    client.samples.add(handle, [SampleInput(trait="warmth", text=WARM[0], quality=1.0)])
    says("Warmth needs at least one sample that is *cold*.", "Add samples")
    client.samples.add(handle, [SampleInput(trait="warmth", text=COLD[0], quality=0.0)])
    says("This draft has 2 samples.", "Train this model")
    run_id = hold_busy(service.context, handle, None)
    says("The first version is being trained.", "See the progress")
    end_badly(service.context, run_id, "A test ended it.")
    says("The first training failed.", "See why")


def test_while_traits_are_discovered_no_page_asks_to_add_any(
    workbench: Workbench, client: Traitbench, service: Service, namespace: str
) -> None:
    handle = f"{namespace}.new"
    client.models.create(handle)
    hold_busy(service.context, handle, None, kind="discover")
    for page in ("traits", "samples"):
        at = workbench.open(page, model=handle)
        assert "This model has no traits yet." in words(at)
        assert "Add traits" not in links(at)
        assert "Name the trait" not in words(at)

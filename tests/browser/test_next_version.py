"""From "this score is wrong" to the next version and back, in a browser: the loop of a model in use."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app.processes import Started
from tests.browser.conftest import settled
from tests.comparing import TESTS
from tests.conftest import make_draft, train
from traitbench.contract.samples import SampleInput

pytestmark = pytest.mark.browser

MOST_CLICKS = 12


@pytest.fixture
def in_use(workbench: Started, handle: str) -> str:
    """The handle of a trained model with test samples."""
    with workbench.client() as client:
        make_draft(client, handle)
        tests = [SampleInput(trait="warmth", text=text, quality=quality, held_out=True) for text, quality in TESTS]
        client.samples.add(handle, tests)
        assert train(client, handle).version_no == 1
    return handle


@pytest.mark.soak
def test_a_wrong_score_becomes_a_better_version_and_back(workbench: Started, page: Page, in_use: str) -> None:
    handle = in_use
    clicks = 0

    def click(what: Locator) -> None:
        nonlocal clicks
        clicks += 1
        what.click()
        settled(page)

    # This score is wrong.
    page.goto(f"{workbench.base_url}/score?model={handle}&text=Well+then,+off+you+go,+my+dear.")
    settled(page)
    click(page.get_by_text("Is a score wrong?"))
    click(page.get_by_role("radio", name=re.compile("warm")).last)
    click(page.get_by_role("button", name="Send feedback on 1 trait"))
    click(page.get_by_role("dialog").get_by_role("button", name="Send feedback"))
    expect(page.get_by_text("Sent for this text")).to_be_visible()

    # Improve the model, train, compare.
    click(page.get_by_role("button", name="More"))
    click(page.get_by_role("button", name="Improve this model"))
    click(page.get_by_role("button", name="Make the draft"))
    expect(page.get_by_text(f"Differs from {handle.removeprefix('local.')} v1.")).to_be_visible()
    click(page.get_by_role("link", name="Train", exact=True))
    click(page.get_by_role("button", name="Train and compare"))
    expect(page.get_by_text("Right, of its test texts")).to_be_visible()

    # Put it in the model's place.
    click(page.get_by_role("button", name=re.compile("Put the draft in use|Use it anyway")))
    expect(page.get_by_role("dialog").get_by_text("Programs that score with")).to_be_visible()
    click(page.get_by_role("dialog").get_by_role("button", name="Put it in use"))
    expect(page.get_by_text("v2 gets").first).to_be_visible()
    assert clicks < MOST_CLICKS
    with workbench.client() as client:
        assert client.models.get(handle).version_no == 2
        assert client.models.get(f"{handle}-next").state == "archived"
        assert client.versions.get(handle).sample_count == 21

    # And back, which a colleague's open page shows by itself.
    colleague = page.context.new_page()
    colleague.goto(f"{workbench.base_url}/score?model={handle}&text=So+kind+of+you!")
    expect(colleague.get_by_text("Scored with v2")).to_be_visible()
    click(page.get_by_role("button", name="Switch back to v1"))
    expect(page.get_by_text("v1 gets").first).to_be_visible()
    with workbench.client() as client:
        assert client.models.get(handle).version_no == 1
    expect(colleague.get_by_text("Scored with v1")).to_be_visible()

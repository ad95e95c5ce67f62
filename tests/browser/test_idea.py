"""Try an idea as a person does: two names and a text give a side, and labels make a draft."""

import pytest
from playwright.sync_api import Page, expect

from tests.app.processes import Started
from tests.browser.conftest import settled

pytestmark = [pytest.mark.browser, pytest.mark.soak]


def test_two_names_give_a_side_and_two_labels_a_draft(with_a_model: Started, page: Page) -> None:
    page.goto(f"{with_a_model.base_url}/idea")
    settled(page)
    for label, typed in (("A text is either", "rude"), ("or", "polite"), ("A text to score", "Shut up, you fool!")):
        page.get_by_role("textbox", name=label, exact=True).fill(typed)
    expect(page.get_by_text("probably rude, not tested")).to_be_visible()
    page.get_by_role("radio", name="rude").first.click()
    page.get_by_role("radio", name="polite").last.click()
    page.get_by_role("button", name="Make it a model").click()
    expect(page.get_by_role("heading", name="Samples")).to_be_visible()

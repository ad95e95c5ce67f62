"""Try an idea as a person does: one click from two poles to a scored text."""

import pytest
from playwright.sync_api import Page, expect

from tests.app.processes import Started
from tests.browser.conftest import settled

pytestmark = [pytest.mark.browser, pytest.mark.soak]


def test_an_idea_becomes_a_scored_text_in_one_click(with_a_model: Started, page: Page) -> None:
    page.goto(f"{with_a_model.base_url}/idea")
    settled(page)
    for label, typed in (
        ("What do you want to measure?", "Politeness"),
        ("A text is either", "rude"),
        ("or", "polite"),
        ("A text to score", "Would you kindly take a seat?"),
    ):
        page.get_by_role("textbox", name=label, exact=True).fill(typed)
    page.get_by_role("button", name="Try it").click()
    expect(page.get_by_text("Trained on made-up text only.")).to_be_visible()
    expect(page.locator(".track[role=img]").first).to_be_visible()
    expect(page.get_by_role("button", name="Label ten real texts")).to_be_visible()

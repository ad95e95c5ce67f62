"""Try an idea as a person does: the clicks and the seconds from two poles to a scored text."""

import time

import pytest
from playwright.sync_api import Page, expect

from tests.app.processes import Started
from tests.browser.conftest import SETTLED

pytestmark = pytest.mark.browser

SECONDS = 60
"""What the page promises."""


def test_an_idea_becomes_a_scored_text_in_a_minute_and_one_click(with_a_model: Started, page: Page) -> None:
    page.goto(f"{with_a_model.base_url}/idea")
    page.wait_for_selector(SETTLED)
    for label, typed in (
        ("What do you want to measure?", "Politeness"),
        ("A text is either", "rude"),
        ("or", "polite"),
        ("A text to score", "Would you kindly take a seat?"),
    ):
        page.get_by_role("textbox", name=label, exact=True).fill(typed)
    began = time.monotonic()
    page.get_by_role("button", name="Try it").click()
    expect(page.get_by_text("Trained on made-up text only.")).to_be_visible()
    expect(page.locator(".track[role=img]").first).to_be_visible()
    assert time.monotonic() - began < SECONDS
    expect(page.get_by_role("button", name="Label ten real texts")).to_be_visible()

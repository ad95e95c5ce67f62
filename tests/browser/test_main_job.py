"""The main job as an analyst does it: from the first look to a score, in a browser, on a machine that is new to it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.app.processes import Started
from tests.browser.conftest import settled
from tests.conftest import COLD, WARM
from tests.patience import PATIENCE_MS

pytestmark = pytest.mark.browser


def test_an_analyst_teaches_a_model_and_scores_a_text_with_it(workbench: Started, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    page.goto(workbench.base_url)
    # What is below it moves when the first demo model is ready: a press at that moment would miss its button.
    expect(page.locator(".st-key-card-live li").first).to_be_visible(timeout=4 * PATIENCE_MS)
    settled(page).get_by_role("button", name="Paste", exact=True).click()
    dialog = page.get_by_role("dialog")
    for label, pole, texts in (("A text is either", "polite", WARM), ("or", "curt", COLD)):
        dialog.get_by_role("textbox", name=label, exact=True).fill(pole)
        dialog.get_by_role("textbox", name=re.compile(f"{pole}: one text")).fill("\n".join(texts))
    dialog.get_by_role("button", name="Create model").click()
    expect(page.get_by_text("was created with 20 samples")).to_be_visible()

    page.get_by_role("link", name="Train", exact=True).click()
    page.get_by_role("button", name="Start training").click()
    expect(page.get_by_text("v1 gets").first).to_be_visible()

    page.get_by_role("link", name="Score a text").click()
    text = settled(page).get_by_role("textbox", name="Text", exact=True)
    text.fill("How lovely to see you, do come in and stay for tea!")
    expect(page.get_by_text("Scored with v1")).to_be_visible()
    expect(page.locator(".track[role=img]").first).to_be_visible()

    page.get_by_role("link", name="Versions", exact=True).click()
    expect(settled(page).get_by_text("v1").first).to_be_visible()

    with workbench.client() as client:
        model = client.models.get("local.polite-or-curt")
    assert (model.state, model.version_no, model.traits) == ("ready", 1, ["polite or curt"])
    elsewhere = [url for url in asked if url.startswith("http") and not url.startswith(workbench.base_url)]
    assert not elsewhere, "The page asked somebody else for something."

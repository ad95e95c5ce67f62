"""The main job as an analyst does it: from the first look to a score, in a browser, on a machine that is new to it."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.app.processes import Started
from tests.browser.conftest import settled
from tests.conftest import COLD, WARM
from tests.patience import PATIENCE_MS

pytestmark = pytest.mark.browser


def add_samples(page: Page, pole: str, texts: tuple[str, ...]) -> None:
    page.get_by_role("radio", name=re.compile(pole)).click()
    settled(page).get_by_role("textbox", name="Texts").fill("\n".join(texts))
    page.get_by_role("textbox", name="Texts").press("Control+Enter")
    page.get_by_role("button", name=f"Add {len(texts)} texts").click()
    expect(page.get_by_text(f"{len(texts)} texts added to Warmth")).to_be_visible()


def test_an_analyst_teaches_a_model_and_scores_a_text_with_it(workbench: Started, page: Page, handle: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    page.goto(workbench.base_url)
    # What is below it moves when the first demo model is ready: a press at that moment would miss its button.
    expect(page.locator(".st-key-card-live li").first).to_be_visible(timeout=4 * PATIENCE_MS)
    settled(page).get_by_role("button", name="Paste", exact=True).click()
    page.get_by_role("textbox", name="Name", exact=True).fill(handle.removeprefix("local."))
    page.get_by_role("button", name="Create model").click()

    page.get_by_role("button", name="Add the first trait").click()
    page.get_by_role("textbox", name="Name", exact=True).fill("Warmth")
    page.get_by_role("textbox", name="Right pole").fill("warm")
    page.get_by_role("textbox", name="Left pole").fill("cold")
    page.get_by_role("button", name="Add trait", exact=True).click()
    expect(page.get_by_text("Trait added.")).to_be_visible()

    page.get_by_role("button", name="Add samples").click()
    page.get_by_role("button", name="Add by hand").first.click()
    add_samples(settled(page), "warm", WARM)
    add_samples(
        settled(page), "cold", COLD[1:]
    )  # one less, so that the first batch's message cannot pass for this one's

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
        model = client.models.get(handle)
    assert (model.state, model.version_no, model.traits) == ("ready", 1, ["Warmth"])
    elsewhere = [url for url in asked if url.startswith("http") and not url.startswith(workbench.base_url)]
    assert not elsewhere, "The page asked somebody else for something."

"""The Score page before a room, and on the way there and back: keys, large type, no scrolling, one press of Back."""

import pytest
from playwright.sync_api import Page, expect

from tests.app.processes import Started
from tests.browser.conftest import settled
from tests.conftest import COLD, WARM, make_draft
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.browser

_SMALLEST = """
() => {
  const texts = [...document.querySelectorAll('.st-key-present *')].flatMap((part) =>
    [part, ...(part.shadowRoot ? part.shadowRoot.querySelectorAll('*') : [])])
  const shown = texts.filter((part) => part.checkVisibility() && part.getClientRects().length
    && [...part.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()) && part.tagName !== 'STYLE')
  return Math.min(...shown.map((part) => parseFloat(getComputedStyle(part).fontSize)))
}
"""


def answered(page: Page) -> Page:
    """Wait for what a press caused: the script begins a moment later."""
    page.wait_for_timeout(300)
    return settled(page)


def test_a_presenter_walks_teaches_and_leaves_by_keys(workbench: Started, page: Page, handle: str) -> None:
    with workbench.client() as client:
        make_draft(client, handle)
        client.models.update(handle, demo_texts=[WARM[0], COLD[0]])
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{workbench.base_url}/score?model={handle}")
    expect(answered(page).get_by_role("button", name="Present")).to_be_visible()

    page.wait_for_selector("html[data-keys~=p]", state="attached")
    page.keyboard.press("p")
    text = page.get_by_placeholder("Type a text.", exact=True)
    expect(text).to_have_value(WARM[0])
    expect(page.get_by_text("Warmth")).to_be_visible()
    expect(page.get_by_role("link", name="Home")).to_be_hidden()
    assert page.evaluate(_SMALLEST) >= 28
    assert page.evaluate("() => document.documentElement.scrollHeight <= innerHeight")

    page.set_viewport_size({"width": 280, "height": 720})  # so narrow that the headline of a bar wraps
    head, poles = (page.locator(f"ol.large li {part}").first.bounding_box() for part in (".head", ".poles"))
    assert head is not None
    assert poles is not None
    assert poles["y"] >= head["y"] + head["height"] - 1, "The poles cover the headline."
    page.set_viewport_size({"width": 1280, "height": 720})

    answered(page).wait_for_selector("html[data-keys~=ArrowRight]", state="attached")
    page.keyboard.press("ArrowRight")
    expect(text).to_have_value(COLD[0])
    text.fill("The lamp is green.")
    text.press("Shift+ArrowRight")
    expect(page.get_by_text("1 text taught here. Nothing is stored.")).to_be_visible()
    with workbench.client() as client:
        assert "The lamp is green." not in {sample.text for sample in client.samples.list(handle)}

    page.keyboard.press("Escape")
    answered(page).keyboard.press("Escape")
    expect(page.get_by_role("link", name="Home")).to_be_visible()
    expect(page.get_by_placeholder("Type or paste a text.")).to_have_value("The lamp is green.")


@pytest.mark.soak
def test_from_a_row_of_a_batch_back_is_one_press(workbench: Started, page: Page, handle: str) -> None:
    with workbench.client() as client:
        make_draft(client, handle)
        client.models.train(handle, effort="low")
        client.models.wait(handle, timeout=PATIENCE_S)
    page.goto(f"{workbench.base_url}/batch?model={handle}")
    answered(page).get_by_text("Paste").first.click()
    lines = answered(page).locator("textarea").first
    lines.fill("\n".join(WARM[:3]))
    lines.press("Control+Enter")
    page.get_by_role("button", name="Score 3").first.click()
    rows = page.locator(".st-key-batch-grid canvas").first
    rows.wait_for()
    answered(page)
    rows.click(position={"x": 15, "y": 55}, force=True)  # the table scrolls in an element over its canvas
    page.get_by_role("link", name="Open on the Score page").click()
    expect(page.get_by_role("heading", name="Score", exact=True)).to_be_visible()
    answered(page)
    page.go_back()
    expect(page.get_by_role("heading", name="Batch", exact=True)).to_be_visible()

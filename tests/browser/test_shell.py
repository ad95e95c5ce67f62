"""What the workbench adds to Streamlit's page: quiet deep links, one step back, words of its own, and the keyboard."""

import re
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.app.processes import Started, serving
from tests.browser.conftest import SETTLED
from tests.patience import PATIENCE_MS

pytestmark = pytest.mark.browser

MENU = ("Batch", "Score", "Versions", "Samples", "Catalog")


def settled(page: Page, title: str) -> None:
    expect(page.get_by_test_id("stMain").get_by_role("heading", level=1)).to_have_text(title)
    page.wait_for_selector(SETTLED)


def test_a_deep_link_is_quiet_and_one_step_back_is_one_page_back(workbench: Started, page: Page) -> None:
    refused: list[str] = []
    said: list[str] = []
    page.on("response", lambda answer: refused.append(answer.url) if answer.status >= 400 else None)
    page.on("console", lambda line: said.append(line.text) if line.type == "error" else None)
    page.goto(f"{workbench.base_url}/traits?model=demo.headlines")
    settled(page, "Traits")
    assert (refused, said) == ([], [])

    for title in MENU:
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True).click()
        settled(page, title)
    for title in (*reversed(MENU[:-1]), "Traits"):
        page.go_back()
        settled(page, title)
        assert page.url.endswith(f"/{title.lower()}?model=demo.headlines")


def test_the_keyboard_reaches_the_main_action_and_a_dialog_begins_at_its_first_field(
    with_a_model: Started, page: Page
) -> None:
    page.goto(with_a_model.base_url)
    settled(page, "Catalog")
    page.locator(".traitbench-skip").filter(has_text="New model").wait_for(state="attached")
    pressed = 0
    while not page.evaluate("document.activeElement.matches('.traitbench-skip')"):
        page.keyboard.press("Tab")
        pressed += 1
        assert pressed <= 5
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stMain").get_by_role("button", name="New model")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").locator("input, textarea").first).to_be_focused()


def test_a_service_that_stops_is_named_and_what_was_typed_is_still_there_when_it_is_back(
    browser: Browser, tmp_path: Path
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    with serving(tmp_path / "service") as started:
        page.goto(started.base_url)
        settled(page, "Catalog")
        page.get_by_role("button", name="New model").click()
        field = page.get_by_role("dialog").get_by_role("textbox", name="Name", exact=True)
        field.fill("moods")
        started.process.kill()
        started.process.communicate()
    expect(page.get_by_role("status").filter(has_text="Traitbench does not answer")).to_be_visible()
    # Streamlit's own dialog comes later, after some attempts.
    dialog = page.get_by_role("dialog").filter(has_text="Traitbench does not answer")
    expect(dialog).to_be_visible(timeout=2 * PATIENCE_MS)
    assert not re.search("Streamlit|internet", page.inner_text("body"))
    expect(field).to_have_value("moods")

    with elsewhere(tmp_path, started) as workbench:
        away = context.new_page()
        away.goto(f"{workbench.base_url}/train")
        expect(away.get_by_text("The service does not answer")).to_be_visible()
        with serving(tmp_path / "service", TRAITBENCH_PORT=str(started.port)):
            expect(page.get_by_text("Traitbench answers again.")).to_be_visible(timeout=2 * PATIENCE_MS)
            expect(field).to_have_value("moods")
            settled(away, "Train")
    context.close()


def elsewhere(home: Path, service: Started) -> AbstractContextManager[Started]:
    """A workbench that uses a service on another machine."""
    key = (service.home / "first.key").read_text("utf-8").strip()
    return serving(home / "workbench", TRAITBENCH_API_URL=service.base_url, TRAITBENCH_API_KEY=key)

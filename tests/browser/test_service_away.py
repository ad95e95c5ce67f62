"""A service that goes away and comes back, seen from pages that are open meanwhile."""

import re
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.app.processes import Started, serving
from tests.browser.conftest import HOME, settled
from tests.patience import PATIENCE_MS

pytestmark = pytest.mark.browser


def test_a_service_that_stops_is_named_and_nothing_typed_is_lost(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    with serving(tmp_path / "service") as started:
        page.goto(started.base_url)
        settled(page, HOME)
        page.get_by_role("button", name="Paste", exact=True).click()
        field = page.get_by_role("dialog").get_by_role("textbox", name="A text is either", exact=True)
        field.fill("moods")
        # Streamlit draws the page again, without the dialog, if the connection ends in the middle of a run.
        settled(page, HOME)
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
            back = page.get_by_role("status").filter(has_text="Traitbench answers again.")
            expect(back).to_contain_text("copy what you typed", timeout=2 * PATIENCE_MS)
            expect(field).to_have_value("moods")
            settled(away, "Train")
    context.close()


def elsewhere(home: Path, service: Started) -> AbstractContextManager[Started]:
    """A workbench that uses a service on another machine."""
    key = (service.home / "first.key").read_text("utf-8").strip()
    return serving(home / "workbench", TRAITBENCH_API_URL=service.base_url, TRAITBENCH_API_KEY=key)

"""Samples are read and edited by the keyboard, and a text that is typed is saved by Ctrl+Enter, in a browser."""

import pytest
from playwright.sync_api import Page, expect

from tests.app.processes import Started
from tests.browser.conftest import press_shortcut, settled, violations
from tests.conftest import COLD, make_draft

pytestmark = pytest.mark.browser


def test_rows_are_walked_labelled_typed_and_taken_back_by_keys(workbench: Started, page: Page, handle: str) -> None:
    broken = violations(page)
    with workbench.client() as client:
        make_draft(client, handle)
    page.goto(f"{workbench.base_url}/samples?model={handle}")
    settled(page)
    rows, text = page.get_by_role("grid").get_by_role("row"), page.get_by_role("textbox", name="Text of the sample")
    expect(rows.nth(1)).to_have_attribute("aria-selected", "true")
    expect(text).to_have_value(COLD[-1])

    page.keyboard.press("ArrowDown")
    expect(rows.nth(2)).to_have_attribute("aria-selected", "true")
    expect(text).to_have_value(COLD[-2])
    settled(page)
    press_shortcut(page, "2")
    expect(page.get_by_text("is warm now.")).to_be_visible()
    settled(page)

    text.fill("Typed with <b>care</b>.")
    expect(page.get_by_text("Until then it is only in this tab.")).to_be_visible()
    text.press("Control+Enter")
    expect(page.get_by_text("“Typed with")).to_be_visible()
    expect(rows.nth(2)).to_contain_text("Typed with <b>care</b>.")
    with workbench.client() as client:
        assert [(each.text, each.quality) for each in client.samples.list(handle)][-2] == (
            "Typed with <b>care</b>.",
            1.0,
        )

    text.blur()
    settled(page)
    press_shortcut(page, "z")
    expect(text).to_have_value(COLD[-2])
    assert broken == []


def test_on_a_narrow_screen_a_row_opens_a_drawer(workbench: Started, page: Page, handle: str) -> None:
    with workbench.client() as client:
        make_draft(client, handle)
    page.set_viewport_size({"width": 420, "height": 900})
    page.goto(f"{workbench.base_url}/samples?model={handle}")
    settled(page)
    text = page.get_by_role("textbox", name="Text of the sample")
    expect(text).to_be_hidden()
    page.get_by_role("grid").get_by_role("row").nth(3).click()
    expect(text).to_be_visible()
    expect(text).to_have_value(COLD[-4])  # the row of headings is hidden here
    page.get_by_role("button", name="Close").click()
    expect(text).to_be_hidden()
    page.set_viewport_size({"width": 1440, "height": 1000})

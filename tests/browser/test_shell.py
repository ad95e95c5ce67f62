"""What the workbench adds to Streamlit's page: quiet deep links, one step back, words of its own, and the keyboard."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.app.processes import Started
from tests.browser.conftest import EMPTY, HOME, PRESSED, await_shortcut, press_shortcut, settled

pytestmark = pytest.mark.browser

MENU = ("Batch", "Score", "Versions", "Samples", "Home")


def test_a_deep_link_is_quiet_and_one_step_back_is_one_page_back(workbench: Started, page: Page) -> None:
    refused: list[str] = []
    said: list[str] = []
    page.on("response", lambda answer: refused.append(answer.url) if answer.status >= 400 else None)
    page.on("console", lambda line: said.append(line.text) if line.type == "error" else None)
    page.goto(f"{workbench.base_url}/traits?model=demo.headlines")
    settled(page, "Traits")
    assert (refused, said) == ([], [])
    expect(page.locator(".st-key-shell-menu [aria-current]")).to_have_text(re.compile("Samples$"))
    fonts = page.evaluate("[...document.fonts].map(font => `${font.family.replaceAll('\"', '')} ${font.status}`)")
    assert "Inter Variable loaded" in fonts
    assert not [font for font in fonts if font.endswith("error")]

    for title in MENU:
        page.get_by_role("navigation", name="Pages").get_by_role("link", name=title, exact=True).click()
        settled(page, HOME if title == "Home" else title)
        if title != "Home":
            # The address gets its model a moment after the page is drawn; until then there is nothing to come back to.
            expect(page).to_have_url(f"{workbench.base_url}/{title.lower()}?model=demo.headlines")
    for title in (*reversed(MENU[:-1]), "Traits"):
        page.go_back()
        settled(page, title)
        expect(page).to_have_url(f"{workbench.base_url}/{title.lower()}?model=demo.headlines")


def test_the_keyboard_reaches_the_main_action_and_a_dialogs_first_field(with_a_model: Started, page: Page) -> None:
    page.goto(f"{with_a_model.base_url}/train?model={EMPTY}")
    settled(page, "Train")
    page.locator(".traitbench-skip").filter(has_text="Add traits").wait_for(state="attached")
    pressed = 0
    while not page.evaluate("document.activeElement.matches('.traitbench-skip')"):
        page.keyboard.press("Tab")
        pressed += 1
        assert pressed <= 5
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stMain").get_by_role("button", name="Add traits")).to_be_focused()
    page.keyboard.press("Enter")
    settled(page, "Traits")
    page.goto(with_a_model.base_url)
    settled(page, HOME)
    page.get_by_role("button", name="Empty model").first.click()
    expect(page.get_by_role("dialog").locator("input, textarea").first).to_be_focused()


def test_enter_opens_the_first_place_that_ctrl_k_finds(with_a_model: Started, page: Page) -> None:
    page.goto(f"{with_a_model.base_url}/traits?model={EMPTY}")
    settled(page, "Traits")
    press_shortcut(page, "Control+k")
    expect(page.get_by_role("dialog").locator("input")).to_be_focused()
    page.keyboard.type("add samples")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(rf"/samples\?model={EMPTY}&task=Add\+by\+hand"))
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_single_keys_count_by_place_and_can_be_switched_off(workbench: Started, page: Page) -> None:
    page.goto(f"{workbench.base_url}/score?model=demo.support-tone")
    settled(page, "Score")
    # the P of a Russian keyboard, and of one that has another letter there
    await_shortcut(page, "p")
    page.evaluate(PRESSED, {"key": "з", "code": "KeyP"})
    expect(page.locator(".stage")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".stage")).to_have_count(0)
    settled(page, "Score")
    await_shortcut(page, "Control+k")
    page.evaluate(PRESSED, {"key": "л", "code": "KeyK", "ctrlKey": True})
    page.get_by_role("button", name="Switch single keys off").click()
    expect(page.get_by_role("button", name="Switch single keys on")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Close").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("p")
    page.keyboard.press("c")
    page.keyboard.press("r")
    press_shortcut(page, "Control+k")
    expect(page.get_by_role("dialog")).to_have_count(1)
    expect(page.locator(".stage")).to_have_count(0)


def test_pictures_stay_under_a_contrast_theme_and_on_paper_and_no_translator_rewrites_texts(
    workbench: Started, browser: Browser
) -> None:
    themed = browser.new_context(forced_colors="active", color_scheme="dark")
    page = themed.new_page()
    page.goto(f"{workbench.base_url}/score?model=demo.support-tone")
    settled(page, "Score")
    bar, lit = page.locator(".track .bar").first, page.locator(".tb-why span[style]").first
    expect(bar).to_be_visible()
    expect(lit).to_be_attached()
    canvas = page.evaluate("getComputedStyle(document.body).backgroundColor")
    for part in (bar, lit):
        assert part.evaluate("part => getComputedStyle(part).backgroundColor") not in (canvas, "rgba(0, 0, 0, 0)")
        assert part.evaluate("part => getComputedStyle(part).printColorAdjust") == "exact"
    assert page.locator(".track").first.evaluate("track => getComputedStyle(track).outlineStyle") == "solid"
    assert (page.locator("html").get_attribute("lang"), page.locator("html").get_attribute("translate")) == ("en", "no")
    themed.close()

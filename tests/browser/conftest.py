"""A browser, as a person has it, before a Traitbench that was just started for the first time."""

import re
import shutil
from collections.abc import Iterator
from itertools import count

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

from tests.app.processes import Started, running
from tests.contexts import ENCODER
from tests.patience import PATIENCE_MS

# Without the first of these Chromium, run as root and offline, refuses to start or looks for its maker's hosts.
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A page that moves is drawn sixty times a second, by processors.
    "--force-prefers-reduced-motion",
    "--disable-smooth-scrolling",
    "--disable-extensions",
    "--disable-breakpad",
    "--disable-features=Translate,MediaRouter,OptimizationHints",
)
# A busy machine is no fault of the page.
expect.set_options(timeout=PATIENCE_MS)

EMPTY = "local.everyone"
HOME = re.compile(r"^A text is|\bmodels?\b")
"""The title of Home: a question or, for those who have models, how many and what waits."""
_NUMBERS = count(1)
_SETTLED = "[data-testid=stApp][data-test-script-state=notRunning][data-test-connection-state=CONNECTED]"


def chromium(playwright: Playwright, *flags: str, whole: bool = False) -> Browser:
    """A Chromium, started with further flags.

    Debian's `chromium-headless-shell` if it is there: the same engine in two thirds of the processor time. `whole` is
    the browser that people have, for measurements.
    """
    path = (None if whole else shutil.which("chromium-headless-shell")) or shutil.which("chromium")
    assert path, "Chromium is not installed: run 'sudo apt-get install chromium', then try again."
    return playwright.chromium.launch(executable_path=path, args=[*_FLAGS, *flags])


def settled(page: Page, title: str | re.Pattern[str] = "") -> Page:
    """Wait until the page is drawn and its script has ended, with a title until this page is; return it."""
    if title:
        # A list: the title of the page before stays for a moment, and two titles are an error for a single text.
        expect(page.get_by_test_id("stMain").get_by_role("heading", level=1)).to_have_text([title])
    page.wait_for_selector(_SETTLED)
    return page


def press_shortcut(page: Page, keys: str) -> None:
    """Press the shortcut of a button, such as `Control+k`. Streamlit hears it a moment after it drew the button."""
    await_shortcut(page, keys)
    page.keyboard.press(keys)


def await_shortcut(page: Page, keys: str) -> None:
    """Wait until Streamlit hears the shortcut of a button."""
    name = keys.replace("Control", "ctrl").lower()
    page.wait_for_function("name => hotkeys.getAllKeyCodes().some((each) => each.shortcut === name)", arg=name)


PRESSED = """(key) => document.activeElement.dispatchEvent(
  new KeyboardEvent('keydown', { ...key, bubbles: true, cancelable: true, composed: true }))"""
"""Presses a key as a keyboard of another layout does; takes its `key` and its `code`."""


def violations(page: Page) -> list[str]:
    """What the page will have said of its content policy, and of errors in its scripts."""
    said: list[str] = []

    def hear(text: str) -> None:
        if "violates" in text or "Refused to" in text:
            said.append(text)

    page.on("console", lambda message: hear(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    return said


@pytest.fixture(scope="package")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """The real command in an empty home, for all journeys that need no sign-in."""
    with running(tmp_path_factory.mktemp("first-home"), TRAITBENCH_ENCODER=ENCODER or "") as started:
        yield started


@pytest.fixture
def with_a_model(workbench: Started) -> Started:
    """The same with an empty model of one's own."""
    with workbench.client() as client:
        if EMPTY not in {model.handle for model in client.models.list(namespace="local")}:
            client.models.create(EMPTY)
    return workbench


@pytest.fixture
def handle() -> str:
    """A handle that no other test has, nor this one when it runs once more."""
    return f"local.own-{next(_NUMBERS)}"


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """Playwright; no longer than for the tests in this folder, because its event loop holds this thread."""
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """The Chromium that `make test` sees to."""
    browser = chromium(playwright)
    yield browser
    browser.close()


@pytest.fixture(scope="package")
def profile(browser: Browser) -> Iterator[BrowserContext]:
    """One profile with one cache: a new profile would fetch and compile Streamlit's scripts anew."""
    profile = browser.new_context(viewport={"width": 1440, "height": 1000})
    profile.set_default_timeout(PATIENCE_MS)
    yield profile
    profile.close()


@pytest.fixture
def window(profile: BrowserContext) -> Iterator[BrowserContext]:
    """The profile, of somebody whom no page knows; nothing of it is left for the next test."""
    yield profile
    for each in profile.pages:
        if each.url.startswith("http"):
            each.evaluate("localStorage.clear()")
        each.close()
    profile.clear_cookies()


@pytest.fixture
def page(window: BrowserContext) -> Page:
    """A fresh window of it."""
    return window.new_page()

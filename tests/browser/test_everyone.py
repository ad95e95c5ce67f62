"""Every page for everyone: axe finds nothing, in both themes, wide and narrow, full and empty, dialogs too.

All of it happens within the content policy, without an error.

axe-core comes with the package and asks nobody for anything.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.app.processes import Started
from tests.browser.conftest import EMPTY, settled, violations
from tests.size import SOAK, sized
from traitbench_app.shell.navigation import PAGES

pytestmark = pytest.mark.browser

FULL = "demo.headlines"
TEXT = "You will not believe what this dog did next"
VIEWS = {
    "samples": ("task=Check",),
    "versions": ("view=Details", "view=Compare"),
    "model": ("part=Call it",),
    "score": (f"text={TEXT}",),
}
"""Further views of pages, as their links name them."""

OF_STREAMLIT = {
    "scrollable-region-focusable": "Streamlit's code blocks scroll sideways without being focusable; the button beside "
    "them copies the text.",
    "nested-interactive": "Streamlit's select box has a button inside; both work with the keyboard.",
    "aria-hidden-focus": "The table's canvas keeps a hidden table for screen readers, which has focusable cells.",
}
"""What axe finds in Streamlit's own elements and cannot be mended from outside, and why it does not stop anyone."""

Look = tuple[Literal["light", "dark"], int]
LOOKS: tuple[Look, ...] = (("light", 1440), ("dark", 420))
RULES = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}


@pytest.mark.parametrize("looks", sized([LOOKS], [(look,) for look in LOOKS]), ids=sized(["both"], ["light", "dark"]))
def test_axe_finds_nothing_on_any_page(page: Page, with_a_model: Started, looks: Sequence[Look]) -> None:
    """Each page has one of the looks, and at full size every view has both."""
    axe, found, broken = Axe(), {}, violations(page)
    every = [*addresses()]
    for place, (theme, width) in enumerate(looks):
        page.emulate_media(color_scheme=theme)
        page.set_viewport_size({"width": width, "height": 1000})
        for address in sized(every[place :: len(looks)], every):
            page.goto(f"{with_a_model.base_url}/{address}")
            at_rest(page)
            found[address] = faults(axe, page)
            # At 420 pixels, nothing may be cut off at the right.
            assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth"), address
            assert page.get_by_test_id("stException").count() == 0, address
            assert broken == [], address
        page.goto(with_a_model.base_url)
        at_rest(page)
        page.get_by_test_id("stMain").get_by_role("button", name="Paste", exact=True).click()
        page.get_by_role("dialog").get_by_role("textbox").first.wait_for()
        found[f"New model, {theme}"] = faults(axe, page)
    assert {address: each for address, each in found.items() if each} == {}


def addresses() -> Iterator[str]:
    """The addresses of all pages; at full size also of an empty model and of further views."""
    for entry in PAGES:
        if not entry.about_a_model:
            yield entry.url_path
            continue
        yield f"{entry.url_path}?model={FULL}"
        if SOAK:
            yield f"{entry.url_path}?model={EMPTY}"
            for view in VIEWS.get(entry.name, ()):
                yield f"{entry.url_path}?model={FULL}&{view.replace(' ', '+')}"


def at_rest(page: Page) -> None:
    page.get_by_test_id("stMain").get_by_role("heading", level=1).wait_for()
    settled(page)
    page.wait_for_timeout(300)  # elements of the run before fade out
    settled(page)


def faults(axe: Axe, page: Page) -> list[str]:
    """What axe finds, with the first of the elements."""
    violations: list[dict[str, Any]] = axe.run(page, options=RULES).response["violations"]
    return [
        f"{each['id']}: {len(each['nodes'])} x, {each['nodes'][0]['html'][:160]}"
        for each in violations
        if each["id"] not in OF_STREAMLIT
    ]

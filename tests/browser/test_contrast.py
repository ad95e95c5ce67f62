"""Selected tabs, options and main buttons have a contrast of at least 4.5 to 1 in both themes (WCAG 2, AA)."""

from collections.abc import Mapping
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.app.processes import Started
from tests.browser.conftest import EMPTY, settled

pytestmark = [pytest.mark.browser, pytest.mark.soak]

# What fills the page in each theme, which it follows while it is open.
THEMES: Mapping[Literal["light", "dark"], str] = {"light": "rgb(246, 247, 249)", "dark": "rgb(16, 18, 22)"}

_RATIO = """elements => elements.map(element => {
  const parsed = colour => {
    const parts = colour.match(/[\\d.]+/g).map(Number);
    const [factor, alpha] = [colour.startsWith('color(srgb') ? 255 : 1, parts.length > 3 ? parts[3] : 1];
    return [...parts.slice(0, 3).map(part => part * factor), alpha];
  };
  const over = (top, below) => [0, 1, 2].map(at => top[at] * top[3] + below[at] * (1 - top[3])).concat(1);
  const channel = value => value <= 10.31 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const layers = [];
  for (let each = element; each; each = each.parentElement) layers.push(getComputedStyle(each).backgroundColor);
  const behind = layers.reverse().map(parsed).reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  const words = element.querySelector('p') || element;
  const text = over(parsed(getComputedStyle(words).color), behind);
  const [low, high] = [luminance(text), luminance(behind)].sort((a, b) => a - b);
  return [element.innerText, (high + 0.05) / (low + 0.05)];
})"""
_SELECTED = "button[data-variant][data-selected], [role=tab][aria-selected=true], button[kind^=primary]:enabled"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (f"train?model={EMPTY}", ("Add traits",)),
        ("model?model=demo.headlines&part=Call+it", ("Call it", "curl")),
    ],
    ids=["train", "model"],
)
def test_what_is_selected_can_be_read(
    page: Page, with_a_model: Started, address: str, expected: tuple[str, ...]
) -> None:
    page.goto(f"{with_a_model.base_url}/{address}")
    for theme, background in THEMES.items():
        page.emulate_media(color_scheme=theme)
        expect(page.get_by_test_id("stApp")).to_have_css("background-color", background)
        settled(page)
        for words in expected:
            page.locator(_SELECTED).filter(has_text=words).first.wait_for()
        found = dict(page.eval_on_selector_all(_SELECTED, _RATIO))
        assert len(found) >= len(expected), found
        assert {words: round(ratio, 2) for words, ratio in found.items() if ratio < 4.5} == {}, theme

"""Decide what a discovery found by keys, in a real browser; each key acts on the first suggestion."""

import pytest
from playwright.sync_api import Page, expect

from tests.app.processes import Started
from tests.browser.conftest import press_shortcut, settled
from tests.conftest import not_none
from traitbench.sample_data import demo_models

pytestmark = [pytest.mark.browser, pytest.mark.soak]

HEADLINES = next(model for model in demo_models() if model.handle == "demo.headlines")


def test_suggestions_are_decided_and_brought_back_by_keys(with_a_model: Started, page: Page, handle: str) -> None:
    with with_a_model.client() as client:
        client.models.create(handle)
        client.traits.discover(handle, effort="low", texts=[str(each["text"]) for each in HEADLINES.samples[:120]])
        client.models.wait(handle)
        first, second, *rest = client.traits.list(handle)
        page.goto(f"{with_a_model.base_url}/traits?model={handle}")
        settled(page)
        expect(page.get_by_text("Suggestions", exact=True)).to_be_visible()
        shown = page.locator("[class*=st-key-traits-dismiss-axis] button")
        expect(shown).to_have_count(2 + len(rest))

        press_shortcut(page, "d")
        expect(shown).to_have_count(1 + len(rest))
        assert first.key not in {trait.key for trait in client.traits.list(handle)}
        page.get_by_role("button", name="Undo").click()
        expect(shown).to_have_count(2 + len(rest))
        assert client.traits.list(handle)[0] == first

        press_shortcut(page, "f")
        expect(shown).to_have_count(1 + len(rest))
        flipped = client.traits.get(handle, first.key)
        assert (flipped.positive_label, flipped.negative_label) == (first.negative_label, first.positive_label)

        press_shortcut(page, "k")
        expect(shown).to_have_count(len(rest))
        kept = client.traits.get(handle, second.key)
        assert not_none(kept.discovered).suggestion is False

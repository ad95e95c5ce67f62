"""Decide what a discovery found by keys, in a real browser; each key acts on the first suggestion."""

import pytest
from playwright.sync_api import Page, expect

from tests.app.processes import Started
from tests.browser.conftest import SETTLED
from traitbench.sample_data import demo_models

pytestmark = pytest.mark.browser

HANDLE = "local.suggested"
HEADLINES = next(model for model in demo_models() if model.handle == "demo.headlines")


def test_suggestions_are_flipped_dismissed_and_brought_back_by_keys(with_a_model: Started, page: Page) -> None:
    with with_a_model.client() as client:
        client.models.create(HANDLE)
        client.traits.discover(HANDLE, effort="low", texts=[str(each["text"]) for each in HEADLINES.samples[:120]])
        client.models.wait(HANDLE)
        first, second, *rest = client.traits.list(HANDLE)
        page.goto(f"{with_a_model.base_url}/traits?model={HANDLE}")
        page.wait_for_selector(SETTLED)
        expect(page.get_by_text("Suggestions", exact=True)).to_be_visible()
        shown = page.locator("[class*=st-key-traits-dismiss-axis]")
        expect(shown).to_have_count(2 + len(rest))
        page.wait_for_selector(SETTLED)

        page.keyboard.press("d")
        expect(shown).to_have_count(1 + len(rest))
        assert first.key not in {trait.key for trait in client.traits.list(HANDLE)}
        page.get_by_role("button", name="Undo").click()
        expect(shown).to_have_count(2 + len(rest))
        assert client.traits.list(HANDLE)[0] == first

        page.keyboard.press("f")
        expect(shown).to_have_count(1 + len(rest))
        flipped = client.traits.get(HANDLE, first.key)
        assert (flipped.positive_label, flipped.negative_label) == (first.negative_label, first.positive_label)

        page.keyboard.press("k")
        expect(shown).to_have_count(len(rest))
        kept = client.traits.get(HANDLE, second.key)
        assert kept.discovered is not None
        assert not kept.discovered.suggestion

"""Label mode in a browser: a file is dropped, its texts are labelled by keys, and no key is lost."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app.processes import Started
from tests.browser.conftest import PRESSED, settled
from tests.patience import PATIENCE_MS
from tests.size import sized
from traitbench.contract.traits import TraitInput

pytestmark = pytest.mark.browser

BURST = sized(30, 70)
TEXTS = BURST + 20


def test_no_key_is_lost_in_a_burst_or_a_reload(workbench: Started, page: Page, handle: str, tmp_path: Path) -> None:
    with workbench.client() as client:
        client.models.create(handle, description="")
        client.traits.add(handle, [TraitInput(name="Warmth", positive_label="warm", negative_label="cold")])
        file = tmp_path / "texts.csv"
        file.write_text("text\n" + "\n".join(f"Text number {each} is about tea." for each in range(TEXTS)))
        page.goto(f"{workbench.base_url}/label?model={handle}")
        settled(page)
        page.locator("input[type=file]").set_input_files(file)
        page.get_by_role("button", name=f"Label {TEXTS} texts").click()
        expect(page.get_by_text(f"0 of {TEXTS}, 0 saved")).to_be_visible()

        # typing into a field labels nothing
        page.get_by_role("combobox", name="Order").press("ArrowRight")
        page.locator(".labeller .text").click()
        for place in range(BURST):
            page.keyboard.press("ArrowRight" if place % 2 else "ArrowLeft")
            page.wait_for_timeout(60)
        expect(page.get_by_text(f"{BURST} of {TEXTS}, {BURST} saved")).to_be_visible()
        assert sorted(each.quality for each in client.samples.list(handle)) == [0.0] * (BURST // 2) + [1.0] * (
            BURST // 2
        )

        # as a French keyboard sends the key of the 6
        page.evaluate(PRESSED, {"key": "-", "code": "Digit6"})
        page.reload()
        expect(page.get_by_text(f"{BURST + 1} of {TEXTS}, {BURST + 1} saved")).to_be_visible()
        page.evaluate(PRESSED, {"key": "г", "code": "KeyU"})
        expect(page.get_by_text(f"{BURST} of {TEXTS}, {BURST} saved")).to_be_visible()
        page.get_by_role("button", name="Skip").click()
        expect(page.get_by_text(f"{BURST + 1} of {TEXTS}, {BURST} saved")).to_be_visible()
        assert len(list(client.samples.list(handle))) == BURST

        page.keyboard.press("?")
        expect(page.get_by_text("A grade from 0 (cold) to 9 (warm); 6 means 0.67")).to_be_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Continue labelling")).to_be_visible(timeout=PATIENCE_MS)

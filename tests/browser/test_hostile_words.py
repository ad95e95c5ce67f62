"""What somebody called a model is drawn by a real browser as it was typed: no icon, no link, no colour, no formula."""

import pytest
from playwright.sync_api import Page, expect

from tests.app.processes import Started
from tests.browser.conftest import settled
from traitbench.contract.traits import TraitInput

pytestmark = [pytest.mark.browser, pytest.mark.soak]

ATTACK = ":material/skull: :red[pwned] :skull: [pwned](javascript:pwned) $\\frac{1}{2}$ <b>pwned</b>"
NAME = f"{ATTACK} http://pwned.example www.pwned.example me@pwned.example"
README = f"# {ATTACK}\n\n[a](data:text/html,pwned) <javascript:pwned>\n\n[b][c]\n\n[c]: javascript:pwned\n"
DRAWN = (
    "a[href^='javascript:']",
    "a[href^='data:']",
    "a:has-text('pwned')",
    "b:has-text('pwned')",
    ".katex",
    "[data-testid=stIconMaterial]:has-text('skull')",
    "[role=img][aria-label='skull icon']",
    ".stMarkdownColoredText:text-is('pwned')",
)


def test_no_word_of_a_model_becomes_an_icon_a_link_or_a_colour(workbench: Started, page: Page, handle: str) -> None:
    with workbench.client() as client:
        client.models.create(handle, description=NAME, readme_markdown=README, additional_terms=ATTACK)
        client.traits.add(
            handle, [TraitInput(name=NAME, key="x", positive_label=NAME, negative_label="-", description=NAME)]
        )
        for place in ("", f"traits?model={handle}", f"model?model={handle}"):
            page.goto(f"{workbench.base_url}/{place}")
            settled(page)
            expect(page.get_by_text("pwned").first).to_be_visible()
            values = {each: page.locator(each).count() for each in DRAWN}
            assert {each: count for each, count in values.items() if count} == {}, place
        client.models.delete(handle)


@pytest.mark.parametrize("place", ["train?figures=true&"])
def test_no_table_offers_a_file_whose_cells_a_spreadsheet_would_run(workbench: Started, page: Page, place: str) -> None:
    page.goto(f"{workbench.base_url}/{place}model=demo.headlines")
    settled(page)
    page.get_by_test_id("stDataFrame").first.hover()
    expect(page.get_by_label("Fullscreen").first).to_be_visible()
    theirs = page.get_by_label("Download as CSV").all()
    assert theirs
    assert not any(each.is_visible() for each in theirs)

"""The first page as a person meets it: a text is scored between two words, and its words are lit where they are."""

import os
import re
import signal
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.app.processes import Started, running
from tests.browser.conftest import settled
from tests.contexts import ENCODER
from tests.patience import PATIENCE_MS

pytestmark = pytest.mark.browser

AHEAD = "html[data-traitbench-ahead]"
TYPED = " The lid broke, and\nthe </textarea> was rude."
_SIZES = """() => ['textarea', '.tb-why'].map(which => {
  const box = document.querySelector(`[class*="st-key-lit-"] ${which}`).getBoundingClientRect();
  return [box.left, box.top, box.width, box.height].map(Math.round);
})"""


@pytest.fixture(scope="module")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """The command in a home of its own, because models that other tests create change the first page."""
    with running(tmp_path_factory.mktemp("home"), TRAITBENCH_ENCODER=ENCODER or "") as started:
        yield started


def test_a_text_is_scored_while_it_is_typed_and_a_bar_or_a_word_asks_something_else(
    workbench: Started, page: Page
) -> None:
    page.goto(workbench.base_url)
    field = page.get_by_role("textbox", name="Text", exact=True)
    expect(field).to_be_visible(timeout=4 * PATIENCE_MS)
    first = page.locator(".st-key-card-live li .score").first
    before, example = first.text_content(), field.input_value()
    field.press("Control+End")
    field.press_sequentially(TYPED[0])
    expect(page.locator(AHEAD)).to_be_attached()
    expect(page.locator(".st-key-card-live [class*='st-key-scored']").first).to_have_css("opacity", "0.38")
    field.press_sequentially(TYPED[1:])
    expect(first).not_to_have_text(str(before))
    expect(page.locator("[class*='st-key-lit-'] .tb-why")).to_contain_text("rude.")
    expect(page.locator(AHEAD)).to_have_count(0)
    expect(page.locator("[data-of]:not(.old)")).to_be_attached()
    left, right = (page.get_by_role("textbox", name=name, exact=True) for name in ("A text is", "or"))
    another = page.locator(".st-key-live-also li").first
    pole = str(another.locator(".poles bdi").first.text_content())
    another.get_by_role("button").click()
    expect(left).to_have_value(pole)
    right.fill("urgent")
    expect(page.locator(".st-key-card-live li .chip").first).to_have_text("not tested")
    page.get_by_role("button", name="Swap the two words").click()
    expect(left).to_have_value("urgent")
    settled(page)
    expect(field).to_have_value(example + TYPED)
    of_field, of_marks = page.evaluate(_SIZES)
    assert of_field[:3] == of_marks[:3], "a width of its own would break its lines elsewhere"
    assert abs(of_field[3] - of_marks[3]) <= 2
    assert parse_qs(urlsplit(page.url).query) == {"either": ["urgent"], "or": [pole]}, "no text in the address"
    page.goto(f"{workbench.base_url}/idea?either=rude&or=polite")
    expect(right).to_have_value("polite")
    expect(field).to_have_value(example + TYPED)


def test_a_text_survives_a_reload_goes_along_to_score_and_stays_in_this_tab(workbench: Started, page: Page) -> None:
    page.goto(workbench.base_url)
    field = page.get_by_role("textbox", name="Text", exact=True)
    field.fill(TYPED)
    expect(page.locator("[class*='st-key-lit-'] .tb-why")).to_contain_text("rude.")
    page.reload()
    expect(field).to_have_value(TYPED)
    expect(page.locator("[class*='st-key-lit-'] .tb-why")).to_contain_text("rude.")
    page.get_by_role("link", name="Scored by").click()
    expect(page.get_by_role("button", name="Present")).to_be_visible()
    expect(field).to_have_value(TYPED)
    page.reload()
    expect(field).to_have_value(TYPED)
    expect(page.locator("[class*='st-key-lit-'] .tb-why")).to_contain_text("rude.")
    assert "rude" not in page.url
    assert field.evaluate("field => field.scrollHeight <= field.clientHeight"), "its last line is cut off"
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.get_by_role("textbox", name="Text", exact=True)).to_have_value(re.compile("..."))
    expect(other.get_by_role("textbox", name="Text", exact=True)).not_to_have_value(TYPED)


def test_a_service_that_is_stopped_is_said_beside_the_old_score_and_recovers_by_itself(
    workbench: Started, page: Page
) -> None:
    page.goto(workbench.base_url)
    field, said = page.get_by_role("textbox", name="Text", exact=True), page.get_by_text("Not scored: the service does")
    score = page.locator(".st-key-card-live li .score").first
    expect(score).to_be_visible()
    before = score.text_content()
    settled(page)
    os.kill(workbench.process.pid, signal.SIGSTOP)
    try:
        field.fill(TYPED)
        expect(said).to_be_visible()
        expect(page.locator(AHEAD)).to_be_attached()
        expect(score).to_have_text(str(before))
    finally:
        os.kill(workbench.process.pid, signal.SIGCONT)
    expect(said).to_be_hidden()
    expect(page.locator(AHEAD)).to_have_count(0)
    expect(score).not_to_have_text(str(before))

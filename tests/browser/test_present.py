"""The Score page before a room, and on the way there and back: keys, large type, no scrolling, one press of Back."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.app.processes import WITHOUT_DEMOS, Started, running
from tests.browser.conftest import press_shortcut, settled
from tests.conftest import COLD, WARM, make_draft, not_none, train
from tests.contexts import ENCODER

pytestmark = pytest.mark.browser


def answered(page: Page) -> Page:
    """Wait for what a press caused: the script begins a moment later."""
    page.wait_for_timeout(300)
    return settled(page)


def test_a_room_guesses_sees_teaches_and_the_presenter_leaves_by_keys(
    workbench: Started, page: Page, handle: str
) -> None:
    with workbench.client() as client:
        make_draft(client, handle)
        client.models.update(handle, demo_texts=[WARM[0], COLD[0]])
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{workbench.base_url}/score?model={handle}")
    expect(answered(page).get_by_role("button", name="Present")).to_be_visible()
    press_shortcut(page, "p")
    field, hint = page.get_by_placeholder("Type a text.", exact=True), page.locator(".hint")
    score, guess, keys = page.locator(".number.score"), page.locator(".number.guess"), page.locator(".keys")
    expect(field).to_have_value(WARM[0])
    expect(page.get_by_role("heading", name="Cold or warm?")).to_be_visible()
    expect(page.get_by_role("link", name="Home")).to_be_hidden()
    assert page.evaluate("() => document.documentElement.scrollHeight <= innerHeight")

    expect(hint).to_have_text("Hands up: which side?")
    expect(score).to_be_empty()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(guess).to_have_text("The room says60")
    page.keyboard.press("1")  # teaching is no key of the guess
    page.keyboard.press(" ")
    expect(hint).to_contain_text("It says")
    expect(page.locator(".paint span[style]").first).to_be_visible()
    expect(guess).to_have_text("The room said60")
    revealed = score.inner_text()
    assert page.locator(".pole").first.evaluate("each => parseFloat(getComputedStyle(each).fontSize)") >= 28
    track, pole = (page.locator(each).first.bounding_box() for each in (".track", ".pole"))
    assert track is not None
    assert pole is not None
    assert pole["y"] >= track["y"] + track["height"], "The pole is on the bar."

    page.keyboard.press("1")
    expect(hint).to_contain_text("Taught as cold")
    expect(page.locator(".number.before")).to_have_text(f"was{revealed}")
    expect(page.locator(".taught")).to_have_text("1 text taught · Nothing is stored")
    with workbench.client() as client:
        assert WARM[0] not in {sample.text for sample in client.samples.list(handle) if sample.quality == 0}
    page.keyboard.press("z")
    expect(page.locator(".taught")).to_have_text("0 texts taught · Nothing is stored")
    expect(score).to_have_text(revealed)

    page.keyboard.press("n")
    expect(field).to_have_value(COLD[0])
    expect(hint).to_have_text("Hands up: which side?")
    page.keyboard.press(" ")
    page.keyboard.press("b")
    expect(keys).to_contain_text("First text")
    field.fill("The lamp is green.")
    expect(keys).to_have_text("EscLeave the text")
    field.press("Escape")
    expect(score).not_to_be_empty()
    # A key counts once the keys below name it again.
    expect(keys).to_contain_text("First text")
    page.keyboard.press("a")
    expect(field).to_have_value(COLD[0])
    expect(page.locator(".number.before small")).to_have_text("second text")

    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Home")).to_be_visible()
    expect(page.get_by_placeholder("Type or paste a text.")).to_have_value(COLD[0])


@pytest.mark.soak
def test_from_a_row_of_a_batch_back_is_one_press(workbench: Started, page: Page, handle: str) -> None:
    with workbench.client() as client:
        make_draft(client, handle)
        train(client, handle)
    page.goto(f"{workbench.base_url}/batch?model={handle}")
    answered(page).get_by_text("Paste").first.click()
    lines = answered(page).locator("textarea").first
    lines.fill("\n".join(WARM[:3]))
    lines.press("Control+Enter")
    page.get_by_role("button", name="Score 3").first.click()
    rows = page.locator(".st-key-batch-grid canvas").first
    rows.wait_for()
    answered(page)
    rows.click(position={"x": 100, "y": 55}, force=True)  # the table scrolls in an element over its canvas
    page.get_by_role("link", name="Open on the Score page").click()
    expect(page.get_by_role("heading", name="Score", exact=True)).to_be_visible()
    answered(page)
    page.go_back()
    expect(page.get_by_role("heading", name="Batch", exact=True)).to_be_visible()


def test_a_room_sends_a_text_that_waits_until_it_is_shown(browser: Browser, tmp_path: Path, handle: str) -> None:
    given = {**WITHOUT_DEMOS, "TRAITBENCH_ENCODER": ENCODER or "", "TRAITBENCH_ROOM_URL": "http://localhost"}
    with running(tmp_path / "home", **given) as started, started.client() as client:
        make_draft(client, handle)
        page, phone = browser.new_page(), browser.new_page()
        page.goto(f"{started.base_url}/score?model={handle}&present=1")
        expect(page.locator(".keys")).to_contain_text("Let the room send texts")
        page.keyboard.press("q")
        expect(page.locator(".code svg")).to_be_visible()
        path = urlsplit(page.locator(".code p").inner_text()).path
        phone.goto(f"{started.base_url}{path}")
        phone.get_by_label("Your text").fill("So <b>kind</b> of you!")
        phone.get_by_role("button", name="Send").click()
        expect(phone.get_by_role("status")).to_have_text("Sent: it waits for the presenter.")
        expect(page.locator(".sent")).to_have_text("1 sent: “So <b>kind</b> of…” (22 characters)")
        field = page.get_by_placeholder("Type a text.", exact=True)
        expect(field).not_to_have_value("So <b>kind</b> of you!")
        page.keyboard.press("Enter")
        expect(field).to_have_value("So <b>kind</b> of you!")
        expect(page.locator(".hint")).to_have_text("Hands up: which side?")
        page.keyboard.press("Escape")
        expect(page.get_by_placeholder("Type or paste a text.")).to_have_value("")
        answer = not_none(phone.goto(f"{started.base_url}{path}"))
        assert answer.status == 404
        page.close()
        phone.close()

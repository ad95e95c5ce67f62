"""Draws the pictures of the README from the pages: `make pictures`.

A new Traitbench with its demo models scores a message to a customer, then compares it with another wording. Each view
is drawn light and dark. Run it when these views change, and look at what it drew.
"""

import sys
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, FloatRect, Page, expect, sync_playwright

from tests.app.processes import eventually, running
from tests.browser.conftest import chromium, settled
from tests.contexts import link_cache

FOLDER = Path(__file__).resolve().parents[2] / "core" / "docs" / "pictures"
MODEL = "demo.support-tone"
TEXT = (
    "Thank you for your message. Booking fees cannot be refunded after 14 days. Please see section 4 of our terms for"
    " details."
)
SECOND_TEXT = "I am so sorry about this! I have refunded the fee today, and I will make sure it reaches you by Friday."
# For each picture, what is typed, and the parts of the page that it shows.
PICTURES = {
    "score": ({"text": TEXT}, ("card-text", "card-scores")),
    "comparison": (
        {"text": TEXT, "against": SECOND_TEXT},
        ("card-difference", "card-text", "card-second_text"),
    ),
}
# The README shows them less wide than the page is, with two pixels for each of its own.
_EVEN_LETTERS = "--font-render-hinting=none"
_SIZE, _SCALE, _MARGIN, _COLOURS = (1370, 1300), 1.5, 12, 64


def main(folder: Path = FOLDER) -> None:
    """Write all pictures into a folder."""
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        link_cache(home := Path(name))
        with running(home) as started, sync_playwright() as playwright:
            with started.client() as client:
                assert eventually(lambda: MODEL in {model.handle for model in client.models.list(namespace="demo")})
                client.models.wait(MODEL, timeout=900)
            write(chromium(playwright, _EVEN_LETTERS), started.base_url, folder)


def write(browser: Browser, base_url: str, folder: Path) -> None:
    """Write the pictures that a running Traitbench gives."""
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        window = browser.new_context(
            viewport={"width": _SIZE[0], "height": _SIZE[1]}, device_scale_factor=_SCALE, color_scheme=scheme
        )
        for name, (texts, parts) in PICTURES.items():
            page = window.new_page()
            page.goto(f"{base_url}/score?{urlencode({'model': MODEL, **texts})}")
            expect(settled(page, "Score").locator(".st-key-card-text").get_by_text("towards")).to_be_visible()
            path = folder / f"{name}-{scheme}.png"
            path.write_bytes(small(settled(page).screenshot(clip=around(page, parts))))
            sys.stdout.write(f"{path.name}: {path.stat().st_size / 1000:.0f} kB\n")
        window.close()


def around(page: Page, parts: tuple[str, ...]) -> FloatRect:
    """The smallest part of the page that holds these parts of it, with a margin."""
    boxes = [box for part in parts if (box := page.locator(f".st-key-{part}").bounding_box())]
    assert len(boxes) == len(parts)
    left, top = min(box["x"] for box in boxes) - _MARGIN, min(box["y"] for box in boxes) - _MARGIN
    right = max(box["x"] + box["width"] for box in boxes) + _MARGIN
    bottom = max(box["y"] + box["height"] for box in boxes) + _MARGIN
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}


def small(picture: bytes) -> bytes:
    """The same as a PNG of few colours: a third of the size."""
    few = Image.open(BytesIO(picture)).convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    few.save(written := BytesIO(), "PNG", optimize=True)
    return written.getvalue()


if __name__ == "__main__":
    main()

"""A reader of addresses that answers only when a test lets it."""

from datetime import UTC, datetime
from threading import Event

from tests.patience import PATIENCE_S
from traitbench.extract import ReadableText


class Gate:
    """Reads addresses once it is open; `asked` are those that it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.open = Event()

    def __call__(self, url: str) -> ReadableText:
        self.asked.append(url)
        self.open.wait(PATIENCE_S)
        return ReadableText(url, f"what stands at {url}", "0" * 64, datetime.now(UTC))

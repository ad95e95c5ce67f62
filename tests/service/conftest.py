"""A service without a worker, with a trained model, and an address that answers when a test lets it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Event

import pytest

from tests.contexts import fresh_settings, opened, trained_here
from tests.patience import PATIENCE_S
from traitbench.extract import ReadableText
from traitbench.operations import keys
from traitbench.operations.context import Context

ADDRESS = "https://held.example/"


class Gate:
    """Reads addresses when it is open; `asked` are those that it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.open = Event()

    def __call__(self, url: str) -> ReadableText:
        self.asked.append(url)
        self.open.wait(PATIENCE_S)
        return ReadableText(url, "how kind of you", "0" * 64, datetime.now(UTC))


@dataclass(frozen=True)
class Quiet:
    """An open context without a worker, a trained model in it, and a key that may do everything with it."""

    context: Context
    handle: str
    secret: str


@pytest.fixture(scope="package")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quiet]:
    with fresh_settings(tmp_path_factory.mktemp("quiet")) as settings, opened(settings, runs=False) as context:
        secret = keys.create(context.engine, scope="authoring", namespaces=["local"]).secret
        yield Quiet(context, trained_here(context), secret)

"""A service without a worker, with a trained model, and an address that answers when a test lets it."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.contexts import fresh_settings, opened, trained_here
from traitbench.operations import keys
from traitbench.operations.context import Context

ADDRESS = "https://held.example/"


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

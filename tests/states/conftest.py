"""A service without a worker: runs are never executed, so a busy model stays busy."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from tests.contexts import database as database
from tests.contexts import fresh_settings, opened
from tests.contract.world import served
from traitbench.operations import keys
from traitbench.operations.context import Context
from traitbench.service.app import create_app

RETRAIN_AFTER = 3


@dataclass(frozen=True)
class Environment:
    """The service of a walk; `context` executes runs, None if a worker does."""

    base_url: str
    issue: Callable[[str], str]
    retrain_after: int
    context: Context | None = None


@pytest.fixture(scope="package")
def still(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Environment]:
    """Runs wait until the test executes them; three pieces of feedback start a retrain."""
    with (
        fresh_settings(tmp_path_factory.mktemp("still")) as made,
        opened(replace(made, retrain_after_samples=RETRAIN_AFTER), runs=False) as context,
        served(create_app(context)) as base_url,
    ):

        def issue(namespace: str) -> str:
            return keys.create(context.engine, scope="authoring", namespaces=(namespace,)).secret

        yield Environment(base_url, issue, RETRAIN_AFTER, context)

"""A service without a worker: runs are never executed, so a busy model stays busy."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.conftest import not_none
from tests.contexts import database as database
from tests.contexts import fresh_settings, opened
from tests.contract.world import World, served
from tests.states.stage import RETRAIN_AFTER, Stage
from traitbench.operations.context import Context
from traitbench.service.app import create_app


@pytest.fixture(scope="package")
def still(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[World]:
    """Runs wait until the test executes them; three pieces of feedback start a retrain."""
    with (
        fresh_settings(tmp_path_factory.mktemp("still")) as made,
        opened(replace(made, retrain_after_samples=RETRAIN_AFTER), runs=False) as context,
        served(create_app(context)) as base_url,
    ):
        world = World(base_url, context)
        yield world
        world.http.close()


@pytest.fixture(scope="package")
def context(still: World) -> Context:
    """The context of that service."""
    return not_none(still.context)


@pytest.fixture(scope="package")
def stage(still: World) -> Stage:
    """Models in every state, as many as wanted."""
    still.secrets |= {name: still.issue("authoring", "stage") for name in ("authoring", "maker")}
    still.make("stage.draft")
    still.make("stage.ready", train=True)
    still.run("stage.ready")
    still.bundles = {name: still.call("GET", f"/v1/models/stage.{name}/export").body for name in ("draft", "ready")}
    still.bundles["ready"]["versions"][0]["tags"] = ["best"]
    return Stage(still)

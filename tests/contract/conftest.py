"""A service that holds still: models in every state, and no worker that would move them on."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from core.lifecycle import outcomes
from core.lifecycle.bench import Bench
from core.service.app import create_app
from core.store import runs
from core.store.engine import writing
from tests.benches import fresh_settings, opened
from tests.contract.world import World, served

MAX_BODY = 96 * 1024
OWNED = ("mine", "paging")


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The models are trained by a service with a worker, and then served by one without."""
    benches: list[Bench] = []
    with (
        fresh_settings(tmp_path_factory.mktemp("world")) as settings,
        served(create_app(lambda: benches[-1] if benches else None)) as base_url,
    ):
        settings = replace(settings, max_body_bytes=MAX_BODY)
        world = World(base_url)
        with opened(settings, runs=True) as world.bench:
            benches.append(world.bench)
            _people(world)
            _models(world)
        with opened(settings, runs=False) as world.bench:
            benches.append(world.bench)
            _still(world, world.bench)
            yield world
        world.http.close()


def _people(world: World) -> None:
    world.secrets["maker"] = world.issue("authoring", *OWNED, "demo", "other")
    world.secrets["authoring"] = world.issue("authoring", *OWNED)
    world.secrets["scoring"] = world.issue("scoring", *OWNED)


def _models(world: World) -> None:
    for handle in [world.make(f"{namespace}.ready", train=True) for namespace in ("mine", "demo", "other")]:
        world.wait(handle)
    world.make("mine.draft")
    world.make("mine.empty", samples=False)
    world.make("mine.archived")
    assert world.call("DELETE", "/v1/models/mine.archived").status == 200


def _still(world: World, bench: Bench) -> None:
    """What only a worker that does not work shows: a model busy for ever. And one whose training has failed."""
    world.make("mine.busy", train=True)
    world.make("mine.failed", train=True)
    run_id = world.call("GET", "/v1/models/mine.failed").body["last_operation"]["run_id"]
    with writing(bench.engine) as connection:
        run = runs.read(connection, run_id)
        assert run is not None
        assert outcomes.fail(connection, run, code="internal_error", message="It was told to.")

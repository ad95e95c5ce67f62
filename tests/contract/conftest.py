"""A service that holds still: models in every state, and no worker that would move them on."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.contexts import fresh_settings, opened
from tests.contract.stage import FAILED, StateFixtures, fail_first_trainings
from tests.contract.world import World, served
from traitbench.extract import Extracted, extract
from traitbench.operations.context import Context
from traitbench.sample_data import demo_models
from traitbench.service.app import create_app
from traitbench.service.guard import Guard

MAX_BODY = 96 * 1024
OWNED = ("mine", "paging", "stage")
RETRAIN_AFTER = 3
FAULT = "https://fault.example/"


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The models are trained by a service with a worker, and then served by one without."""
    contexts: list[Context] = []
    with (
        fresh_settings(tmp_path_factory.mktemp("world"), encoder=None) as settings,
        served(Guard(create_app(lambda: contexts[-1] if contexts else None), settings)) as base_url,
    ):
        settings = replace(settings, max_body_bytes=MAX_BODY, retrain_after_samples=RETRAIN_AFTER)
        world = World(base_url)
        with opened(settings, runs=True) as world.context:
            contexts.append(world.context)
            _people(world)
            _models(world)
        with opened(settings, runs=False) as context:
            world.context = replace(context, extract=_read)
            contexts.append(world.context)
            world.make("mine.busy", train=True)
            yield world
        world.http.close()


@pytest.fixture(scope="session")
def stage(world: World) -> StateFixtures:
    """Models in every state, as many as wanted."""
    return StateFixtures(world)


def _people(world: World) -> None:
    world.secrets["maker"] = world.issue("authoring", *OWNED, "demo", "other", "walk")
    world.secrets["authoring"] = world.issue("authoring", *OWNED)
    world.secrets["scoring"] = world.issue("scoring", *OWNED)


def _models(world: World) -> None:
    trained = [world.make(f"{name}.ready", train=True) for name in ("mine", "demo", "other")]
    trained.append(world.make("mine.silent", train=True))
    for handle in trained:
        world.wait(handle)
    assert world.call("PATCH", "/v1/models/mine.silent", json={"zero_data_retention": True}).status == 200
    for name in ("draft", "archived", "discovered", "synthesized"):
        world.make(f"mine.{name}")
    world.make("mine.empty", samples=False)
    assert world.call("DELETE", "/v1/models/mine.archived").status == 200
    world.bundles = {name: world.call("GET", f"/v1/models/mine.{name}/export").body for name in ("draft", "ready")}
    world.bundles["ready"]["versions"][0]["tags"] = ["best"]
    _runs(world)


def _runs(world: World) -> None:
    """What only a worker can do: runs that succeed on drafts, trainings that fail."""
    assert world.call("POST", "/v1/models/mine.discovered/samples", json={"samples": _headlines()}).status == 200
    assert world.call("POST", "/v1/models/mine.discovered/traits/discover", json={"effort": "low"}).status == 202
    assert world.call("POST", "/v1/models/mine.synthesized/samples/synthesize", json={"effort": "low"}).status == 202
    for handle in ("mine.discovered", "mine.synthesized"):
        world.wait(handle, "draft")
    fail_first_trainings(world, ["mine.failed", *FAILED])


def _headlines() -> list[dict[str, Any]]:
    """Texts about many things, so that there is something to discover."""
    demo = next(model for model in demo_models() if model.handle == "demo.headlines")
    texts = dict.fromkeys(sample["text"] for sample in demo.samples)
    return [{"trait": "tone", "text": text, "quality": place % 2} for place, text in enumerate([*texts][:80])]


def _read(url: str) -> Extracted:
    """No name leads anywhere, so that nothing leaves the machine; and one address is a fault of the service."""
    if url == FAULT:
        raise ZeroDivisionError
    return extract(url, resolve=lambda host: ())

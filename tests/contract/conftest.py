"""A service that holds still: models in every state, and no worker that would move them on."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.contexts import fresh_settings, opened
from tests.contract.world import World, served
from traitbench.extract import ReadableText, extract
from traitbench.sample_data import demo_models
from traitbench.service.app import create_app
from traitbench.service.trusted_requests import TrustedRequests

MAX_BODY = 96 * 1024
OWNED = ("mine", "paging")
FAULT = "https://fault.example/"


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Runs are executed here, but for that of `mine.busy`."""
    with (
        fresh_settings(tmp_path_factory.mktemp("world")) as settings,
        opened(replace(settings, max_body_bytes=MAX_BODY), runs=False) as context,
    ):
        context = replace(context, extract=_read)
        with served(TrustedRequests(create_app(context), settings)) as base_url:
            world = World(base_url, context)
            world.secrets |= {
                "maker": world.issue("authoring", *OWNED, "demo", "other", "walk"),
                "authoring": world.issue("authoring", *OWNED),
                "scoring": world.issue("scoring", *OWNED),
            }
            _models(world)
            yield world
            world.http.close()


def _models(world: World) -> None:
    for handle in ("mine.ready", "demo.ready", "other.ready", "mine.silent"):
        world.run(world.make(handle, train=True))
    assert world.call("PATCH", "/v1/models/mine.silent", json={"zero_data_retention": True}).status == 200
    for name in ("draft", "archived", "discovered", "synthesized"):
        world.make(f"mine.{name}")
    world.make("mine.empty", samples=False)
    assert world.call("DELETE", "/v1/models/mine.archived").status == 200
    world.bundles = {name: world.call("GET", f"/v1/models/mine.{name}/export").body for name in ("draft", "ready")}
    world.bundles["ready"]["versions"][0]["tags"] = ["best"]
    assert world.call("POST", "/v1/models/mine.discovered/samples", json={"samples": _headlines()}).status == 200
    assert world.call("POST", "/v1/models/mine.discovered/traits/discover", json={"effort": "low"}).status == 202
    assert world.call("POST", "/v1/models/mine.synthesized/samples/synthesize", json={"effort": "low"}).status == 202
    for handle in ("mine.discovered", "mine.synthesized"):
        world.run(handle)
    world.make("mine.busy", train=True)
    world.fail(world.make("mine.failed", train=True))


def _headlines() -> list[dict[str, Any]]:
    """Texts about many things, so that there is something to discover."""
    demo = next(model for model in demo_models() if model.handle == "demo.headlines")
    texts = dict.fromkeys(sample["text"] for sample in demo.samples)
    return [{"trait": "tone", "text": text, "quality": place % 2} for place, text in enumerate([*texts][:80])]


def _read(url: str) -> ReadableText:
    """No name leads anywhere, so that nothing leaves the machine; and one address is a fault of the service."""
    if url == FAULT:
        raise ZeroDivisionError
    return extract(url, resolve=lambda host: ())

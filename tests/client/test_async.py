"""The client for an event loop: it has every method of the other one, and the same manners in bad weather."""

import asyncio
import inspect
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.client.generate import made
from tests.client.test_batches import LINES, card
from tests.client.weather import HEALTHY, Weather
from tests.conftest import Service, make_draft
from traitbench.client import AsyncClient, Client, Traitbench
from traitbench.client.wire import jittered
from traitbench.contract.batches import ScoredLine
from traitbench.errors import Unreachable


def test_the_synchronous_files_are_made_from_the_asynchronous_ones() -> None:
    stale = [path.name for path, text in made() if path.read_text("utf-8") != text]
    assert stale == [], "run python -m tests.client.generate"


def test_both_clients_have_the_same_methods_and_arguments() -> None:
    with Client() as one:
        other = AsyncClient()
        for name in ("models", "traits", "samples", "versions", "scores"):
            assert arguments(getattr(one, name)) == arguments(getattr(other, name))
    assert Traitbench is Client


def test_texts_of_a_batch_may_come_from_an_asynchronous_generator() -> None:
    async def texts() -> AsyncIterator[str]:
        for number in range(5):
            await asyncio.sleep(0)
            yield f"text {number}"

    def answered(request: httpx.Request) -> httpx.Response:
        lines = [json.dumps(card(index)) for index, _ in enumerate(json.loads(request.content)["contents"])]
        return httpx.Response(200, headers=LINES, text="".join(f"{line}\n" for line in lines))

    async def session() -> list[int]:
        async with AsyncClient("http://service.test", transport=httpx.MockTransport(answered)) as client:
            return [line.index async for line in client.scores.batch("a.b", texts(), size=2)]

    assert asyncio.run(session()) == [*range(5)]


def test_a_model_is_made_trained_scored_and_listed(service: Service, namespace: str) -> None:
    handle = f"{namespace}.tone"
    key = service.issue(namespaces=(namespace,))
    with Client(service.base_url, key) as client:
        make_draft(client, handle)

    async def session() -> None:
        async with AsyncClient(service.base_url, key) as client:
            await client.models.train(handle, effort="low")
            seen = list[str]()
            model = await client.models.wait(handle, on_progress=lambda model: seen.append(model.state))
            assert (model.state, seen[-1]) == ("ready", "ready")
            cards = await asyncio.gather(*(client.scores.score(handle, f"Thank you {n}.") for n in range(5)))
            assert {card.metadata.version_id for card in cards} == {"v1"}
            some: list[Any] = ["Thanks.", None, " ", float("nan"), "Go away."]
            lines = [line async for line in client.scores.batch(handle, some, size=2)]
            assert [(line.index, isinstance(line, ScoredLine)) for line in lines] == [
                *((0, True), (1, False), (2, False), (3, False), (4, True))
            ]
            with pytest.raises(TypeError, match="not a single str"):
                client.scores.batch(handle, "Thanks.")
            samples = await client.samples.list(handle, limit=7)
            assert len([sample.id async for sample in samples]) == 20
            assert (first := await samples.first()) is not None
            assert first.trait == "warmth"
            compared = await client.versions.compare(handle, f"{handle}@v1", texts=["Thank you."])
            assert compared.texts is not None

    asyncio.run(session())


def test_another_timeout_holds_for_one_call_also_for_one_that_carries_a_model() -> None:
    weather = Weather(HEALTHY)
    with Client("http://service.test", transport=weather) as client:
        client.with_timeout(5).health()
        client.health()
        for each in (client.with_timeout(5), client):
            with pytest.raises(Unreachable, match="cannot read"):
                each.models.export("a.b")
    assert [request.extensions["timeout"]["read"] for request in weather.asked] == [5, 60, 5, 900]


def test_an_answer_that_is_not_ours_has_the_id_of_its_request() -> None:
    strange = httpx.Response(200, html="<p>", headers={"X-Request-Id": "req_7"})
    with (
        Client("http://service.test", transport=Weather(strange)) as client,
        pytest.raises(Unreachable, match=r"is not Traitbench.*req_7") as caught,
    ):
        client.health()
    assert caught.value.request_id == "req_7"


def test_pauses_differ_and_are_never_shorter_than_asked() -> None:
    pauses = {jittered(1.0) for _ in range(50)}
    assert len(pauses) > 25
    assert min(pauses) >= 1.0
    assert max(pauses) <= 1.5


def arguments(resource: object) -> dict[str, list[str]]:
    methods = inspect.getmembers(resource, inspect.ismethod)
    return {name: [*inspect.signature(method).parameters] for name, method in methods if not name.startswith("_")}

"""What is asked again after a failure and what is not: by both clients, with scripted answers."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.client.bundle import BUNDLE
from tests.client.weather import HEALTHY, Answer, Weather, envelope
from traitbench.client import AsyncClient, Client, wire
from traitbench.contract.samples import SampleInput
from traitbench.errors import ModelBusy, ModelNotTrained, TraitbenchError, Unavailable, Unreachable

Call = Callable[[Any], Any]

REFUSED = httpx.ConnectError("refused")
RESET = httpx.ReadError("reset")
GATEWAY = httpx.Response(502, html="<h1>Bad gateway</h1>")
AWAY = envelope("unavailable", 503, headers={"Retry-After": "0"})
LATER = envelope("unavailable", 503, headers={"Retry-After": "120"})
REFUSALS = [envelope("some_code", status) for status in (400, 401, 403, 404, 409, 413, 422, 500)]
BUSY = envelope("unavailable", 503, headers={"Retry-After": "0"}, busy="score", at_once=32)
NOT_TRAINED = envelope("model_not_trained", 409)


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "PAUSES", tuple(pause / 20 for pause in wire.PAUSES))
    monkeypatch.setattr(wire, "_LATER", wire._LATER / 100)


def health(client: Any) -> Any:
    return client.health()


SCORES: list[Call] = [
    lambda client: client.scores.score("a.b", "text"),
    lambda client: client.scores.score("a.b", "text", explain=True),
    lambda client: client.scores.chart("a.b", "text"),
    lambda client: client.scores.compare("a.b", "one", "two"),
    lambda client: client.scores.compare_chart("a.b", "one", "two"),
]
WRITES: list[Call] = [
    lambda client: client.models.create("a.b"),
    lambda client: client.models.import_(BUNDLE),
    lambda client: client.scores.score("a.b", "text", feedback={"x": 1}),
]
OTHERS: list[Call] = [
    lambda client: client.models.update("a.b", description="Another."),
    lambda client: client.models.delete("a.b"),
]
ME = httpx.Response(200, json={"key_id": "k", "person": "k", "name": "", "scope": "authoring", "namespaces": []})
NO_ROUTE = envelope("route_not_found", 404)


def rows(title: str, calls: list[Call], answers: list[tuple[Answer, ...]], requests: int, error: Any) -> list[Any]:
    return [
        pytest.param(call, each, requests, error, id=f"{title}-{number}")
        for number, (call, each) in enumerate((call, each) for call in calls for each in answers)
    ]


FLEETING: list[Answer] = [
    REFUSED,
    RESET,
    httpx.RemoteProtocolError("went away"),
    AWAY,
    GATEWAY,
    httpx.Response(504, text="timeout"),
]


@pytest.mark.parametrize(
    ("call", "answers", "requests", "error"),
    [
        *rows("a read is repeated", [health], [(each, each, HEALTHY) for each in FLEETING], 3, None),
        *rows("and given up after three times", [health], [(REFUSED,), (GATEWAY,)], 3, Unreachable),
        *rows("and given up while the service is away", [health], [(AWAY,)], 3, Unavailable),
        *rows("a long pause is not waited for", [health], [(LATER,)], 1, Unavailable),
        *rows("a slow read is not repeated", [health], [(httpx.ReadTimeout("slow"),)], 1, Unreachable),
        *rows("an answer is an answer", [health], [(each,) for each in REFUSALS], 1, TraitbenchError),
        *rows("so is a score", SCORES, [(each, each, NOT_TRAINED) for each in FLEETING], 3, ModelNotTrained),
        *rows("and a write that did not arrive", WRITES, [(REFUSED, AWAY, NOT_TRAINED)], 3, ModelNotTrained),
        *rows("or may have", WRITES, [(RESET, ME, NOT_TRAINED), (GATEWAY, ME, NOT_TRAINED)], 3, ModelNotTrained),
        *rows("but not with a service that ignores keys", WRITES, [(RESET, NO_ROUTE)], 2, Unreachable),
        *rows("nor when it is slow", WRITES, [(httpx.ReadTimeout("slow"),)], 1, Unreachable),
        *rows("others only if they did not arrive", OTHERS, [(REFUSED, REFUSED, NOT_TRAINED)], 3, ModelNotTrained),
        *rows("and no more if they may have", OTHERS, [(RESET,), (GATEWAY,)], 1, Unreachable),
        *rows("or the service says not now", OTHERS, [(AWAY,), (BUSY,)], 1, Unavailable),
        *rows("or the model is busy", [*SCORES, *WRITES], [(envelope("model_busy", 409),)], 1, ModelBusy),
        *rows("a busy service is asked again", [*SCORES, *WRITES], [(*[BUSY] * 5, NOT_TRAINED)], 6, ModelNotTrained),
    ],
)  # fmt: skip
def test_how_often_a_call_is_sent(
    call: Call, answers: tuple[Answer, ...], requests: int, error: type[TraitbenchError] | None
) -> None:
    async def session() -> None:
        async with AsyncClient("http://service.test", transport=others) as client:
            await call(client)

    weather, others = Weather(*answers), Weather(*answers)
    with Client("http://service.test", transport=weather) as client:
        for run in (lambda: call(client), lambda: asyncio.run(session())):
            if error is None:
                run()
            else:
                with pytest.raises(error):
                    run()
    assert len(weather.asked) == len(others.asked) == requests
    sent = {
        (request.method, request.url, request.read(), request.headers.get(wire.KEY))
        for request in weather.asked
        if request.url.path != "/v1/me"
    }
    assert len(sent) == 1, "what is repeated is the same, its key included"


def test_what_writes_has_a_key_of_its_own_and_what_only_reads_has_none() -> None:
    keys = []
    for call in [*WRITES, *WRITES, *SCORES, *OTHERS]:
        weather = Weather(NOT_TRAINED)
        with Client("http://service.test", transport=weather) as client, pytest.raises(ModelNotTrained):
            call(client)
        keys.append(weather.asked[0].headers.get(wire.KEY))
    written = keys[: 2 * len(WRITES)]
    assert len({*written} - {None}) == len(written)
    assert {*keys[len(written) :]} == {None}


RESTART: list[Answer] = [RESET, *[REFUSED] * 20, AWAY, GATEWAY, *[AWAY] * 5]


@pytest.mark.parametrize("call", [health, *SCORES, *WRITES])
def test_a_service_that_has_answered_is_waited_for(call: Call) -> None:
    """But nobody waits for the answer whether it is there now."""
    weather = Weather(HEALTHY, *RESTART, *([ME] if call in WRITES else []), NOT_TRAINED)
    with Client("http://service.test", transport=weather) as client:
        client.health()
        with pytest.raises(Unreachable if call is health else ModelNotTrained):
            call(client)
    assert (len(weather.asked) == 4) is (call is health)


@pytest.mark.parametrize("seconds", [{"restart_timeout": 0.3}, {"timeout": 0.3}, {"restart_timeout": 0}], ids=str)
def test_a_service_that_does_not_come_back_is_given_up(seconds: dict[str, Any]) -> None:
    weather = Weather(ME, REFUSED)
    with Client("http://service.test", transport=weather, **seconds) as client:
        assert client.me().key_id == "k"
        with pytest.raises(Unreachable):
            client.scores.score("a.b", "text")
    repeated = len(weather.asked) - 2
    assert repeated == 2 if seconds == {"restart_timeout": 0} else repeated > 2


def test_samples_that_are_stored_stand_in_the_error_of_a_service_that_stays_away() -> None:
    added = httpx.Response(200, json={"ids": [*range(500)], "change_id": 1})
    weather = Weather(added, REFUSED)
    samples = [SampleInput(trait="x", text=f"text {each}", quality=1.0) for each in range(1_200)]
    with (
        Client("http://service.test", transport=weather, restart_timeout=0.1) as client,
        pytest.raises(Unreachable) as caught,
    ):
        client.samples.add("a.b", samples)
    assert caught.value.details["left_behind"] == [*range(500)]
    assert caught.value.details["unanswered"] == [500, 999]


def test_a_slow_read_says_how_long_it_was_waited_for() -> None:
    with (
        Client("http://service.test", transport=Weather(httpx.ReadTimeout("slow"))) as client,
        pytest.raises(Unreachable, match="did not answer within 60 s"),
    ):
        client.health()


def test_a_score_is_not_asked_for_again_beyond_the_timeout() -> None:
    weather = Weather(envelope("unavailable", 503, headers={"Retry-After": "2"}, busy="score"))
    with Client("http://service.test", timeout=1.5, transport=weather) as client, pytest.raises(Unavailable):
        client.scores.score("a.b", "text")
    assert len(weather.asked) == 1

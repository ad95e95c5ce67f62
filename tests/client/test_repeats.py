"""What is asked again after a failure and what is not: by both clients, with scripted answers."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.client.bundle import BUNDLE
from tests.client.weather import HEALTHY, Answer, Weather, envelope
from traitbench.client import AsyncClient, Client, wire
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
        *rows("what is no read is sent once", [*SCORES, *WRITES], [(REFUSED,), (RESET,)], 1, Unreachable),
        *rows("also when the service is away", [*SCORES, *WRITES], [(AWAY,)], 1, Unavailable),
        *rows("or the model busy", [*SCORES, *WRITES], [(envelope("model_busy", 409),)], 1, ModelBusy),
        *rows("a score is asked again of a busy service", SCORES, [(*[BUSY] * 5, NOT_TRAINED)], 6, ModelNotTrained),
        *rows("a write is not", WRITES, [(BUSY,)], 1, Unavailable),
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
    assert len({request.read() for request in weather.asked}) == 1, "what is repeated is the same"


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

"""What the protocol's library refuses is answered as the API answers, before any tool is called."""

import asyncio
from collections.abc import Mapping

import httpx
import pytest

from traitbench.agents.http import Agents

LARGEST = 2_000
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
PING = b'{"jsonrpc": "2.0", "id": 7, "method": "%s"}'
SECRET_TEXT = b"Aardvark-7731"


async def _anyone(_secret: str | None) -> None:
    """Let every key in."""


async def _asked(content: bytes, headers: Mapping[str, str]) -> httpx.Response:
    agents = Agents(_nothing, _anyone, largest=LARGEST)
    async with agents.lifespan():
        transport = httpx.ASGITransport(agents)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.post("/mcp", content=content, headers=headers)


async def _nothing(_scope: object, _receive: object, _send: object) -> None:
    """Stand where the API is, which no request here reaches."""


@pytest.mark.parametrize(
    ("content", "headers", "status", "code"),
    [
        (b'{"text": "%s"' % SECRET_TEXT, {}, 400, "invalid_request"),
        (b"\xff\xfe", {}, 400, "invalid_request"),
        (b"[" * 1_500, {}, 400, "invalid_request"),
        (b'{"text": "%s"}' % SECRET_TEXT, {}, 400, "invalid_request"),
        (PING % b"ping", {"Content-Type": "text/plain"}, 400, "invalid_request"),
        (PING % b"ping", {"Accept": "text/html"}, 406, "not_acceptable"),
        (b"x" * (LARGEST + 1), {}, 413, "body_too_large"),
    ],
)
def test_what_the_library_refuses_has_the_envelope(
    content: bytes, headers: Mapping[str, str], status: int, code: str
) -> None:
    answer = asyncio.run(_asked(content, {**JSON, **headers}))
    assert answer.status_code == status
    error = answer.json()["error"]
    assert (error["code"], error["request_id"]) == (code, answer.headers["X-Request-Id"])
    assert SECRET_TEXT not in answer.content


def test_an_answer_of_the_protocol_stays_as_it_is_and_has_a_request_id() -> None:
    for method, said in ((b"ping", "result"), (b"unknown/method", "error")):
        answer = asyncio.run(_asked(PING % method, JSON))
        assert answer.headers["X-Request-Id"].startswith("req_")
        assert answer.json()["id"] == 7
        assert said in answer.json()

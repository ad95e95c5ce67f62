"""What holds for every request: ids, the 500 that tells nothing, a service that is not ready, callers that go away."""

import asyncio
import io
import json
import logging
import socket
from typing import Any

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from tests.conftest import Service
from tests.contract.world import REQUEST_ID, served
from traitbench.logs import LogHandler
from traitbench.operations.context import Context
from traitbench.service.app import create_app
from traitbench.service.request_id import RequestIdMiddleware

SECRET = "the content of a text"
OPERATIONS = [("GET", "/v1/models"), ("POST", "/v1/models"), ("GET", "/v1/health"), ("POST", "/v1/models/a.b/score")]


class Faulty:
    """Fails before it answers, or while it does."""

    def __init__(self, *, midway: bool) -> None:
        self._midway = midway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._midway:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
        try:
            raise KeyError(SECRET)
        except KeyError as error:
            raise ValueError(f"cannot use {SECRET}") from error


def line_of(record: logging.LogRecord) -> str:
    """What the log shows of a record."""
    stream = io.StringIO()
    LogHandler(stream, "json").emit(record)
    return stream.getvalue()


def sent_by(app: Any) -> list[Message]:
    """The messages that an application answers a request with."""
    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    scope = {"type": "http", "method": "GET", "path": "/v1/x", "raw_path": b"/v1/x", "headers": [], "query_string": b""}
    asyncio.run(app(scope, receive, send))
    return messages


def test_what_nobody_caught_is_a_500_with_the_envelope(caplog: pytest.LogCaptureFixture) -> None:
    start, body = sent_by(RequestIdMiddleware(Faulty(midway=False)))
    error = json.loads(body["body"])["error"]
    assert start["status"] == 500
    assert error["code"] == "internal_error"
    assert error["request_id"].encode() == dict(start["headers"])[b"x-request-id"]


def test_the_log_finds_the_fault_by_its_id_and_tells_no_content(caplog: pytest.LogCaptureFixture) -> None:
    start, _ = sent_by(RequestIdMiddleware(Faulty(midway=False)))
    (record,) = caplog.records
    written = line_of(record)
    assert record.levelno == logging.ERROR
    assert dict(start["headers"])[b"x-request-id"].decode() in written
    assert "builtins.ValueError" in written
    assert "builtins.KeyError" in written
    assert "test_request_id.py" in written
    assert SECRET not in written


def test_an_answer_that_has_begun_is_not_begun_again(caplog: pytest.LogCaptureFixture) -> None:
    (start,) = sent_by(RequestIdMiddleware(Faulty(midway=True)))
    assert start["status"] == 200
    assert REQUEST_ID.fullmatch(dict(start["headers"])[b"x-request-id"].decode())
    assert len(caplog.records) == 1


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_a_fault_within_the_service_is_told_the_same_way(
    caplog: pytest.LogCaptureFixture, method: str, path: str
) -> None:
    def broken() -> Context:
        raise RuntimeError(SECRET)

    with served(create_app(broken)) as base_url:
        answer = httpx.request(method, base_url + path, json={"content": SECRET} if method == "POST" else None)
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal_error"
    assert answer.json()["error"]["request_id"] == answer.headers["x-request-id"]
    written = "".join(map(line_of, caplog.records))
    assert answer.headers["x-request-id"] in written
    assert SECRET not in written + answer.text


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_until_the_context_is_open_the_service_is_unavailable(method: str, path: str) -> None:
    with served(create_app(lambda: None)) as base_url:
        answer = httpx.request(method, base_url + path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
    assert answer.headers["retry-after"].isdecimal()


def test_the_description_needs_no_bench() -> None:
    with served(create_app(lambda: None)) as base_url:
        assert httpx.get(f"{base_url}/v1/openapi.json").status_code == 200
        assert httpx.get(f"{base_url}/v1/docs").status_code == 200


def test_health_is_ok_when_store_encoder_and_runs_are_up(service: Service) -> None:
    answer = httpx.get(f"{service.base_url}/v1/health")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")


@pytest.mark.parametrize("framing", ["Content-Length: 1000", "Transfer-Encoding: chunked"])
def test_a_caller_that_goes_away_is_no_fault(service: Service, caplog: pytest.LogCaptureFixture, framing: str) -> None:
    secret = service.issue()
    head = f"POST /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {secret}\r\n{framing}\r\n\r\n"
    for cut in ("", "2\r\n{}", '{"handle":'):
        with socket.create_connection(("127.0.0.1", service.settings.port)) as caller:
            caller.sendall((head + cut).encode())
    assert httpx.get(f"{service.base_url}/v1/health").status_code == 200
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []

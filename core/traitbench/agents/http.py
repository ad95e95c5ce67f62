"""The tools at `/mcp` of the service: requests of an agent with an API key.

Each request stands alone: there are no sessions, so any process can answer it. A tool calls the service in the same
process through the client, with the key of the request. So scope, namespaces, limits and metrics are those of `/v1`.
The package `mcp` is imported for the first request, because its import would slow every start.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx
from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from ulid import ULID

from traitbench.client import AsyncClient
from traitbench.errors import (
    BodyTooLarge,
    InternalError,
    InvalidRequest,
    MethodNotAllowed,
    NotAcceptable,
    TraitbenchError,
    UnsupportedMediaType,
)

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from traitbench.agents.server import Context


class Agents:
    """The ASGI application at `/mcp`; `check` raises an error unless it is given a valid key."""

    def __init__(self, api: ASGIApp, check: Callable[[str | None], Awaitable[None]], *, largest: int) -> None:
        """`largest` is the limit of a request's body in bytes."""
        self._api = api
        self._check = check
        self._largest = largest
        self._closing = asyncio.Event()
        self._ready: asyncio.Task[StreamableHTTPSessionManager] | None = None
        self._running: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Stop what the first request started."""
        try:
            yield
        finally:
            self._closing.set()
            if self._running is not None:
                await self._running

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check the method and the key, then answer the request."""
        identity = f"req_{ULID()}"
        try:
            if scope["method"] != "POST":
                raise MethodNotAllowed(
                    "This path supports only POST.", details={"allow": ["POST"]}, headers={"Allow": "POST"}
                )
            await self._check(_secret(scope))
        except TraitbenchError as error:
            await _refused(error, identity)(scope, receive, send)
            return
        answer = _LibraryAnswer(send, identity)
        await (await self._manager()).handle_request(scope, receive, answer)
        if answer.refused:
            await _refused(self._reason(answer.refused), identity)(scope, receive, send)

    def _reason(self, status: int) -> TraitbenchError:
        """Return what the protocol's library means by a status. Its own sentences may have the text of the request."""
        match status:
            case 406:
                return NotAcceptable("Accept has to allow application/json and text/event-stream.")
            case 413:
                return BodyTooLarge(f"The body has more than {self._largest:,} bytes.")
            case 415:
                return UnsupportedMediaType("Content-Type has to be application/json.")
            case _ if status >= 500:
                return InternalError("The tools failed at this request. Try again.")
        return InvalidRequest(
            "The request is no JSON message of the Model Context Protocol. Check its body and headers."
        )

    async def _manager(self) -> "StreamableHTTPSessionManager":
        if self._ready is None:
            self._ready = asyncio.ensure_future(self._start())
        # An agent that leaves cancels its own waiting only, not the start that others wait for.
        return await asyncio.shield(self._ready)

    async def _start(self) -> "StreamableHTTPSessionManager":
        manager = await asyncio.to_thread(self._make)
        started = asyncio.Event()

        # Entered and left in one task, as the task group inside requires; the task of a request ends too early.
        async def run() -> None:
            async with manager.run():
                started.set()
                await self._closing.wait()

        self._running = asyncio.create_task(run())
        await started.wait()
        return manager

    def _make(self) -> "StreamableHTTPSessionManager":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from traitbench.agents.server import make_server

        server = make_server(self._client, _reads_text)
        return StreamableHTTPSessionManager(
            server, json_response=True, stateless=True, max_request_body_size=self._largest
        )

    @asynccontextmanager
    async def _client(self, context: "Context") -> AsyncIterator[AsyncClient]:
        """Connect a client to the service in this process, with the key of the request."""
        assert context.request is not None
        scope: Scope = context.request.scope
        # With the address of the agent, which the log names and which says who is local.
        transport = httpx.ASGITransport(self._api, raise_app_exceptions=False, client=scope.get("client") or ("", 0))
        # The transport calls the application, so nothing connects to this address.
        async with AsyncClient("http://127.0.0.1", _secret(scope), transport=transport) as client:
            yield client


def _reads_text(context: "Context") -> bool:
    """Whether the address of a request asks for answers as text: `/mcp?text=true`."""
    assert context.request is not None
    asked: QueryParams = context.request.query_params
    return asked.get("text") == "true"


def _secret(scope: Scope) -> str | None:
    """Return the key of `Authorization: Bearer <key>`, or None if there is no such header, or more than one."""
    match [header.split() for header in Headers(scope=scope).getlist("authorization")]:
        case [[scheme, secret]] if scheme.lower() == "bearer":
            return secret
    return None


class _LibraryAnswer:
    """Sends what the protocol's library answers, with the id of the request.

    A refusal that answers no message of the protocol is not sent: `refused` is its status, otherwise 0.
    """

    def __init__(self, send: Send, identity: str) -> None:
        self._send, self._identity = send, identity
        self._start: Message = {}
        self._body = b""
        self.refused = 0

    async def __call__(self, message: Message) -> None:
        """Send a part of an answer, or keep it until the body says what it is."""
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message)["X-Request-Id"] = self._identity
            if message["status"] >= 400:
                self._start = message
                return
        if not self._start:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if message.get("more_body"):
            return
        if _answers_a_message(self._body):
            await self._send(self._start)
            await self._send({"type": "http.response.body", "body": self._body})
        else:
            self.refused = self._start["status"]


def _answers_a_message(body: bytes) -> bool:
    """Whether a body has the id of a message that it answers, so that a client can read it."""
    try:
        answer = json.loads(body)
    except ValueError:
        return False
    return isinstance(answer, dict) and answer.get("id") is not None


def _refused(error: TraitbenchError, identity: str) -> Response:
    """Return the response for an error, as the API gives it."""
    body = {"code": error.code, "message": error.message, "request_id": identity, "details": error.details}
    return JSONResponse({"error": body}, error.status, {"X-Request-Id": identity, **error.headers})

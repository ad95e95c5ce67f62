"""The tools at `/mcp` of the service: requests of an agent with an API key.

Each request stands alone: there are no sessions, so any process can answer it. A tool calls the service in the same
process through the client, with the key of the request. So scope, namespaces, limits and metrics are those of `/v1`.
The package `mcp` is imported for the first request, because its import would slow every start.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from ulid import ULID

from traitbench.client import AsyncClient
from traitbench.errors import MethodNotAllowed, TraitbenchError

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
        try:
            if scope["method"] != "POST":
                raise MethodNotAllowed(
                    "This path supports only POST.", details={"allow": ["POST"]}, headers={"Allow": "POST"}
                )
            await self._check(_secret(scope))
        except TraitbenchError as error:
            await _refused(error)(scope, receive, send)
            return
        await (await self._manager()).handle_request(scope, receive, send)

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

        return StreamableHTTPSessionManager(
            make_server(self._client), json_response=True, stateless=True, max_request_body_size=self._largest
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


def _secret(scope: Scope) -> str | None:
    """Return the key of `Authorization: Bearer <key>`, or None if there is no such header, or more than one."""
    match [header.split() for header in Headers(scope=scope).getlist("authorization")]:
        case [[scheme, secret]] if scheme.lower() == "bearer":
            return secret
    return None


def _refused(error: TraitbenchError) -> Response:
    """Return the response for an error, as the API gives it."""
    identity = f"req_{ULID()}"
    body = {"code": error.code, "message": error.message, "request_id": identity, "details": error.details}
    return JSONResponse({"error": body}, error.status, {"X-Request-Id": identity, **error.headers})

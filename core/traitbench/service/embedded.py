"""The service in this process: the API at its prefixes, agents' tools at `/mcp`, and the worker beside them.

To start quickly, the worker process is started first and the rest is imported meanwhile. That is why most is imported
where it is opened, not at the top.
"""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from traitbench.errors import Unavailable
from traitbench.service.sent_keys import every_secret
from traitbench.service.trusted_requests import TrustedRequests
from traitbench.settings import Settings, read_settings

if TYPE_CHECKING:
    from traitbench.agents.http import Agents
    from traitbench.operations.context import Context
    from traitbench.operations.sample_vectors import VectorsById

AGENTS = "/mcp"


def api(settings: Settings | None = None) -> ASGIApp:
    """Build the service without the workbench."""
    settings = settings or read_settings()
    service = Embedded(settings)
    first = Middleware(ServiceFirst, service=service, below=("/",))
    return TrustedRequests(Starlette(lifespan=service.lifespan, middleware=[first]), settings, known=has_key)


def has_key(scope: Scope) -> bool:
    """Whether a request has a key that was valid at its last use. This grants no access, only priority."""
    from traitbench.operations import keys

    return any(keys.was_valid(secret) for secret in every_secret(scope))


class Embedded:
    """The service inside this process: opened before the server listens, closed in reverse order."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._api: ASGIApp | None = None
        self._agents: Agents | None = None
        self.context: Context | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        app = self._agents if scope["path"] == AGENTS else self._api
        assert app is not None, "a request arrived before the lifespan started"
        await app(scope, receive, send)

    @asynccontextmanager
    async def lifespan(self, _app: object) -> AsyncIterator[None]:
        """Open, serve, close. This uses threads, because the run engine refuses to start on an event loop."""
        try:
            await asyncio.to_thread(self.open)
            assert self._agents is not None
            async with self._agents.lifespan():
                yield
        finally:
            await asyncio.to_thread(self.close)

    def open(self) -> None:
        """Open the store, the worker process and the encoder, then build the API; add demo models in the background."""
        from traitbench.operations import WORKER
        from traitbench.operations.context import open_context

        self.context = open_context(self._settings, worker=WORKER)

        from traitbench.agents.http import Agents
        from traitbench.operations import demo, keys
        from traitbench.service.app import create_app

        keys.first_key(self.context)
        self._api = create_app(lambda: self.context, self.context.telemetry)
        self._agents = Agents(self._api, self._check, largest=self._settings.max_body_bytes)
        threading.Thread(target=demo.ensure_demo_models, args=(self.context,), name="demo models", daemon=True).start()

    async def _check(self, secret: str | None) -> None:
        """Raise `Unauthenticated` unless a request to the agents' tools has a valid key."""
        from traitbench.operations import keys

        context = self.context
        if context is None:
            raise Unavailable("The service is stopping. Try again in a moment.")
        await asyncio.to_thread(keys.caller, context, secret)

    def keep_vectors(self, encoder_digest: str, vectors: "VectorsById") -> None:
        """Store vectors of samples that the workbench has made, for the next training."""
        from traitbench.operations import sample_vectors

        if self.context is not None:
            sample_vectors.adopt(self.context.engine, encoder_digest, vectors)

    def under_zero_retention(self) -> frozenset[str]:
        """Return the handles of all models under zero data retention; none while the service is not open."""
        from traitbench.operations import zero_retention

        return frozenset() if self.context is None else zero_retention.handles(self.context.engine)

    def close(self) -> None:
        """Stop what `open` started. Late requests get a 503 that says that the service is stopping."""
        context, self.context = self.context, None
        if context is not None:
            context.close()


class ServiceFirst:
    """Routes requests below some paths to the service, before Streamlit's own middleware can change them."""

    def __init__(self, app: ASGIApp, *, service: ASGIApp, below: tuple[str, ...]) -> None:
        self._app = app
        self._service = service
        self._below = below

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or pass it on."""
        ours = scope["type"] == "http" and f"{scope['path']}/".startswith(self._below)
        await (self._service if ours else self._app)(scope, receive, send)

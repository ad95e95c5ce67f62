"""The ASGI applications: the pages at `/`, the API at `/v1`, agents' tools at `/mcp`, and a lifespan with the worker.

`workbench` builds all of that, or only the pages if the environment names a remote service. `api` builds the service
alone. Both are factories: `uvicorn --factory traitbench_app.process.asgi:workbench`.

To start quickly, the worker process is started first and the rest is imported meanwhile. That is why the service is
imported where it is opened, not at the top.
"""

import asyncio
import gc
import importlib
import logging
import pkgutil
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

import traitbench_app
from traitbench import logs
from traitbench.errors import Unavailable
from traitbench.service.guard import Guard
from traitbench.settings import Settings, read_settings

if TYPE_CHECKING:
    from traitbench.agents.http import Agents
    from traitbench.local.handover import VectorsById
    from traitbench.operations.context import Context
    from traitbench_app.process.openid import OpenId

_MAIN = Path(__file__).with_name("entry.py")
# Not imported in advance: entry points, and a sign-in that most do not use, which loads cryptographic libraries.
_NOT_PAGES = frozenset(
    {
        "traitbench_app.process.openid",
        "traitbench_app.process.asgi",
        "traitbench_app.process.entry",
    }
)
_HEAVY = ("pandas", "plotly.graph_objects", "plotly.io")
_SWITCH_SECONDS = 0.001
_AGENTS = "/mcp"

_log = logging.getLogger(__name__)


def workbench(settings: Settings | None = None, *, secret: str = "") -> ASGIApp:
    """Build the pages at `/`, and the API at `/v1` unless the environment names a remote service.

    `secret` is the secret of the operator's sign-in link. Without it, people can sign in only with API keys.
    """
    import streamlit as st

    from traitbench.local import handover
    from traitbench_app.process import offline
    from traitbench_app.process.assets import Assets

    offline.block_lookups()
    assets = Middleware(Assets)
    settings = settings or read_settings()
    openid = _openid(settings)
    if settings.api_url:
        remote = st.App(_MAIN, lifespan=_warmed, routes=_frame(), middleware=[assets], on_script_error=_crashed)
        return _guarded(remote, settings, secret)
    service = Embedded(settings)

    @asynccontextmanager
    async def lifespan(streamlit: object) -> AsyncIterator[None]:
        signing_in = openid.lifespan() if openid else nullcontext()
        async with service.lifespan(streamlit), signing_in, _warmed(streamlit):
            handover.connect(service.keep_vectors)
            try:
                yield
            finally:
                handover.connect(None)

    first = Middleware(_ServiceFirst, service=service, below=("/v1/", f"{_AGENTS}/"))
    pages = st.App(_MAIN, lifespan=lifespan, routes=_frame(), middleware=[first, assets], on_script_error=_crashed)
    return _guarded(pages, settings, secret, openid)


def _openid(settings: Settings) -> "OpenId | None":
    """Return the OpenID sign-in if it is configured, else None; raise `SettingInvalid` if it cannot be used."""
    if settings.sign_in != "oidc":
        return None
    from traitbench_app.process.openid import OpenId

    return OpenId(settings)


def _frame() -> list[Route]:
    """Return the routes of the page that every view begins with."""
    from traitbench_app.process import frame
    from traitbench_app.shell.navigation import PAGES

    return frame.routes(page.url_path for page in PAGES)


def _guarded(pages: ASGIApp, settings: Settings, secret: str, openid: "OpenId | None" = None) -> ASGIApp:
    """Wrap the pages with the guard and, if configured, the sign-in."""
    from traitbench_app.process import exposed
    from traitbench_app.process.sign_in import SignIn

    inner = pages
    if settings.sign_in != "none":
        inner = SignIn(pages, settings, secret=secret or token_urlsafe(32), openid=openid)
    return Guard(inner, settings, policy=exposed.policy(), closed=exposed.closed)


def api(settings: Settings | None = None) -> ASGIApp:
    """Build the service without the workbench."""
    settings = settings or read_settings()
    service = Embedded(settings)
    first = Middleware(_ServiceFirst, service=service, below=("/",))
    return Guard(Starlette(lifespan=service.lifespan, middleware=[first]), settings)


def _crashed(error: Exception) -> bool:
    from traitbench_app.shell.service import crashed

    return crashed(error)


class Embedded:
    """The service inside this process: opened before the server listens, closed in reverse order."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._api: ASGIApp | None = None
        self._agents: Agents | None = None
        self.context: Context | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        app = self._agents if scope["path"] == _AGENTS else self._api
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
        from traitbench.operations.context import open_context

        self.context = open_context(self._settings)

        from traitbench.agents.http import Agents
        from traitbench.operations import demo, keys
        from traitbench.service.app import create_app

        keys.first_key(self.context)
        self._api = create_app(lambda: self.context)
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

    def close(self) -> None:
        """Stop what `open` started. Late requests get a 503 that says that the service is stopping."""
        context, self.context = self.context, None
        if context is not None:
            context.close()


class _ServiceFirst:
    """Routes requests below some paths to the service, before Streamlit's own middleware can change them."""

    def __init__(self, app: ASGIApp, *, service: ASGIApp, below: tuple[str, ...]) -> None:
        self._app = app
        self._service = service
        self._below = below

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ours = scope["type"] == "http" and f"{scope['path']}/".startswith(self._below)
        await (self._service if ours else self._app)(scope, receive, send)


@asynccontextmanager
async def _warmed(_app: object) -> AsyncIterator[None]:
    """Import what the first page needs in the background, while the service already answers."""
    warming = asyncio.create_task(asyncio.to_thread(_warm))
    yield
    await warming


def _warm() -> None:
    try:
        modules = (module.name for module in pkgutil.walk_packages(traitbench_app.__path__, "traitbench_app."))
        for name in (*_HEAVY, *(name for name in modules if name not in _NOT_PAGES)):
            importlib.import_module(name)
    except ImportError as error:
        _log.warning("the modules of the pages could not be imported in advance: %s", error)
    # Each of Streamlit's modules has a logger with its own handler, which bypasses ours.
    logs.adopt()
    # Everything that is imported by now stays, so searching it for garbage is in vain.
    gc.collect()
    gc.freeze()
    # Keeps pages responsive while another thread computes.
    sys.setswitchinterval(_SWITCH_SECONDS)

"""The ASGI applications: the pages at `/`, the API at `/v1`, agents' tools at `/mcp`, and a lifespan with the worker.

`workbench` builds all of that, or only the pages if the environment names a remote service. It is a factory:
`uvicorn --factory traitbench_app.process.asgi:workbench`. The service alone is `traitbench.service.embedded.api`.

To start quickly, the worker process is started first and the rest is imported meanwhile.
"""

import asyncio
import gc
import importlib
import logging
import pkgutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

import traitbench_app
from traitbench import logs
from traitbench.service.embedded import Embedded, ServiceFirst, has_key
from traitbench.service.trusted_requests import APIS, TrustedRequests, is_api
from traitbench.settings import Settings, read_settings

if TYPE_CHECKING:
    from traitbench_app.process.openid import OpenId
    from traitbench_app.process.proxy import Proxy
    from traitbench_app.workspace.kept_texts import Strict

_MAIN = Path(__file__).with_name("entry.py")
_HEAVY = ("pandas", "plotly.graph_objects", "plotly.io")
_SWITCH_SECONDS = 0.001

_log = logging.getLogger(__name__)


def workbench(settings: Settings | None = None, *, secret: str = "") -> ASGIApp:
    """Build the pages at `/`, and the API at `/v1` unless the environment names a remote service.

    `secret` is the secret of the operator's sign-in link. Without it, people can sign in only with API keys.
    """
    import streamlit as st

    from traitbench.local import vectors
    from traitbench_app.process.assets import Assets

    assets = Middleware(Assets)
    settings = settings or read_settings()
    openid, proxy = _openid(settings), _proxy(settings)
    if settings.api_url:
        watched = partial(_warmed, settings, None)
        remote = st.App(_MAIN, lifespan=watched, routes=_frame(), middleware=[assets], on_script_error=_crashed)
        return _guarded(remote, settings, secret)
    service = Embedded(settings)

    @asynccontextmanager
    async def lifespan(streamlit: object) -> AsyncIterator[None]:
        signing_in = openid.lifespan() if openid else proxy.people.lifespan() if proxy else nullcontext()
        async with service.lifespan(streamlit), signing_in, _warmed(settings, service.under_zero_retention, streamlit):
            vectors.listen(service.keep_vectors)
            try:
                yield
            finally:
                vectors.listen(None)

    first = Middleware(ServiceFirst, service=service, below=tuple(f"{each}/" for each in APIS))
    pages = st.App(_MAIN, lifespan=lifespan, routes=_frame(), middleware=[first, assets], on_script_error=_crashed)
    return _guarded(pages, settings, secret, openid, proxy)


def _openid(settings: Settings) -> "OpenId | None":
    """Return the OpenID sign-in if it is configured, else None; raise `SettingInvalid` if it cannot be used."""
    if settings.sign_in != "oidc":
        return None
    from traitbench_app.process.openid import OpenId

    return OpenId(settings)


def _proxy(settings: Settings) -> "Proxy | None":
    """Return the sign-in by a proxy if it is configured, else None; raise `SettingInvalid` if it cannot be used."""
    if settings.sign_in != "proxy":
        return None
    from traitbench_app.process.proxy import Proxy

    return Proxy(settings)


def _frame() -> list[Route]:
    """Return the routes of the page that every view begins with."""
    from traitbench_app.process import frame
    from traitbench_app.shell.navigation import PAGES

    return [*frame.routes(page.url_path for page in PAGES), Route("/idea", _to_home)]


async def _to_home(request: Request) -> Response:
    """Lead the address of a page that Home replaced to Home, with its two words."""
    return RedirectResponse(f"./?{request.url.query}", 308)


def _guarded(
    pages: ASGIApp, settings: Settings, secret: str, openid: "OpenId | None" = None, proxy: "Proxy | None" = None
) -> ASGIApp:
    """Wrap the pages with `TrustedRequests` and, if configured, the sign-in."""
    from traitbench_app.process import exposed
    from traitbench_app.process.sign_in import SignIn

    inner, signed_in = pages, None
    if settings.sign_in != "none":
        inner = signed_in = SignIn(pages, settings, secret=secret or token_urlsafe(32), openid=openid, proxy=proxy)
    if settings.room_url:
        from traitbench_app.process.room_form import RoomForm

        inner = RoomForm(inner, settings)

    def known(scope: Scope) -> bool:
        """Whether a request is of a person or a program that is signed in; without a sign-in, pages are for all."""
        if is_api(scope["path"]):
            return has_key(scope)
        return signed_in is None or signed_in.knows(scope)

    return TrustedRequests(inner, settings, policy=exposed.policy(), closed=exposed.closed, known=known)


def _crashed(error: Exception) -> bool:
    from traitbench_app.shell.service import crashed

    return crashed(error)


@asynccontextmanager
async def _warmed(settings: Settings, strict: "Strict | None", _app: object) -> AsyncIterator[None]:
    """Import what the first page needs in the background, while the service already answers; then follow the flag.

    `strict` asks which models are under zero data retention. Without it, the remote service is asked.
    """
    warming = asyncio.create_task(_prepare(settings, strict))
    try:
        yield
    finally:
        warming.cancel()
        with suppress(asyncio.CancelledError):
            await warming


async def _prepare(settings: Settings, strict: "Strict | None") -> None:
    await asyncio.to_thread(_warm)
    from traitbench_app.workspace import kept_texts

    await kept_texts.watch(strict or kept_texts.remote(settings), settings)


def _warm() -> None:
    try:
        modules = (module.name for module in pkgutil.walk_packages(traitbench_app.__path__, "traitbench_app."))
        # Not this room: entry points, and a sign-in that most do not use, which loads cryptographic libraries.
        for name in (*_HEAVY, *(name for name in modules if not name.startswith(f"{__package__}."))):
            importlib.import_module(name)
    except ImportError as error:
        _log.warning("the modules of the pages could not be imported in advance: %s", error)
    # Each of Streamlit's modules has a logger with its own handler, which bypasses ours.
    logs.adopt()
    # Everything that is imported by now stays alive, so garbage collection skips it.
    gc.collect()
    gc.freeze()
    # Keeps pages responsive while another thread computes.
    sys.setswitchinterval(_SWITCH_SECONDS)

"""Streamlit's scripts, styles and fonts, sent from memory.

A first visit asks for a hundred of these files. Streamlit reads each of them in a thread, in parts, with a look at the
file system before. That takes longer than the rest of the server's work for the visit. The names of the files contain a
hash of their content, so a file never changes and a browser may keep it.
"""

import mimetypes
import re
from functools import cache
from pathlib import Path

import streamlit
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

FOLDER = Path(streamlit.__file__).with_name("static")
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}

_PATH = re.compile(r"/static/(?:js|css|media)/[\w.-]+")
_IMPORTED = re.compile(r"\b(?:from|import)[\"'`]\./([\w.-]+\.js)[\"'`]")


class Assets:
    """Middleware that answers requests for Streamlit's own files and passes all others on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._paths = frozenset(
            path
            for file in FOLDER.rglob("*")
            if file.is_file() and _PATH.fullmatch(path := f"/{file.relative_to(FOLDER).as_posix()}")
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send a file, or let the application answer."""
        if scope["type"] != "http" or scope["path"] not in self._paths or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        await Response(_content(path), media_type=kind, headers=FOREVER)(scope, receive, send)


def with_imports(names: frozenset[str]) -> frozenset[str]:
    """Return the names of scripts, and of all scripts that they import before they run."""
    known, new = frozenset[str](), names
    while new:
        known |= new
        new = frozenset[str]().union(*map(_imports, new)) - known
    return known


def scripts(component: str) -> frozenset[str]:
    """Return the names of the scripts that Streamlit loads when a page first draws this component."""
    return with_imports(frozenset(file.name for file in (FOLDER / "static/js").glob(f"{component}.*.js")))


@cache
def _imports(name: str) -> frozenset[str]:
    return frozenset(_IMPORTED.findall(_content(f"/static/js/{name}").decode()))


@cache
def _content(path: str) -> bytes:
    return (FOLDER / path[1:]).read_bytes()

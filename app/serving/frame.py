"""The HTML page that every view of the workbench begins with: Streamlit's own, with our title, style and script.

The files of `app/static` are read once. Their addresses name their content, so a browser may keep them.
"""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

import streamlit
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

INDEX = Path(streamlit.__file__).with_name("static") / "index.html"

_STATIC = Path(__file__).resolve().parents[1] / "static"
_SHELL = {"shell.js": "text/javascript", "shell.css": "text/css"}
_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
_FRESH = {"Cache-Control": "no-cache"}
_CHARTS = "PlotlyChart.*.js"

_TITLE = re.compile(r"<title>.*?</title>", re.DOTALL)
_AGENTS = re.compile(r"<!--(?:(?!-->).)*?-->\s*<link rel=\"service-desc\".*?/>", re.DOTALL)
_WITHOUT_SCRIPT = re.compile(r"<noscript>.*?</noscript>", re.DOTALL)
_NEEDS_SCRIPT = "<noscript><p>Traitbench needs JavaScript in the browser. Programs use its API at /v1.</p></noscript>"


def routes(pages: Iterable[str]) -> list[Route]:
    """Return the routes of the HTML page, one for each of the paths in `pages`, and of what it loads from us."""
    html = _html()
    files = {name: (_STATIC / name).read_bytes() for name in _SHELL}

    # A response of its own for each request: what compresses it changes its headers.
    async def index(_request: Request) -> Response:
        return HTMLResponse(html, headers=_FRESH)

    async def file(request: Request) -> Response:
        name = request.url.path.rpartition("/")[2]
        return Response(files[name], media_type=_SHELL[name], headers=_FOREVER)

    return [
        *(Route(f"/{path}", index) for path in dict.fromkeys(pages)),
        *(Route(f"/{name}", file) for name in _SHELL),
    ]


def _html() -> str:
    """Return Streamlit's page with our parts. The charts' code is large, so the browser loads it meanwhile."""
    html = INDEX.read_text("utf-8")
    html = _TITLE.sub("<title>Traitbench</title>", html)
    html = _WITHOUT_SCRIPT.sub(_NEEDS_SCRIPT, _AGENTS.sub("", html))
    ours = f'<script src="{_address("shell.js")}"></script>\n<link rel="stylesheet" href="{_address("shell.css")}">\n'
    ahead = "".join(
        f'<link rel="modulepreload" crossorigin href="./static/js/{each.name}">\n'
        for each in INDEX.parent.glob(f"static/js/{_CHARTS}")
    )
    return html.replace("<title>", f"{ours}<title>", 1).replace("</head>", f"{ahead}</head>", 1)


def _address(name: str) -> str:
    """Return the relative address of a file, with a stamp of its content."""
    return f"./{name}?{hashlib.sha256((_STATIC / name).read_bytes()).hexdigest()[:12]}"

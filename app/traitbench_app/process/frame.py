"""The HTML page that every view of the workbench begins with: Streamlit's own, with our title, style and script.

The files of `app/traitbench_app/process/static` are read once. Their addresses name their content, so a browser may
keep them.

The font travels with the workbench, in parts of which a browser loads those that a page has letters of. Only Latin is
loaded at once.

Streamlit would load the scripts of a table or a text field only when it draws the first one. Here the page names them,
so that the browser loads them while the server draws. The scripts of charts are large, and few views begin with a
chart: other views load them when they rest (`shell.js`).
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from traitbench.display.tokens import style_sheet
from traitbench_app.process.assets import FOLDER, FOREVER, scripts

INDEX = FOLDER / "index.html"

_STATIC = Path(__file__).with_name("static")
_SHELL = {"shell.js": "text/javascript", "shell.css": "text/css"}
_FONTS = {file.name: "font/woff2" for file in _STATIC.glob("*.woff2")}
_LATIN = "inter-latin.woff2"
_FRESH = {"Cache-Control": "no-cache"}
_CHART = "PlotlyChart"

EVERYWHERE = ("Selectbox", "BidiComponent", "Button", "ButtonGroup", "Html", "PageLink")
"""Streamlit's components that most views begin with, by the names of their scripts."""

FURTHER: Mapping[str, tuple[str, ...]] = {
    "": ("MenuButton", "TextInput"),
    "batch": ("FileUploader", "Multiselect", "Radio", "TextArea"),
    "from_file": ("FileUploader",),
    "label": ("FileUploader",),
    "model": ("DownloadButton",),
    "samples": ("DataFrame", "TextInput"),
    "score": ("Checkbox", "TextArea"),
    "versions": ("DataFrame",),
}
"""What else a view begins with, by the path of its page."""

_LANGUAGE = '<html lang="en">'
_TITLE = re.compile(r"<title>.*?</title>", re.DOTALL)
_AGENTS = re.compile(r"<!--(?:(?!-->).)*?-->\s*<link rel=\"service-desc\".*?/>", re.DOTALL)
_WITHOUT_SCRIPT = re.compile(r"<noscript>.*?</noscript>", re.DOTALL)
_FONT = re.compile(r"url\((inter-[\w-]+\.woff2)\)")
_NEEDS_SCRIPT = "<noscript><p>Traitbench needs JavaScript in the browser. Programs use its API at /v1.</p></noscript>"


def routes(pages: Iterable[str]) -> list[Route]:
    """Return the routes of the HTML page, one for each of the paths in `pages`, and of what it loads from us."""
    paths = {f"/{path}": path for path in pages}
    kinds = {**_SHELL, **_FONTS}
    files = {name: _content(name) for name in kinds}

    # A response of its own for each request: what compresses it changes its headers.
    async def index(request: Request) -> Response:
        return HTMLResponse(_html(paths[request.url.path]), headers=_FRESH)

    async def file(request: Request) -> Response:
        name = request.url.path.rpartition("/")[2]
        return Response(files[name], media_type=kinds[name], headers=FOREVER)

    return [*(Route(path, index) for path in paths), *(Route(f"/{name}", file) for name in files)]


@cache
def _html(path: str) -> str:
    """Return Streamlit's page with our parts, for the view at a path. It is made for the first request."""
    # What is read is what is scored: a browser's translator would also rewrite texts and the names of poles.
    html = INDEX.read_text("utf-8").replace(_LANGUAGE, f'{_LANGUAGE[:-1]} translate="no">', 1)
    html = _TITLE.sub("<title>Traitbench</title>", html)
    html = _WITHOUT_SCRIPT.sub(_NEEDS_SCRIPT, _AGENTS.sub("", html))
    charts = next((FOLDER / "static/js").glob(f"{_CHART}.*.js")).name
    ours = (
        f'<script src="{_address("shell.js")}" data-charts="./static/js/{charts}"></script>\n'
        f'<link rel="stylesheet" href="{_address("shell.css")}">\n'
        f'<link rel="preload" as="font" type="font/woff2" crossorigin href="{_address(_LATIN)}">\n'
    )
    components = (*EVERYWHERE, *FURTHER.get(path, ()))
    ahead = sorted(name for name in frozenset().union(*map(scripts, components)) if f"/{name}" not in html)
    return html.replace("<title>", f"{ours}<title>", 1).replace("</head>", "".join(map(_preload, ahead)) + "</head>", 1)


def _preload(name: str) -> str:
    return f'<link rel="modulepreload" crossorigin href="./static/js/{name}">\n'


@cache
def _address(name: str) -> str:
    """Return the relative address of a file, with a stamp of its content."""
    return f"./{name}?{hashlib.sha256(_content(name)).hexdigest()[:12]}"


def _content(name: str) -> bytes:
    """Return a file; the style begins with the tokens of the design, and names fonts by their addresses."""
    content = (_STATIC / name).read_bytes()
    if not name.endswith(".css"):
        return content
    style = style_sheet() + content.decode()
    return _FONT.sub(lambda font: f'url("{_address(font[1])}")', style).encode()

"""The API's description as a page: Swagger UI, with the files that the package fastapi-offline brings along.

The page loads nothing from any other server, and its policy lets it talk to this one only.
"""

import base64
import hashlib
from functools import cache
from html import escape
from importlib.util import find_spec
from pathlib import Path

from starlette.responses import FileResponse, HTMLResponse

ASSETS = {"swagger-ui.css": "text/css", "swagger-ui-bundle.js": "text/javascript"}

# Without `validatorUrl: null` the page would ask a public server about the document.
_START = (
    "document.documentElement.classList.toggle('dark-mode', matchMedia('(prefers-color-scheme: dark)').matches);"
    " SwaggerUIBundle({ url: 'openapi.json', dom_id: '#page', deepLinking: true, docExpansion: 'list',"
    " defaultModelsExpandDepth: 0, validatorUrl: null })"
)
_STYLE = "body { margin: 0 } html:not(.dark-mode) body { background: #fafafa } #page p { line-height: 1.9 }"


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


_POLICY = (
    f"default-src 'none'; script-src 'self' {_hash(_START)}; style-src 'self' {_hash(_STYLE)}; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def page(title: str) -> HTMLResponse:
    """The page of this API."""
    return HTMLResponse(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)} API</title>'
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="docs/swagger-ui.css">'
        f'<link rel="icon" href="data:,"><style>{_STYLE}</style></head><body><div id="page"></div>'
        f'<script src="docs/swagger-ui-bundle.js"></script><script>{_START}</script></body></html>',
        headers={"Content-Security-Policy": _POLICY},
    )


def asset(name: str, media_type: str) -> FileResponse:
    """The response with a file of the page."""
    return FileResponse(_folder() / name, media_type=media_type, headers={"Cache-Control": "max-age=86400"})


@cache
def _folder() -> Path:
    # The package is not imported, because only its files are needed.
    spec = find_spec("fastapi_offline")
    assert spec is not None, "fastapi-offline is one of our dependencies"
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "static"

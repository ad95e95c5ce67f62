"""Streamlit's own files are sent from memory, and nothing else is."""

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Mount

from traitbench_app.process.assets import FOLDER, Assets

NEXT = "the next application"
SCRIPT = next((FOLDER / "static/js").glob("Selectbox.*.js"))


def ask(method: str, path: str) -> httpx.Response:
    app = Starlette(routes=[Mount("/", PlainTextResponse(NEXT))], middleware=[Middleware(Assets)])

    async def send() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            return await client.request(method, path)

    return anyio.run(send)


@pytest.mark.parametrize("folder", ["js", "css", "media"])
def test_a_file_is_sent_as_it_is_and_may_be_kept(folder: str) -> None:
    file = next((FOLDER / "static" / folder).iterdir())
    answer = ask("GET", f"/static/{folder}/{file.name}")
    assert answer.content == file.read_bytes()
    assert "immutable" in answer.headers["Cache-Control"]
    kinds = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
    assert answer.headers["Content-Type"] == kinds.get(folder, answer.headers["Content-Type"])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"/static/js/{SCRIPT.name}"),
        ("GET", "/static/js/none.js"),
        ("GET", "/index.html"),
        ("GET", "/static/js/../../index.html"),
        ("GET", "/static/js/%2e%2e/%2e%2e/index.html"),
        ("GET", f"//static/js/{SCRIPT.name}"),
    ],
)
def test_other_requests_are_passed_on(method: str, path: str) -> None:
    assert ask(method, path).text == NEXT

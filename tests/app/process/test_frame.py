"""The page that every view begins with: the same at every request, and the scripts that the browser loads at once."""

import re

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from traitbench_app.process import frame
from traitbench_app.process.assets import FOLDER


@pytest.mark.parametrize("path", ["/", "/train", "/shell.js", "/shell.css"])
def test_a_compressed_response_leaves_the_next_ones_as_they_were(path: str) -> None:
    app = Starlette(routes=frame.routes(["", "train"]), middleware=[Middleware(GZipMiddleware)])

    async def ask() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return [await client.get(path, headers={"Accept-Encoding": each}) for each in ("gzip", "identity", "gzip")]

    answers = anyio.run(ask)
    assert len({answer.content for answer in answers}) == 1
    sent = [
        (answer.headers.get("Content-Encoding"), len(answer.headers.get_list("Content-Length"))) for answer in answers
    ]
    assert sent == [("gzip", 1), (None, 1), ("gzip", 1)]


def test_the_style_names_fonts_by_addresses_that_answer() -> None:
    app = Starlette(routes=frame.routes([""]))

    async def ask() -> list[httpx.Response]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            fonts = re.findall(r'url\("\.(.+?)"\)', (await client.get("/shell.css")).text)
            return [await client.get(font) for font in fonts]

    answers = anyio.run(ask)
    assert {(each.status_code, each.headers["Content-Type"], each.content[:4]) for each in answers} == {
        (200, "font/woff2", b"wOF2")
    }
    assert len({each.content for each in answers}) == len(answers) > 1


def scripts_of(path: str) -> list[str]:
    """The names of all scripts that the page at a path asks for, in order."""
    app = Starlette(routes=frame.routes([path]))

    async def ask() -> str:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
            return (await client.get(f"/{path}")).text

    return re.findall(r"(?:src|href)=\"\./static/js/([^\"]+)\"", anyio.run(ask))


@pytest.mark.parametrize("path", ["", *frame.FURTHER])
def test_a_view_loads_the_scripts_of_its_components_while_the_server_draws(path: str) -> None:
    asked = scripts_of(path)
    assert len(asked) == len(set(asked))
    for component in (*frame.EVERYWHERE, *frame.FURTHER.get(path, ())):
        own = [name for name in asked if name.startswith(f"{component}.")]
        assert len(own) == 1, f"Streamlit has no script {component} any more"
        content = (FOLDER / "static/js" / own[0]).read_text("utf-8")
        needed = set(re.findall(r"(?:from|import)\"\./([^\"]+)\"", content))
        assert needed
        assert needed <= set(asked), "one that is missing would be loaded only after this one has arrived"


def test_no_view_waits_for_the_code_of_charts() -> None:
    assert not [name for name in scripts_of("score") if name.startswith("PlotlyChart.")]

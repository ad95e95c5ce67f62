"""The page that every view begins with is the same at every request, compressed or not."""

import anyio
import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from traitbench.app.serving import frame


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

"""A run of a page sends a repeated read once, and reads again after it has changed something."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx
import pytest

from traitbench.client.once import ReadsOnce, remembered


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """A service that answers with the number of the request, and what it was asked."""
    asked: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked.append(f"{self.command} {self.path}")
            content = str(len(asked)).encode()
            self.send_response(500 if self.path == "/broken" else 200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_PATCH = do_GET

        def log_message(self, *_arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as served:
        Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_port}", asked
        served.shutdown()


def test_a_run_asks_once_until_it_changes_something(server: tuple[str, list[str]]) -> None:
    base_url, asked = server
    with httpx.Client(base_url=base_url, transport=ReadsOnce()) as client:
        with remembered():
            assert [client.get("/a").text, client.get("/a").text, client.get("/b").text] == ["1", "1", "2"]
            assert client.get("/a", headers={"Authorization": "Bearer other"}).text == "3"
            client.patch("/a", json={})
            assert client.get("/a").text == "5"
            assert [client.get("/broken").status_code for _ in range(2)] == [500, 500]
        with remembered():
            assert client.get("/a").text == "8"
        assert [client.get("/a").text, client.get("/a").text] == ["9", "10"]
    assert asked.count("GET /b") == 1

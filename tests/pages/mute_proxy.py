"""A proxy before the service that withholds a response, or refuses a request by itself."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

import httpx

from tests.patience import PATIENCE_S
from traitbench.contract.envelope import ErrorBody, ErrorEnvelope

Chosen = Callable[[str, str], bool]
"""Whether a request with this method and path is meant."""
_BUSY = ErrorEnvelope(error=ErrorBody(code="unavailable", message="Too busy.", request_id="req_1", details={}))


def nothing(_method: str, _path: str) -> bool:
    """No request is meant."""
    return False


def from_change(number: int) -> Chosen:
    """Chooses the requests that change samples from one on, counted from 1: one alone would be sent again."""
    changes = count(1)
    return lambda method, path: (method, path[-16:]) == ("POST", "/samples/changes") and next(changes) >= number


@contextmanager
def proxied(target: str, *, mute: Chosen = nothing, refuse: Chosen = nothing) -> Iterator[str]:
    """The base URL of the proxy.

    Of what it mutes the caller cannot know whether it was carried out; what it refuses was not, and gets status 503.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if refuse(self.command, self.path):
                self._answer(503, {"content-type": "application/json"}, _BUSY.model_dump_json().encode())
                return
            headers = {name: value for name, value in self.headers.items() if name != "Host"}
            answer = httpx.request(self.command, target + self.path, content=body, headers=headers, timeout=PATIENCE_S)
            if mute(self.command, self.path):
                self.close_connection = True
                return
            kept = {name: answer.headers[name] for name in ("content-type", "x-request-id") if name in answer.headers}
            self._answer(answer.status_code, kept, answer.content)

        do_GET = do_POST = do_PATCH = do_DELETE = handle_any

        def _answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_args: Any) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

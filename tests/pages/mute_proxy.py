"""A proxy that passes a request on and withholds its response: the caller cannot know whether it was carried out."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

from tests.patience import PATIENCE_S

Mute = Callable[[str, str], bool]
"""Whether the response to a request with this method and path is withheld."""


@contextmanager
def muted(target: str, mute: Mute) -> Iterator[str]:
    """The base URL of a proxy in front of `target`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name: value for name, value in self.headers.items() if name != "Host"}
            answer = httpx.request(self.command, target + self.path, content=body, headers=headers, timeout=PATIENCE_S)
            if mute(self.command, self.path):
                self.close_connection = True
                return
            self.send_response(answer.status_code)
            for name in ("content-type", "x-request-id"):
                if name in answer.headers:
                    self.send_header(name, answer.headers[name])
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_GET = do_POST = do_PATCH = do_DELETE = handle_any

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

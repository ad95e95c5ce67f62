"""A forwarder between a real client and the service, which records what the client sends."""

import base64
import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from tests.patience import PATIENCE_S

_HEADERS = ("accept", "authorization", "content-type", "x-api-key")
_PER_HOP = frozenset({"connection", "content-length", "transfer-encoding", "date", "server"})


def _masked(value: str, secret: str) -> str:
    """The value of a header with `KEY` for the secret; user and password in clear."""
    scheme, _, sent = value.partition(" ")
    if scheme.lower() == "basic":
        value = f"{scheme} {base64.b64decode(sent).decode()}"
    return value.replace(secret, "KEY")


@dataclass(frozen=True)
class Recorder:
    """The address of the forwarder, and what was sent to it: requests with the key left out, and their statuses."""

    base_url: str
    sent: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def recording(service_url: str, secret: str) -> Iterator[Recorder]:
    """Forward to a service; `KEY` stands for the secret in what is recorded."""
    with httpx.Client(base_url=service_url, timeout=PATIENCE_S, trust_env=False) as http:

        class Forwarder(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._forward()

            def do_POST(self) -> None:
                self._forward()

            def log_message(self, format: str, *args: object) -> None:
                """Log nothing."""

            def _forward(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name: value for name, value in self.headers.items() if name.lower() not in _PER_HOP}
                answer = http.request(
                    self.command, self.path, headers={**headers, "accept-encoding": "identity"}, content=body
                )
                recorder.sent.append(
                    {
                        "method": self.command,
                        "target": self.path.replace(secret, "KEY"),
                        "headers": {
                            name: _masked(self.headers[name], secret) for name in _HEADERS if name in self.headers
                        },
                        "body": json.loads(body) if body else None,
                        "status": answer.status_code,
                    }
                )
                self.send_response(answer.status_code)
                for name, value in answer.headers.items():
                    if name not in _PER_HOP:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content)

        server = ThreadingHTTPServer(("127.0.0.1", 0), Forwarder)
        recorder = Recorder(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield recorder
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def recorded(file: Path) -> Sequence[Mapping[str, Any]]:
    """What clients sent when it was last recorded."""
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.is_file() else []


def check_recorded(file: Path, client: str, sent: Sequence[Mapping[str, Any]]) -> None:
    """Assert that a client sends what was recorded; with `TRAITBENCH_TEST_RECORD=1`, record it anew first."""
    now = [{"client": client, **each} for each in sent]
    if os.environ.get("TRAITBENCH_TEST_RECORD"):
        others = [each for each in recorded(file) if each["client"] != client]
        lines = (json.dumps(each, ensure_ascii=False) for each in [*others, *now])
        file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    assert [each for each in recorded(file) if each["client"] == client] == now

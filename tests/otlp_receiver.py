"""A collector on this machine that speaks OTLP over HTTP, and keeps what it was sent."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.patience import PATIENCE_S


@dataclass
class OtlpReceiver:
    """The requests in the order of their arrival, by path; `answers` lets them be answered.

    With an address `elsewhere`, they are answered with a redirect to it.
    """

    port: int
    bodies: list[tuple[str, bytes]] = field(default_factory=list)
    answers: threading.Event = field(default_factory=threading.Event)
    elsewhere: str = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def spans(self) -> list[Span]:
        """All spans."""
        requests = [ExportTraceServiceRequest.FromString(body) for path, body in self.bodies if path == "/v1/traces"]
        scopes = (
            scope for request in requests for resource in request.resource_spans for scope in resource.scope_spans
        )
        return [span for scope in scopes for span in scope.spans]

    @property
    def events(self) -> list[LogRecord]:
        """All events."""
        requests = [ExportLogsServiceRequest.FromString(body) for path, body in self.bodies if path == "/v1/logs"]
        scopes = (scope for request in requests for resource in request.resource_logs for scope in resource.scope_logs)
        return [record for scope in scopes for record in scope.log_records]


def attributes(pairs: Sequence[KeyValue]) -> Mapping[str, Any]:
    """The attributes of a span or an event."""
    return {pair.key: getattr(pair.value, str(pair.value.WhichOneof("value"))) for pair in pairs}


@contextmanager
def otlp_receiver(*, answering: bool = True) -> Iterator[OtlpReceiver]:
    """A receiver that answers at once, or not before the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            receiver.bodies.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            receiver.answers.wait(PATIENCE_S)
            self.send_response(307 if receiver.elsewhere else 200)
            if receiver.elsewhere:
                self.send_header("Location", receiver.elsewhere + self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = OtlpReceiver(server.server_port)
    if answering:
        receiver.answers.set()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield receiver
    finally:
        receiver.answers.set()
        server.shutdown()
        server.server_close()

"""Limits for connections, which uvicorn does not have: sizes, times and numbers.

Uvicorn accepts request lines and headers of any length and waits for the rest forever. Here both have a maximum size,
and there are time limits for a header and a body to arrive and for a response to be read. The number of connections is
limited too. Beyond it, the connections that have been idle longest are closed; a new one is refused only if all are
active. Refusals have the error envelope of the API.

Uvicorn has no setting for these, so its protocol is subclassed, by its public methods alone. Without the limits, 1,100
half-open connections keep everyone out, and clients that do not read fill the memory; tests show both. A proxy in front
would help, but most workbenches have none. One sweep per second checks the deadlines of all connections, so that no
request needs a timer.
"""

import asyncio
import json
import resource
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ulid import ULID
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

MOST_FILES = 65_536
FILES_BESIDE = 512  # for the database, the worker, fetched pages, and connections that are being refused

LONGEST_URL = 16 * 1024  # bytes
LARGEST_HEAD = 64 * 1024  # bytes, all header fields together
LONGEST_SOCKET_LINE = 8 * 1024 - 2  # bytes of a line in the header of a WebSocket; the library ignores longer ones
MOST_FIELDS = 100
MOST_PIPELINED = 16

_SWEEP_SECONDS = 1.0
_LINGER_SECONDS = 2.0  # time for a refused client to read the reason


@dataclass(frozen=True)
class Limits:
    """The limits that depend on the machine, and the time limits in seconds; `body_rate` is in bytes per second."""

    connections: int
    head_seconds: float = 10.0
    body_seconds: float = 20.0
    body_rate: float = 4_096.0
    answer_seconds: float = 60.0

    @property
    def websockets(self) -> int:
        """How many of the connections may be WebSockets of workbench pages."""
        return max(1, self.connections // 4)


@dataclass(frozen=True)
class Refusal:
    """The response that tells a client why its connection is closed."""

    status: int
    code: str
    message: str


NOT_HTTP = Refusal(400, "invalid_request", "This is not an HTTP request. Check the client.")
LATE = Refusal(408, "request_timeout", "The header of the request took too long to arrive. Send it again.")
LONG_URL = Refusal(414, "url_too_long", f"The address is longer than {LONGEST_URL} bytes. Shorten it.")
LARGE_HEAD = Refusal(
    431,
    "headers_too_large",
    f"The header has more than {MOST_FIELDS} fields or {LARGEST_HEAD} bytes. Send fewer or shorter ones.",
)
LONG_SOCKET_URL = Refusal(414, "url_too_long", "The address of the WebSocket is longer than 8 kB. Shorten it.")
LONG_SOCKET_FIELD = Refusal(
    431,
    "headers_too_large",
    "The header of the WebSocket has a field of more than 8 kB. Perhaps other applications on this host name have set"
    " large cookies: delete them, or use another name for this machine.",
)
FULL = Refusal(503, "unavailable", "The service has too many connections. Try again in a moment.")


class _Refused(Exception):
    """Stops the parser; the connection's `refusal` has the reason."""


def raise_file_limit() -> int:
    """Raise the limit of open files as far as allowed, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return most
    return MOST_FILES if soft == resource.RLIM_INFINITY else soft


def limits_for(files: int) -> Limits:
    """Return the limits for a process that may open so many files."""
    return Limits(connections=max(64, min(1_024, files - FILES_BESIDE)))


@dataclass(eq=False)
class Guard:
    """Watches the connections of one server; `refused` counts the refusals by code."""

    limits: Limits
    refused: dict[str, int] = field(default_factory=dict)
    evicted: int = 0
    _sweeping: asyncio.TimerHandle | None = None
    _unread: dict[Any, tuple[int, float]] = field(default_factory=dict)

    def watch(self, loop: asyncio.AbstractEventLoop, connections: set[Any]) -> None:
        """Start sweeping; continue while there are connections."""
        if self._sweeping is None:
            self._sweeping = loop.call_later(_SWEEP_SECONDS, self._sweep, loop, connections)

    def make_room(self, connections: set[Any]) -> bool:
        """Close the connections that have been idle longest; return False if all are active."""
        waiting = sorted((each for each in _bounded(connections) if each.is_waiting), key=lambda each: each.since)
        # Close several at once. A search at every new connection would help an attacker.
        for each in waiting[: max(1, self.limits.connections // 16)]:
            each.transport.close()
            self.evicted += 1
        return bool(waiting)

    def has_websocket_left(self, connections: set[Any]) -> bool:
        """Whether one more WebSocket may be opened."""
        pages = sum(not isinstance(each, BoundedProtocol) for each in connections)
        return pages < self.limits.websockets

    def _sweep(self, loop: asyncio.AbstractEventLoop, connections: set[Any]) -> None:
        self._sweeping = None
        now = loop.time()
        for each in list(_bounded(connections)):
            each.look_at_clock(now)
        self._end_unread(connections, now)
        if connections:
            self.watch(loop, connections)

    def _end_unread(self, connections: set[Any], now: float) -> None:
        """Abort connections whose client does not read the response, because it would stay in memory."""
        unread = {}
        for each in connections:
            if size := each.transport.get_write_buffer_size():
                before, since = self._unread.get(each, (-1, now))
                unread[each] = (size, since if size == before else now)
                if now - unread[each][1] >= self.limits.answer_seconds:
                    each.transport.abort()
        self._unread = unread


class BoundedProtocol(HttpToolsProtocol):
    """Uvicorn's HTTP protocol with limits. `protocol` makes a subclass and sets `guard` on it."""

    guard: Guard

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.refusal: Refusal | None = None
        self.since = 0.0
        self._running: RequestResponseCycle | None = None
        self._due: float | None = None
        self._in_head = False
        self._head_before = 0  # bytes of this header in earlier chunks
        self._chunk = 0  # bytes of the chunk that is being parsed

    @property
    def is_waiting(self) -> bool:
        """Whether the connection is idle: every complete request is answered."""
        answered = self.cycle is None or self.cycle.response_complete
        return answered and not self.pipeline and not self.transport.is_closing()

    def look_at_clock(self, now: float) -> None:
        """Close the connection if the data that it must send is overdue."""
        if self._due is None or self.transport.is_closing():
            return
        if self.refusal is not None:
            if now >= self._due:
                self.transport.close()
        elif self.flow.read_paused:
            self._due = now + self.guard.limits.body_seconds  # the delay is the server's fault, not the client's
        elif now >= self._due:
            self._count(LATE)
            # If the request is already answered, its late body needs no second response.
            if self._in_head or not self.is_waiting:
                self._refuse(LATE)
            else:
                self.transport.close()

    # ---- what uvicorn and the parser call ----

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and refuse it if there are too many."""
        super().connection_made(transport)
        limits = self.guard.limits
        self.since = self.loop.time()
        self._due = self.since + limits.head_seconds
        self.guard.watch(self.loop, self.connections)
        if len(self.connections) > limits.connections and not self.guard.make_room(self.connections - {self}):
            self._count(FULL)
            self._refuse(FULL)

    def data_received(self, data: bytes) -> None:
        """Parse the data; refuse the connection if it is not HTTP or exceeds a limit."""
        if self.refusal is not None:
            return
        self._chunk = len(data)
        super().data_received(data)
        if self._in_head and self.refusal is None:
            self._head_before += len(data)
            if self._head_before > LONGEST_URL + LARGEST_HEAD:
                self._count(LARGE_HEAD)
                self._refuse(LARGE_HEAD)

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be parsed, or what one of the checks below has stopped."""
        reason = self.refusal or NOT_HTTP
        self._count(reason)
        self._refuse(reason)

    def on_message_begin(self) -> None:
        """Set the deadline of the header."""
        super().on_message_begin()
        self._in_head, self._head_before = True, 0
        self._due = self.loop.time() + self.guard.limits.head_seconds

    def on_url(self, url: bytes) -> None:
        """Check the length of the address."""
        if len(self.url) + len(url) > LONGEST_URL:
            self._stop(LONG_URL)
        super().on_url(url)

    def on_headers_complete(self) -> None:
        """Check the header, start the application, and set the deadline of the body."""
        if len(self.headers) > MOST_FIELDS or (
            self._head_before + self._chunk > LARGEST_HEAD
            and sum(len(name) + len(value) for name, value in self.headers) > LARGEST_HEAD
        ):
            self._stop(LARGE_HEAD)
        if len(self.pipeline) >= MOST_PIPELINED:
            self._stop(FULL)
        self._in_head = False
        self._due = self.loop.time() + self.guard.limits.body_seconds
        super().on_headers_complete()
        if not self.pipeline:
            self._running = self.cycle

    def on_body(self, body: bytes) -> None:
        """Move the deadline of the body: every byte adds a little time for the next ones."""
        if self._due is not None:
            limits = self.guard.limits
            most = self.loop.time() + limits.body_seconds
            self._due = min(most, self._due + len(body) / limits.body_rate)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Remove the deadline, because the request is complete."""
        self._due = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Record the time from which the connection is idle."""
        self.since = self.loop.time()
        self._running = self.pipeline[-1][0] if self.pipeline else None
        super().on_response_complete()

    def handle_websocket_upgrade(self) -> None:
        """Open a WebSocket; refuse it if there are too many, or if its header has lines that the library ignores."""
        reason = self._socket_refusal()
        if reason is None:
            super().handle_websocket_upgrade()
            return
        self._count(reason)
        self._refuse(reason)

    def _socket_refusal(self) -> Refusal | None:
        if len(b"GET  HTTP/1.1") + len(self.url) > LONGEST_SOCKET_LINE:
            return LONG_SOCKET_URL
        if any(len(name) + len(b": ") + len(value) > LONGEST_SOCKET_LINE for name, value in self.headers):
            return LONG_SOCKET_FIELD
        return None if self.guard.has_websocket_left(self.connections) else FULL

    # ---- refusing ----

    def _stop(self, reason: Refusal) -> None:
        self.refusal = reason
        raise _Refused

    def _count(self, reason: Refusal) -> None:
        self.guard.refused[reason.code] = self.guard.refused.get(reason.code, 0) + 1

    def _refuse(self, reason: Refusal) -> None:
        """Send the reason and close soon; close at once if a response to an earlier request is in progress."""
        if self.transport.is_closing():
            return
        if not self.is_waiting:
            if self._running is not None:
                # Tell the application before it writes to a closed connection.
                self._running.disconnected = True
                self._running.message_event.set()
            self.pipeline.clear()
            self.transport.close()
            return
        self.refusal = reason
        self._due = self.loop.time() + _LINGER_SECONDS
        self.transport.write(_answer(reason))
        # Keep reading and drop the data; otherwise the client would get a reset instead of the response.
        if self.transport.can_write_eof():
            self.transport.write_eof()


def protocol(limits: Limits) -> type[BoundedProtocol]:
    """Return the protocol class for one server, for `uvicorn.Config(http=...)`; its `guard` has the counts."""
    return type("GuardedProtocol", (BoundedProtocol,), {"guard": Guard(limits)})


def _bounded(connections: set[Any]) -> Iterator[BoundedProtocol]:
    return (each for each in connections if isinstance(each, BoundedProtocol))


def _answer(reason: Refusal) -> bytes:
    identity = f"req_{ULID()}"
    error = {"code": reason.code, "message": reason.message, "request_id": identity, "details": {}}
    content = json.dumps({"error": error}, separators=(",", ":")).encode()
    head = [
        b"content-type: application/json",
        b"content-length: %d" % len(content),
        b"x-request-id: " + identity.encode(),
        b"connection: close",
        *([b"retry-after: 2"] if reason.status == 503 else []),
    ]
    return STATUS_LINE[reason.status] + b"\r\n".join([*head, b"", content])

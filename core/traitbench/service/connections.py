"""Limits for connections, which uvicorn does not have: sizes, times and numbers.

Uvicorn accepts request lines and headers of any length and waits for the rest forever. Here both have a maximum size,
and there are time limits for a header and a body to arrive and for a response to be read. The number of connections is
limited too. Beyond it, the connections that have been idle longest are closed; a new one is refused only if all are
active. Refusals have the error envelope of the API.

No setting of uvicorn does this (core/docs/decisions/connections.md), and a middleware is called too late: after the
header. So the protocol is a subclass that overrides only methods with public names.

One sweep per second checks the deadlines of all connections, so that no request needs a timer.
"""

import asyncio
import resource
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from traitbench.errors import InvalidRequest, TraitbenchError, Unavailable
from traitbench.service.errors import refusal

MOST_FILES = 65_536
FILES_BESIDE = 512  # for the database, the worker, fetched pages, and connections that are being refused

LONGEST_URL = 16 * 1024  # bytes
LARGEST_HEAD = 64 * 1024  # bytes, all header fields together
LONGEST_SOCKET_LINE = 8 * 1024 - 2  # bytes of a line in the header of a WebSocket; the library ignores longer ones
MOST_FIELDS = 100
MOST_PIPELINED = 16

_SWEEP_SECONDS = 1.0
_REFUSING_SECONDS = 0.05  # until a reason is sent: clients that ask again at once would take the whole loop
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


class RequestTimeout(TraitbenchError, status=408, code="request_timeout"):
    """The header or the body of a request takes too long to arrive."""


class UrlTooLong(TraitbenchError, status=414, code="url_too_long"):
    """The address of a request exceeds its limit."""


class HeadersTooLarge(TraitbenchError, status=431, code="headers_too_large"):
    """The header of a request has too many fields or too many bytes."""


NOT_HTTP = InvalidRequest("This is not an HTTP request. Check the client.")
LATE = RequestTimeout("The header of the request took too long to arrive. Send it again.")
LONG_URL = UrlTooLong(f"The address is longer than {LONGEST_URL} bytes. Shorten it.")
LARGE_HEAD = HeadersTooLarge(
    f"The header has more than {MOST_FIELDS} fields or {LARGEST_HEAD} bytes. Send fewer or shorter ones."
)
LONG_SOCKET_URL = UrlTooLong("The address of the WebSocket is longer than 8 kB. Shorten it.")
LONG_SOCKET_FIELD = HeadersTooLarge(
    "The header of the WebSocket has a field of more than 8 kB. Perhaps other applications on this host name have set"
    " large cookies: delete them, or use another name for this machine."
)
FULL = Unavailable("The service has too many connections. Try again in a moment.")


class _Refused(Exception):
    """Stops the parser; the connection's `reason` has the reason."""


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
class ConnectionWatcher:
    """Watches the connections of one server."""

    limits: Limits
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
    """Uvicorn's HTTP protocol with limits. `protocol` makes a subclass and sets `watcher` on it."""

    watcher: ConnectionWatcher

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.reason: TraitbenchError | None = None
        self.since = 0.0
        self._due: float | None = None
        self._in_head = False
        self._head_before = 0  # bytes of this header in earlier chunks
        self._chunk = 0  # bytes of the chunk that is being parsed
        self._parsed = 0  # fields and parts of bodies so far
        self._after_head = 0  # bytes after the header that are no body: fields after the body, and sizes of its parts
        self._owed: TraitbenchError | None = None  # to be said after the answers to earlier requests

    @property
    def is_waiting(self) -> bool:
        """Whether the connection is idle: every complete request is answered."""
        answered = self.cycle is None or self.cycle.response_complete
        return answered and not self.pipeline and not self.transport.is_closing()

    def look_at_clock(self, now: float) -> None:
        """Close the connection if the data that it must send is overdue."""
        if self._due is None or self.transport.is_closing():
            return
        if self.reason is not None:
            if now >= self._due:
                self.transport.close()
        elif self.flow.read_paused:
            self._due = now + self.watcher.limits.body_seconds  # the delay is the server's fault, not the client's
        elif now >= self._due:
            # If the request is already answered, its late body needs no second response.
            if self._in_head or not self.is_waiting:
                self._refuse(LATE)
            else:
                self.transport.close()

    # ---- what uvicorn and the parser call ----

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and refuse it if there are too many."""
        super().connection_made(transport)
        limits = self.watcher.limits
        self.since = self.loop.time()
        self._due = self.since + limits.head_seconds
        self.watcher.watch(self.loop, self.connections)
        if len(self.connections) > limits.connections and not self.watcher.make_room(self.connections - {self}):
            self._refuse(FULL)

    def data_received(self, data: bytes) -> None:
        """Parse the data unless the connection is refused; refuse it if its header does not end."""
        if self.reason is not None:
            return
        self._chunk = len(data)
        parsed = self._parsed
        super().data_received(data)
        if self.reason is not None or (self.is_waiting and not self._in_head):
            return
        if self._in_head:
            self._head_before += len(data)
        elif self._parsed == parsed:
            self._after_head += len(data)
        if self._head_before > LONGEST_URL + LARGEST_HEAD or self._after_head > LARGEST_HEAD:
            self._refuse(LARGE_HEAD)

    def send_400_response(self, msg: str) -> None:
        """Refuse the connection: the parser stopped at a limit, or at data that is not HTTP."""
        self._refuse(self.reason or NOT_HTTP)

    def on_message_begin(self) -> None:
        """Set the deadline of the header."""
        super().on_message_begin()
        self._in_head, self._head_before, self._after_head = True, 0, 0
        self._due = self.loop.time() + self.watcher.limits.head_seconds

    def on_url(self, url: bytes) -> None:
        """Check the length of the address."""
        if len(self.url) + len(url) > LONGEST_URL:
            self._stop(LONG_URL)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Drop a field that comes after the body (RFC 9110, 6.5).

        Uvicorn would add it to the header that the application has, after a proxy has cleaned that.
        """
        self._parsed += 1
        if self._in_head:
            super().on_header(name, value)
            return
        self._after_head += len(name) + len(value) + len(b": \r\n")
        if self._after_head > LARGEST_HEAD:
            self._stop(LARGE_HEAD)

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
        self._due = self.loop.time() + self.watcher.limits.body_seconds
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Move the deadline of the body: every byte adds a little time for the next ones."""
        if self._due is not None:
            limits = self.watcher.limits
            most = self.loop.time() + limits.body_seconds
            self._due = min(most, self._due + len(body) / limits.body_rate)
        self._parsed, self._after_head = self._parsed + 1, 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Remove the deadline, because the request is complete."""
        self._due = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Record the time from which the connection is idle."""
        self.since = self.loop.time()
        super().on_response_complete()
        if self._owed is not None and self.is_waiting:
            self._say(self._owed)

    def handle_websocket_upgrade(self) -> None:
        """Open a WebSocket; refuse it if there are too many, or if its header has lines that the library ignores."""
        reason = self._socket_refusal()
        if reason is None:
            super().handle_websocket_upgrade()
        else:
            self._refuse(reason)

    def _socket_refusal(self) -> TraitbenchError | None:
        if len(b"GET  HTTP/1.1") + len(self.url) > LONGEST_SOCKET_LINE:
            return LONG_SOCKET_URL
        if any(len(name) + len(b": ") + len(value) > LONGEST_SOCKET_LINE for name, value in self.headers):
            return LONG_SOCKET_FIELD
        return None if self.watcher.has_websocket_left(self.connections) else FULL

    # ---- refusing ----

    def _stop(self, reason: TraitbenchError) -> None:
        self.reason = reason
        raise _Refused

    def _refuse(self, reason: TraitbenchError) -> None:
        """Send the reason and close soon: after the answers to earlier requests, and instead of that to this one.

        Close at once if the answer to this request has begun.
        """
        if self.transport.is_closing():
            return
        self.reason = reason
        if self.is_waiting:
            self._say(reason)
            return
        if self.pipeline and self.pipeline[0][0].more_body:
            self.pipeline.popleft()  # the newest is the one that is refused
        elif not self.pipeline and self.cycle.more_body:
            if self.cycle.response_started:
                self.transport.close()
            else:
                # What the application still says of it is dropped.
                self.cycle.disconnected = True
                self.cycle.message_event.set()
                self._say(reason)
            return
        self._owed, self._due = reason, None

    def _say(self, reason: TraitbenchError) -> None:
        self.reason, self._owed = reason, None
        self._due = self.loop.time() + _REFUSING_SECONDS + _LINGER_SECONDS
        # Keep reading and drop the data; otherwise the client would get a reset instead of the response.
        self.flow.resume_reading()
        self.loop.call_later(_REFUSING_SECONDS, self._send_refusal, reason)

    def _send_refusal(self, reason: TraitbenchError) -> None:
        if self.transport.is_closing():
            return
        self.transport.write(_answer(reason))
        if self.transport.can_write_eof():
            self.transport.write_eof()


def protocol(limits: Limits) -> type[BoundedProtocol]:
    """Return the protocol class for one server, for `uvicorn.Config(http=...)`."""
    return type("LimitedProtocol", (BoundedProtocol,), {"watcher": ConnectionWatcher(limits)})


def _bounded(connections: set[Any]) -> Iterator[BoundedProtocol]:
    return (each for each in connections if isinstance(each, BoundedProtocol))


def _answer(reason: TraitbenchError) -> bytes:
    answer = refusal(reason)
    answer.headers["Connection"] = "close"
    head = b"".join(b"%b: %b\r\n" % header for header in answer.raw_headers)
    return STATUS_LINE[answer.status_code] + head + b"\r\n" + bytes(answer.body)

"""Web servers on this machine for the tests of extraction; a test decides every byte they send."""

import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread

from traitbench.extract import FetchLimits
from traitbench.extract.sockets import IPAddress

Answer = Callable[[bytes], Iterable[bytes]]

ANY_PORT = FetchLimits(ports=frozenset(range(65_536)))


def this_machine(address: IPAddress) -> bool:
    """The addresses that tests permit: only those of this machine."""
    return address.is_loopback


def page(
    body: bytes | str = b"", *headers: str, status: str = "200 OK", kind: str = "text/html; charset=utf-8"
) -> bytes:
    """A complete response."""
    body = body.encode() if isinstance(body, str) else body
    head = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def redirect(to: str, *headers: str, status: str = "302 Found") -> bytes:
    return page(b"", f"Location: {to}", *headers, status=status)


def then_silence(start: bytes) -> Iterator[bytes]:
    """A few bytes, then nothing for longer than any test runs."""
    yield start
    Event().wait(20)


@dataclass
class Site:
    """A listening server and the requests it received."""

    host: str
    port: int
    requests: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"


@contextmanager
def serve(answer: Answer | bytes, *, host: str = "127.0.0.1") -> Iterator[Site]:
    """A server on a free port. `answer` returns the pieces to send for a request."""
    pieces_of: Answer = (lambda request: [answer]) if isinstance(answer, bytes) else answer
    with socket.create_server((host, 0)) as listener:
        site = Site(host, listener.getsockname()[1])
        Thread(target=_accept, args=(listener, site, pieces_of), daemon=True).start()
        yield site
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # closing alone does not wake a thread in accept


def _accept(listener: socket.socket, site: Site, pieces_of: Answer) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            Thread(target=_converse, args=(connection, site, pieces_of), daemon=True).start()


def _converse(connection: socket.socket, site: Site, pieces_of: Answer) -> None:
    with connection, suppress(OSError):
        request = _request(connection)
        site.requests.append(request)
        for piece in pieces_of(request):
            connection.sendall(piece)


def _request(connection: socket.socket) -> bytes:
    """Read to the end of the headers; of a TLS handshake, only the first bytes."""
    request = b""
    while b"\r\n\r\n" not in request and not request.startswith(b"\x16"):
        piece = connection.recv(65_536)
        if not piece:
            break
        request += piece
    return request

"""The outermost layer: what holds for every request and every answer, whatever happens between.

Each request gets an id, `req_` and a ULID, and each answer bears it. What nobody caught becomes a 500 with the
envelope; the log names the fault by its type and its places in the code, never by its message, which may hold content.
Plain ASGI, so that nothing stands between the server and this.

Every answer is measured (`Measured`) and reported to a watcher: `traitbench.service.watching` counts and logs.

See core/docs/contract.md, section 1.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from urllib.parse import unquote

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from ulid import ULID

from traitbench import logs
from traitbench.errors import InternalError
from traitbench.service.capacity import claim_in
from traitbench.service.envelope import envelope

_SCOPE_KEY = "traitbench.request_id"
_SLASH = "\x00"  # stands for a slash within a segment of the path; no name has this character
_NO_CHARACTER = "\ufffd"
_log = logging.getLogger("traitbench.service")


@dataclass(frozen=True, slots=True)
class Measured:
    """A request that is over: its scope as the application left it, what was answered, and the seconds it took.

    `status` is 0 when the caller went away before there was an answer.
    """

    scope: Scope
    request_id: str
    status: int
    sent_bytes: int
    seconds: float


class Edges:
    """Wraps the whole application; `watch` is told of every request when it is over."""

    def __init__(self, app: ASGIApp, watch: Callable[[Measured], None] | None = None) -> None:
        self._app = app
        self._watch = watch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identity = f"req_{ULID()}"
        answer, inner, began = _Answer(send, identity), _within(scope, identity), perf_counter()
        claim = claim_in(inner)
        try:
            await self._app(inner, receive, answer)
        except Exception as error:
            where = [*logs.places(error)]
            logs.event(_log, logging.ERROR, "fault", request_id=identity, method=scope["method"], error=where)
            if not answer.status:
                await fault(identity)(scope, receive, answer)
        finally:
            # Here, because whatever ends a request ends it here: its answer, an error, a caller who leaves.
            claim.release()
            if self._watch is not None:
                self._watch(Measured(inner, identity, answer.status, answer.sent_bytes, perf_counter() - began))


def request_id(scope: Scope) -> str:
    """The id of the request that `scope` describes."""
    return str(scope[_SCOPE_KEY])


def segment(text: str) -> str:
    """A segment of the path as it was meant, a slash within it included."""
    return text.replace(_SLASH, "/")


def fault(identity: str) -> Response:
    """The answer to what nobody caught."""
    return envelope(InternalError("The service failed; the request id finds the reason in its log."), identity)


class _Answer:
    """`send`, with the request id on the first message; it remembers the status and counts the bytes of the body."""

    def __init__(self, send: Send, identity: str) -> None:
        self._send = send
        self._header = (b"x-request-id", identity.encode())
        self.status = 0
        self.sent_bytes = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.body":
            self.sent_bytes += len(message.get("body", b""))
        elif message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": [*message.get("headers", ()), self._header]}
        await self._send(message)


def _within(scope: Scope, identity: str) -> Scope:
    """The request as the application sees it: with its id, HEAD as GET (the server leaves out the body), and its path
    taken apart before it is decoded, so that a trait's name may hold a slash.
    """
    inner = {**scope, _SCOPE_KEY: identity, "path": scope["path"].replace(_SLASH, _NO_CHARACTER)}
    if scope["method"] == "HEAD":
        inner["method"] = "GET"
    raw = scope.get("raw_path") or b""
    if b"%2F" in raw or b"%2f" in raw:
        inner["path"] = "/".join(_decoded(part) for part in raw.decode("ascii").split("/"))
    return inner


def _decoded(part: str) -> str:
    return unquote(part).replace(_SLASH, _NO_CHARACTER).replace("/", _SLASH)

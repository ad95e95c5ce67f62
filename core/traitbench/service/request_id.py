"""The outermost middleware of the API: request ids, unhandled exceptions and request summaries (core/docs/contract.md,
section 1).

Each request gets an id, `req_` and a ULID, which its response carries as a header. An unhandled exception becomes a 500
with the envelope. The log names its type and locations in the code, never its message, which may hold content. This is
plain ASGI, so that no other layer lies between the server and this one.

Every request is summarised (`RequestSummary`) for `traitbench.service.observability`, which counts and logs it.
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
from traitbench.errors import InternalError, TraitbenchError
from traitbench.service.capacity import claim_in
from traitbench.service.errors import rendered

_SCOPE_KEY = "traitbench.request_id"
_SLASH = "\x00"  # stands for a slash within a segment of the path; no name has this character
_NO_CHARACTER = "\ufffd"
_log = logging.getLogger("traitbench.service")


@dataclass(frozen=True, slots=True)
class RequestSummary:
    """A finished request: its scope as the application left it, the response, and the duration in seconds.

    `status` is 0 if the caller left before there was a response.
    """

    scope: Scope
    request_id: str
    status: int
    sent_bytes: int
    seconds: float


class RequestIdMiddleware:
    """Wraps the whole application, and calls `watch` with every finished request."""

    def __init__(self, app: ASGIApp, watch: Callable[[RequestSummary], None] | None = None) -> None:
        self._app = app
        self._watch = watch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identity = f"req_{ULID()}"
        answer, inner, began = _LoggedAnswer(send, identity), _within(scope, identity), perf_counter()
        claim = claim_in(inner)
        try:
            await self._app(inner, receive, answer)
        except Exception as error:
            where = [*logs.locations(error)]
            logs.event(_log, logging.ERROR, "fault", request_id=identity, method=scope["method"], error=where)
            if not answer.status:
                await internal_error(inner)(scope, receive, answer)
        finally:
            # Every request ends here: by its answer, an error, or a caller who leaves.
            claim.release()
            if self._watch is not None:
                self._watch(RequestSummary(inner, identity, answer.status, answer.sent_bytes, perf_counter() - began))


def request_id(scope: Scope) -> str:
    """Return the id of the request that `scope` describes."""
    return str(scope[_SCOPE_KEY])


def segment(text: str) -> str:
    """Return a decoded segment of the path; it may contain slashes."""
    return text.replace(_SLASH, "/")


def internal_error(scope: Scope) -> Response:
    """Return the response for an unhandled exception."""
    return error_response(InternalError("The service failed. Its log has the reason under this request id."), scope)


def error_response(error: TraitbenchError, scope: Scope) -> Response:
    """Return the response for an error of the request that `scope` describes."""
    return rendered(error, request_id(scope), scope["path"])


class _LoggedAnswer:
    """Wraps `send`: adds the request id to the first message, records the status and counts the bytes of the body."""

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
    """Return the scope for the application.

    It has the request id. HEAD becomes GET, because the server leaves out the body. The path is split before it is
    decoded, so that the name of a trait may contain a slash.
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

"""The outermost layer: what holds for every request and every answer, whatever happens between (CONTRACT 1).

Each request gets an id, `req_` and a ULID, and each answer bears it. What nobody caught becomes a 500 with the
envelope; the log names the fault by its type and its places in the code, never by its message, which may hold content.
Plain ASGI, so that nothing stands between the server and this.
"""

import logging
import traceback
from collections.abc import Iterator
from urllib.parse import unquote

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from ulid import ULID

from core.errors import InternalError
from core.service.capacity import claim_in
from core.service.envelope import envelope

_SCOPE_KEY = "traitbench.request_id"
_SLASH = "\x00"  # stands for a slash within a segment of the path; no name has this character
_NO_CHARACTER = "\ufffd"
_log = logging.getLogger("traitbench.service")


class Edges:
    """Wraps the whole application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identity = f"req_{ULID()}"
        answer, inner = _Answer(send, identity), _within(scope, identity)
        claim = claim_in(inner)
        try:
            await self._app(inner, receive, answer)
        except Exception as error:
            _log.error("%s %s failed\n%s", identity, scope["method"], "\n".join(_places(error)))
            if not answer.started:
                await fault(identity)(scope, receive, answer)
        finally:
            # Here, because whatever ends a request ends it here: its answer, an error, a caller who leaves.
            claim.release()


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
    """`send`, with the request id on the first message."""

    def __init__(self, send: Send, identity: str) -> None:
        self._send = send
        self._header = (b"x-request-id", identity.encode())
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
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


def _places(error: BaseException | None) -> Iterator[str]:
    """An error and its causes: types and places, no messages and no values."""
    while error is not None:
        yield f"{type(error).__module__}.{type(error).__qualname__}"
        for frame in traceback.extract_tb(error.__traceback__):
            yield f"  {frame.filename}:{frame.lineno} {frame.name}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)

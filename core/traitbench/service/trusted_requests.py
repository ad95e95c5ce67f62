"""The outermost middleware of a process: allowed host names, allowed origins, closed paths and security headers.

A browser lets any page on the web send requests to this machine. Three headers reveal such a page. `Host` is the name
in the page's address: a foreign name that resolves to this machine (DNS rebinding) is refused. `Origin` is the page
that sends the request. `Sec-Fetch-Site` says whether the page is one of ours if `Origin` is missing. A program that is
not a browser sends only `Host`. Forwarding headers are ignored, because they cannot be trusted.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from http import HTTPStatus
from ipaddress import IPv4Address, ip_network

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from traitbench.contract.operations import PREFIXES
from traitbench.errors import HostNotAllowed, InvalidRequest, OriginNotAllowed, RouteNotFound, TraitbenchError
from traitbench.service.anonymous import AnonymousQueue
from traitbench.service.errors import refusal
from traitbench.settings import Settings

Header = tuple[bytes, bytes]

APIS = (*PREFIXES, "/mcp")
API_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

# `no-referrer` would be stricter, but browsers then send `Origin: null` with our own forms.
HEADERS: Sequence[Header] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
PAGE_HEADERS: Sequence[Header] = (
    *HEADERS,
    (b"cross-origin-opener-policy", b"same-origin"),
    (
        b"permissions-policy",
        b"accelerometer=(), browsing-topics=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), "
        b"magnetometer=(), microphone=(), midi=(), payment=(), publickey-credentials-get=(), serial=(), usb=()",
    ),
)

_HOST = re.compile(rb"(?:\[([0-9a-f:]{2,39})\]|([a-z0-9_](?:[a-z0-9._-]{0,252}[a-z0-9])?))(?::([0-9]{1,5}))?")
_ORIGIN = re.compile(rb"https?://([^/?#@\s]{1,262})")
_OURS = frozenset({None, b"same-origin", b"none"})
_MOST_KNOWN = 256
_LARGEST_PORT = 65_535
_MOST_PARAMETERS = 100  # of a query; decoding thousands takes longer than a score
_LONGEST_PATH = 8_192  # characters; each route compares the whole of it
_MOST_ESCAPES = 64  # of a cookie; decoding them takes time that grows with their square: 60,000 took 8 s


class TrustedRequests:
    """Wraps a whole application: the service and, if present, the workbench."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        *,
        policy: str = API_POLICY,
        closed: Callable[[str], bool] = lambda _path: False,
        known: Callable[[Scope], bool] = lambda _scope: True,
    ) -> None:
        """`policy` is the Content-Security-Policy outside the API; `closed` says which paths are not served.

        `known` says whether a request has a session or a key. All others wait in the queue for anonymous requests. It
        must be quick, and it grants no access.
        """
        self._app = app
        self._is_known = known
        self._anonymous = AnonymousQueue([ip_network(each) for each in settings.proxies])
        self._named = frozenset(name.encode() for name in settings.own_hosts)  # in addition to loopback names
        self._closed = closed
        self._known: dict[bytes, bytes] = {}
        self._api_headers = ((b"content-security-policy", API_POLICY.encode()), *HEADERS)
        self._page_headers = ((b"content-security-policy", policy.encode()), *PAGE_HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass allowed requests on, refuse the others, and add the security headers to every response."""
        kind = scope["type"]
        if kind == "lifespan":
            await self._app(scope, receive, send)
            return
        scope = _without_escaped_cookies(scope)
        if self._is_known(scope):
            await self._answer(scope, receive, send)
        else:
            await self._anonymous.serve(self._answer, scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self._refusal(scope)
        if scope["type"] == "websocket":
            if refused is None:
                # Without the origin, which is checked here. Streamlit would compare it with this machine's addresses,
                # and ask a web site for one of them.
                headers = [header for header in scope["headers"] if header[0] != b"origin"]
                await self._app({**scope, "headers": headers}, _binary(receive, send), send)
            else:
                await send({"type": "websocket.close", "code": 1008, "reason": ""})
            return
        answer = _SecuredAnswer(send, self._api_headers if is_api(_meant(scope["path"])) else self._page_headers)
        if refused is None:
            await self._app(scope, receive, answer)
        else:
            await _refused(scope, refused)(scope, receive, answer)

    def _refusal(self, scope: Scope) -> TraitbenchError | None:
        """Return why a request is refused, or None if it is allowed."""
        host = origin = site = None
        hosts = origins = 0
        for name, value in scope["headers"]:
            if name == b"host":
                host, hosts = value, hosts + 1
            elif name == b"origin":
                origin, origins = value, origins + 1
            elif name == b"sec-fetch-site":
                site = value
        if host is None or hosts > 1:
            return _misaddressed("The request needs exactly one Host header.")
        if host not in self._known and not self._learn(host):
            return _unknown(host)
        if origins and (origins > 1 or not self._is_ours(origin, host)):
            return _foreign()
        if site not in _OURS and not _opens_a_page(scope):
            return _foreign()
        if not scope["path"].startswith("/"):
            return _misaddressed("The target of the request must be a path.")
        if scope["path"] != _meant(scope["path"]):
            return RouteNotFound("The path begins with two slashes. Remove the slash at the end of the base URL.")
        if scope["query_string"].count(b"&") >= _MOST_PARAMETERS:
            return _misaddressed(f"The query has more than {_MOST_PARAMETERS} parameters.")
        if len(scope["path"]) > _LONGEST_PATH or self._closed(scope["path"]):
            return RouteNotFound("There is no such path.")
        return None

    def _learn(self, host: bytes) -> bool:
        """Whether a `Host` is a name of this process; remember it if so."""
        name = _name(host.lower())
        if name is None or not (name in self._named or _is_loopback(name)):
            return False
        # Callers choose the spellings, so their number needs a limit.
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[host] = name
        return True

    def _is_ours(self, origin: bytes | None, host: bytes) -> bool:
        """Whether an `Origin` equals the request's own address, or is a host that the operator allowed.

        A loopback name alone is not enough: another port of this machine is another application.
        """
        match = _ORIGIN.fullmatch((origin or b"").lower())
        return match is not None and (match[1] == host.lower() or match[1] in self._named)


def _binary(receive: Receive, send: Send) -> Receive:
    """Return `receive` for a socket of binary messages; one of text closes it, where Streamlit would log a failure."""

    async def binary() -> Message:
        message = await receive()
        if message["type"] == "websocket.receive" and message.get("bytes") is None:
            await send({"type": "websocket.close", "code": 1003, "reason": ""})
            return {"type": "websocket.disconnect", "code": 1003}
        return message

    return binary


class _SecuredAnswer:
    """Wraps `send`, and adds those security headers that the response does not have."""

    def __init__(self, send: Send, headers: Iterable[Header]) -> None:
        self._send = send
        self._headers = headers

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", ()))
            names = {name for name, _ in given}
            given += [header for header in self._headers if header[0] not in names]
            message = {**message, "headers": given}
        await self._send(message)


def _without_escaped_cookies(scope: Scope) -> Scope:
    """Return the request without cookies that have very many escapes. Ours have none."""
    headers = scope["headers"]
    if not any(name == b"cookie" and value.count(b"\\") > _MOST_ESCAPES for name, value in headers):
        return scope
    passed_on = [(name, _few_escapes(value) if name == b"cookie" else value) for name, value in headers]
    return {**scope, "headers": passed_on}


def _few_escapes(cookies: bytes) -> bytes:
    return b";".join(each for each in cookies.split(b";") if each.count(b"\\") <= _MOST_ESCAPES)


def is_api(path: str) -> bool:
    """Whether a path is of the API or of the agents' tools, which need a key and ignore sessions."""
    return f"{path}/".startswith(tuple(f"{each}/" for each in APIS))


def _meant(path: str) -> str:
    """Return the path of the API that a path with more slashes at its start means; any other path as it is."""
    single = f"/{path.lstrip('/')}"
    return single if is_api(single) else path


def _name(host: bytes) -> bytes | None:
    """Return the name or address in a `Host` without its port, or None if it is malformed."""
    match = _HOST.fullmatch(host)
    if match is None or int(match[3] or 0) > _LARGEST_PORT:
        return None
    return match[1] or match[2]


def _is_loopback(name: bytes) -> bool:
    if name in (b"localhost", b"::1"):
        return True
    try:
        return IPv4Address(name.decode()).is_loopback
    except ValueError:
        return False


def _opens_a_page(scope: Scope) -> bool:
    """Whether a person follows a link from another site. That is safe: the site cannot read the response."""
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return False
    headers = dict(scope["headers"])
    return headers.get(b"sec-fetch-mode") == b"navigate" and headers.get(b"sec-fetch-dest") == b"document"


def _unknown(host: bytes) -> TraitbenchError:
    name = _name(host.lower())
    if name is None:
        return _misaddressed("The Host header must be a host name with or without a port.")
    return HostNotAllowed(
        f"Traitbench does not answer to the name {name.decode()}. If it is the name of this machine, "
        f"start Traitbench with TRAITBENCH_ALLOWED_HOSTS={name.decode()}.",
        details={"host": name.decode()},
    )


def _misaddressed(message: str) -> TraitbenchError:
    return InvalidRequest(message, details={"host": None})


def _foreign() -> TraitbenchError:
    return OriginNotAllowed(
        "A page of another web site may not use Traitbench. Behind a proxy, add the name in the browser's address bar "
        "to TRAITBENCH_ALLOWED_HOSTS.",
        details={"header": "Origin"},
    )


def _refused(scope: Scope, error: TraitbenchError) -> Response:
    if is_api(path := _meant(scope["path"])):
        return refusal(error, path)
    return PlainTextResponse(f"{HTTPStatus(error.status).phrase}\n\n{error.message}\n", status_code=error.status)

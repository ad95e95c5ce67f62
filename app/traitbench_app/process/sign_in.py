"""The sign-in of the workbench. Without a session, no request reaches Streamlit.

`/sign-in` accepts the secret of the start-up link or an API key, and sets a cookie that all other paths of the
workbench need. With an OpenID provider (`app/traitbench_app/process/openid.py`), people sign in there instead of with
an API key. Behind a proxy that signs people in (`app/traitbench_app/process/proxy.py`), a session begins with the first
request that names a person. The cookie is `HttpOnly` and `SameSite=Strict`, so that pages cannot read it and other
sites cannot use it. The API below `/v1` needs an API key and ignores the cookie, and so do the tools for agents at
`/mcp`.
"""

import asyncio
import base64
import hashlib
import logging
import re
import time
from collections import OrderedDict
from html import escape
from ipaddress import ip_network
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlencode

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from traitbench.errors import TraitbenchError
from traitbench.service.addresses import client_address
from traitbench.service.trusted_requests import is_api
from traitbench.settings import Settings
from traitbench_app.shell import people
from traitbench_app.shell.people import OPERATOR, SESSIONS, Person, StartLink

if TYPE_CHECKING:
    from traitbench_app.process.openid import OpenId
    from traitbench_app.process.proxy import Proxy

PATH = "/sign-in"

_FOLDER = Path(__file__).with_name("static")
_STYLE = (_FOLDER / "sign_in.css").read_text("utf-8")
_PAGE = Template((_FOLDER / "sign_in.html").read_text("utf-8"))
_WITH_KEY = Template((_FOLDER / "sign_in_key.html").read_text("utf-8"))
_WITH_OPENID = Template((_FOLDER / "sign_in_openid.html").read_text("utf-8"))
_WITH_LINK = (
    "<p>Open this workbench at the address of the proxy that signs people in.</p>\n"
    "<p><strong>Do you operate this workbench?</strong> Open the sign-in link that the terminal shows.</p>\n"
)
_ICON = base64.b64encode((_FOLDER / "icon.svg").read_bytes()).decode()
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; img-src data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
_OF_OPENID = frozenset({f"{PATH}/start", f"{PATH}/callback", people.OUT})
# More is not decoded, so that no stranger makes others wait.
_LARGEST_FORM, _LONGEST_PATH = 8 * 1024, 2_000  # bytes
_MOST_FIELDS, _MOST_COOKIES = 16, 200
_FORGIVEN_SECONDS, _MOST_COUNTED = 60.0, 1_000
# By address alone, everyone behind one proxy would be locked out together, and an attacker with many addresses would
# have ten tries from each. An address without a failure may always try once, so nobody can lock a person out; one more
# guess at 256 random bits costs less.
_OF_ADDRESS, _OF_ACCOUNT = 10, 30  # failures within that time
_LATER = {"Retry-After": str(int(_FORGIVEN_SECONDS))}
_STARTS_OF_ADDRESS = 300  # sign-ins at the provider that begin within that time
_KEY = re.compile(r"tb[as]_[0-9A-Za-z]{6}")  # the part of a key that the Console shows

_WRONG = "This is neither the secret of the sign-in link nor a valid API key."
_WRONG_LINK = "This sign-in link is out of date. The terminal shows the current one."
_TOO_OFTEN = "Too many failed attempts. Wait a minute, then try again."
_TOO_MANY = "Too many sign-ins were started from your network. Wait a minute, then try again."
_AWAY = "The service does not answer, so the key cannot be checked. Try again in a moment."

_log = logging.getLogger(__name__)


class SignIn:
    """Wraps the workbench and requires a session."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        *,
        secret: str,
        openid: "OpenId | None" = None,
        proxy: "Proxy | None" = None,
    ) -> None:
        """`secret` is that of the start-up link. With `openid` or `proxy`, people cannot sign in with API keys."""
        self._app = app
        self._settings = settings
        self._link = StartLink(secret)
        self._openid, self._proxy = openid, proxy
        self._cookie = people.cookie_name(settings)
        self._failures, self._starts = _Failures(), _Counts(_STARTS_OF_ADDRESS)
        self._proxies = [ip_network(each) for each in settings.proxies]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass requests of signed-in browsers on, and send the others to the sign-in."""
        kind, path = scope["type"], scope.get("path", "")
        if kind == "lifespan" or (kind == "http" and is_api(path)):
            await self._app(scope, receive, send)
            return
        token = self._token(scope)
        if self._proxy is not None and not self._proxy.confirms(scope, SESSIONS.find(token)):
            token = None
        if kind == "websocket":
            await self._socket(scope, receive, send, token)
        elif path == PATH:
            await (await self._door(scope, receive))(scope, receive, send)
        elif self._openid is not None and path in _OF_OPENID:
            await (await self._at_provider(self._openid, scope))(scope, receive, send)
        elif SESSIONS.find(token) is not None or (path.startswith("/static/") and SESSIONS.has_ended(token)):
            await self._app(scope, receive, send)
        elif self._proxy is not None and _is_navigation(scope) and _is_ours(scope):
            await (await self._through_proxy(self._proxy, scope, _here(scope)))(scope, receive, send)
        else:
            await _unsigned(scope)(scope, receive, send)

    def knows(self, scope: Scope) -> bool:
        """Whether a request has the cookie of a session."""
        return SESSIONS.find(self._token(scope)) is not None

    async def _socket(self, scope: Scope, receive: Receive, send: Send, token: str | None) -> None:
        """Serve a WebSocket while its session lasts, which is checked at each message."""
        if SESSIONS.find(token) is None:
            await send({"type": "websocket.close", "code": 1008, "reason": ""})
            return

        async def while_signed_in() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive" and SESSIONS.find(token) is None:
                await send({"type": "websocket.close", "code": 1008, "reason": ""})
                return {"type": "websocket.disconnect", "code": 1008}
            return message

        await self._app(scope, while_signed_in, send)

    async def _door(self, scope: Scope, receive: Receive) -> Response:
        """Handle `/sign-in`: the form, the start-up link, and the submitted form."""
        query = _fields(scope["query_string"])
        if scope["method"] in ("GET", "HEAD"):
            following = _within(_one(query, "next"))
            secret = _one(query, "token")
            if secret:
                return await self._entered(scope, secret, following, by_link=True)
            if self._proxy is not None and self._proxy.names(scope) and _is_ours(scope):
                return await self._through_proxy(self._proxy, scope, following)
            return self._form(following)
        if scope["method"] != "POST" or not self._takes_keys:
            allowed = "GET, HEAD, POST" if self._takes_keys else "GET, HEAD"
            return PlainTextResponse("Method Not Allowed", 405, {"Allow": allowed})
        sent = await read_form(receive)
        return await self._entered(scope, _one(sent, "token").strip(), _within(_one(sent, "next")), by_link=False)

    @property
    def _takes_keys(self) -> bool:
        return self._openid is None and self._proxy is None

    async def _through_proxy(self, proxy: "Proxy", scope: Scope, following: str) -> Response:
        """Begin a session for the person whom the proxy names, or say why not."""
        from traitbench_app.process.sessions import NotSignedIn

        try:
            token = await asyncio.to_thread(proxy.people.begin, proxy.identity(scope))
        except NotSignedIn as refusal:
            return self._form(following, refusal.message, status=refusal.status)
        return self._let_in(scope, token, RedirectResponse(following, 303, {"Cache-Control": "no-store"}))

    async def _at_provider(self, openid: "OpenId", scope: Scope) -> Response:
        """Handle the redirects to the OpenID provider and back, and the sign-out there."""
        from traitbench_app.process.openid import ATTEMPT_SECONDS, START
        from traitbench_app.process.sessions import NotSignedIn

        if scope["method"] != "GET":
            return PlainTextResponse("Method Not Allowed", 405, {"Allow": "GET"})
        if scope["path"] == people.OUT:
            return self._out(openid, scope)
        query = _fields(scope["query_string"])
        if scope["path"] == START:
            following = _within(_one(query, "next"))
            if not _is_ours(scope):
                return self._form(following)  # another site may link here, but not start a sign-in
            address = client_address(scope, self._proxies)
            if self._starts.recent(address) >= _STARTS_OF_ADDRESS:
                return self._form(following, _TOO_MANY, status=429, headers=_LATER)
            self._starts.note(address)
            started = await openid.begin(_origin(scope), following, choose=bool(_one(query, "choose")))
            answer: Response = RedirectResponse(started.url, 303, {"Cache-Control": "no-store"})
            for name in openid.surplus(_cookies(scope)):
                _forget_attempt(scope, answer, name)
            # `Lax`, because the provider's page sends the browser back; limited to the sign-in paths.
            answer.set_cookie(
                started.cookie,
                started.secret,
                max_age=ATTEMPT_SECONDS,
                path=PATH,
                httponly=True,
                samesite="lax",
                secure=_is_https(scope),
            )
            return answer
        cookie = openid.cookie(_one(query, "state"))
        try:
            token, following = await openid.finish(scope, _cookie(scope, cookie) or "")
        except NotSignedIn as refusal:
            answer = self._form("/", refusal.message, status=refusal.status, stranger=refusal.stranger)
        else:
            # A page instead of a redirect, after which the browser would not send the `Strict` cookie.
            answer = self._let_in(scope, token, HTMLResponse(_onward(following), headers=_HEADERS))
        _forget_attempt(scope, answer, cookie)
        return answer

    def _out(self, openid: "OpenId", scope: Scope) -> Response:
        """End the session here, then send the browser to the provider's sign-out, if there is one."""
        if not _is_ours(scope):
            return self._form("/")  # another site may link here, but not sign anyone out
        SESSIONS.end(self._token(scope))
        answer = RedirectResponse(openid.provider.sign_out or PATH, 303, {"Cache-Control": "no-store"})
        answer.delete_cookie(self._cookie, path="/", httponly=True, samesite="strict", secure=_is_https(scope))
        return answer

    async def _entered(self, scope: Scope, secret: str, following: str, *, by_link: bool) -> Response:
        """Sign the browser in, or say why not.

        A link signs in only the operator, so that an attacker cannot sign someone in with a link to another account.
        """
        address, account = client_address(scope, self._proxies), _account(secret)
        if self._failures.too_many(address, account):
            return self._form(following, _TOO_OFTEN, status=429, headers=_LATER)
        try:
            person = OPERATOR if self._link.opens(secret) else None if by_link else await self._holder(secret)
        except TraitbenchError:
            return self._form(following, _AWAY, status=503)
        if person is None:
            self._failures.note(address, account)
            _log.warning("a sign-in from %s failed", address or "an unknown address")
            return self._form(following, _WRONG if self._takes_keys else _WRONG_LINK, status=403)
        answer = RedirectResponse(following, status_code=303, headers={"Cache-Control": "no-store"})
        return self._let_in(scope, SESSIONS.begin(person), answer)

    def _let_in(self, scope: Scope, token: str, answer: Response) -> Response:
        """Set the cookie of a new session on a response, and end the browser's old session.

        A person who is signed in already keeps the old one instead, which other tabs use.
        """
        old = self._token(scope)
        if SESSIONS.find(old) == SESSIONS.find(token):
            SESSIONS.end(token)
            return answer
        SESSIONS.end(old)
        answer.set_cookie(self._cookie, token, path="/", httponly=True, samesite="strict", secure=_is_https(scope))
        return answer

    def _form(
        self,
        following: str,
        problem: str = "",
        *,
        status: int = 200,
        headers: dict[str, str] | None = None,
        stranger: str = "",
    ) -> Response:
        """Return the sign-in page; `stranger` is the provider's id of a person who is not listed."""
        if self._takes_keys:
            way = _WITH_KEY.substitute(following=escape(following))
        elif self._openid is None:
            way = _WITH_LINK
        else:
            way = _with_openid(self._openid, following, stranger)
        alert = f'<p class="problem" role="alert">{escape(problem)}</p>' if problem else ""
        page = _PAGE.substitute(style=_STYLE, icon=_ICON, problem=alert, way=way)
        return HTMLResponse(page, status_code=status, headers={**_HEADERS, **(headers or {})})

    async def _holder(self, secret: str) -> Person | None:
        return await asyncio.to_thread(people.holder, self._settings, secret) if secret.isascii() and secret else None

    def _token(self, scope: Scope) -> str | None:
        return _cookie(scope, self._cookie)


class _Failures:
    """Recent failures by address and by account. The oldest are dropped first."""

    def __init__(self) -> None:
        self._by_address, self._by_account = _Counts(_OF_ADDRESS), _Counts(_OF_ACCOUNT)

    def too_many(self, address: str, account: str) -> bool:
        """Whether not even to look at a secret.

        While an account is attacked from many addresses, each has one try. An address that has not failed is always
        looked at, so that nobody is locked out by others.
        """
        own = self._by_address.recent(address)
        return own >= _OF_ADDRESS or (own > 0 and self._by_account.recent(account) >= _OF_ACCOUNT)

    def note(self, address: str, account: str) -> None:
        self._by_address.note(address)
        self._by_account.note(account)


class _Counts:
    """The times of the last events by name, at most `most` of each."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._times: OrderedDict[str, list[float]] = OrderedDict()

    def recent(self, name: str) -> int:
        return sum(time.monotonic() - at < _FORGIVEN_SECONDS for at in self._times.get(name, ()))

    def note(self, name: str) -> None:
        self._times[name] = [*self._times.pop(name, ())[1 - self._most :], time.monotonic()]
        while len(self._times) > _MOST_COUNTED:
            self._times.popitem(last=False)


def _account(secret: str) -> str:
    """Return whom a secret would sign in: the key that its first characters name, or the operator of the link."""
    named = _KEY.match(secret)
    return named[0] if named else "operator"


def link(settings: Settings, secret: str) -> str:
    """Return the operator's sign-in link, which is printed at the start."""
    host = settings.allowed_hosts[0] if settings.allowed_hosts and settings.near_host != settings.host else None
    base = f"http://{host}:{settings.port}" if host else f"http://{_bracketed(settings.near_host)}:{settings.port}"
    return f"{base}{PATH}?token={secret}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _unsigned(scope: Scope) -> Response:
    """Return the response for a browser without a session."""
    if not _is_navigation(scope):
        return PlainTextResponse("Sign in first.\n", status_code=401, headers={"Cache-Control": "no-store"})
    here = _here(scope)
    if _is_ours(scope):
        return RedirectResponse(f"{PATH}?next={quote(here, safe='')}", 303, {"Cache-Control": "no-store"})
    # A link on another site sends no `Strict` cookie, but a request by our own page for the same address does.
    return HTMLResponse(_onward(here), headers=_HEADERS)


def _is_navigation(scope: Scope) -> bool:
    """Whether a browser asks for a page."""
    return scope["method"] in ("GET", "HEAD") and "text/html" in Headers(scope=scope).get("accept", "")


def _is_ours(scope: Scope) -> bool:
    """Whether a person or one of our pages made the browser send a request, not another site."""
    return Headers(scope=scope).get("sec-fetch-site", "none") in ("none", "same-origin")


def _here(scope: Scope) -> str:
    query = scope["query_string"].decode("latin-1")
    return _within(scope["path"] + (f"?{query}" if query else ""))


def _onward(path: str) -> str:
    """Return a page that immediately loads a path of ours."""
    return f'<!doctype html><title>Traitbench</title><meta http-equiv="refresh" content="0;url={escape(path)}">'


def _with_openid(openid: "OpenId", following: str, stranger: str) -> str:
    from traitbench_app.process.openid import START

    host = escape(openid.provider.host)
    out = f'<p><a href="{people.OUT}">Sign out at {host}</a></p>\n' if openid.provider.sign_out else ""
    query = {"next": following, **({"choose": "1"} if stranger else {})}
    return _WITH_OPENID.substitute(
        start=escape(f"{START}?{urlencode(query)}"),
        action="Use another account" if stranger else f"Sign in with {host}",
        identity=f"<p>Your id at {host}: <code>sub:{escape(stranger)}</code></p>" if stranger else "",
        out=out,
    )


def _origin(scope: Scope) -> str:
    """Return the origin that the browser used. `TrustedRequests` has already checked the host."""
    return f"{'https' if _is_https(scope) else 'http'}://{Headers(scope=scope)['host']}"


def _cookie(scope: Scope, name: str) -> str | None:
    return _cookies(scope).get(name)


def _cookies(scope: Scope) -> dict[str, str]:
    """Return the cookies of a request as they are. Those of ours need no decoding, which takes long for some others."""
    pairs = (each.partition("=") for each in Headers(scope=scope).get("cookie", "").split(";", _MOST_COOKIES))
    return {name.strip(): value.strip() for name, _, value in pairs}


def _forget_attempt(scope: Scope, answer: Response, cookie: str) -> None:
    answer.delete_cookie(cookie, path=PATH, httponly=True, samesite="lax", secure=_is_https(scope))


def _within(path: str) -> str:
    """Return `path` if it is a path of this workbench, else the root."""
    readable = len(path) <= _LONGEST_PATH and path.isascii() and path.isprintable() and "\\" not in path
    return path if readable and path.startswith("/") and not path.startswith(("//", PATH)) else "/"


def _is_https(scope: Scope) -> bool:
    """Whether the browser used https, perhaps through a proxy.

    Browsers send `Sec-Fetch-Site` only over https or to loopback.
    """
    headers = Headers(scope=scope)
    host = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
    near = host == "localhost" or host.startswith(("127.", "[::1]"))
    return (
        scope.get("scheme") == "https"
        or headers.get("origin", "").startswith("https:")
        or ("sec-fetch-site" in headers and not near)
    )


def _fields(encoded: bytes) -> dict[str, list[str]]:
    """Return the fields of a query or form; none if it is too large."""
    if len(encoded) > _LARGEST_FORM or encoded.count(b"&") >= _MOST_FIELDS:
        return {}
    return parse_qs(encoded.decode("utf-8", "replace"))


def _one(fields: dict[str, list[str]], name: str) -> str:
    return fields.get(name, [""])[0]


async def read_form(receive: Receive) -> dict[str, list[str]]:
    """Return the fields of a form; none if it is too large."""
    body, more = b"", True
    while more and len(body) <= _LARGEST_FORM:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return _fields(body)

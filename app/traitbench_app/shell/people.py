"""Who is signed in to the workbench: browser sessions, each bound to one API key.

A person may do what the key may do. The service enforces this, because the pages call it with that key. It is the key
that the person entered or, with an OpenID provider or a proxy, one that is valid for the session
(`app/traitbench_app/process/sessions.py`). The operator signs in with the start-up link, uses the workbench's own key
and can open the Console. Sessions live in this process and end with it. Secrets from cookies and links are compared by
their hashes. The key itself stays in memory, because the pages need it.
"""

import hashlib
import hmac
import secrets
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

import streamlit as st

from traitbench.client import Traitbench
from traitbench.errors import Unauthenticated
from traitbench.settings import Settings, read_settings

OUT = "/sign-in/out"
"""The path that signs a browser out here and at the OpenID provider."""

_IDLE_SECONDS, _LONGEST_SECONDS = 12 * 3_600.0, 7 * 24 * 3_600.0
LONGEST = timedelta(seconds=_LONGEST_SECONDS)
_MOST, _MOST_OF_PERSON = 1_000, 100  # sessions


@dataclass(frozen=True)
class Person:
    """A person who uses the workbench; `key` is empty for the operator, who uses the workbench's own."""

    id: str
    name: str
    scope: str
    namespaces: tuple[str, ...] = ()
    operator: bool = False
    key: str = field(default="", repr=False)

    @property
    def role(self) -> str:
        """The person's permissions in a word."""
        return "operator" if self.operator else self.scope


OPERATOR = Person("operator", "Operator", "authoring", operator=True)


class SignedOut(Unauthenticated):
    """The browser has no session, or it has ended. Only the workbench raises this."""


def _always() -> bool:
    return True


def _nothing() -> None:
    pass


@dataclass
class _Session:
    person: Person
    began: float
    seen: float
    lasts: Callable[[], bool]
    ended: Callable[[], None]


class Sessions:
    """The sessions of this process, by the hash of the browser's cookie."""

    def __init__(self) -> None:
        self._by_digest: dict[str, _Session] = {}
        self._ended: OrderedDict[str, None] = OrderedDict()
        self._forget: list[Callable[[Person], None]] = []
        self.provider = ""
        """Host of the OpenID provider where people can sign out too; "" if there is none."""
        self._lock = threading.Lock()

    def when_ended(self, forget: Callable[[Person], None]) -> None:
        """From now on, call `forget` with the person of every session that ends."""
        self._forget.append(forget)

    def begin(
        self, person: Person, *, lasts: Callable[[], bool] = _always, ended: Callable[[], None] = _nothing
    ) -> str:
        """Sign a browser in, and return the value of its cookie.

        A person has a bounded number of sessions: beyond it, the one that was not used for longest ends. Where there
        are too many in all, one of the person who has most ends, so that nobody's sign-ins sign others out.
        Each use calls `lasts` to check that the person may still use the workbench. `ended` is called once, when the
        session ends. Both must be quick, because they block all other sessions.
        """
        token, now = secrets.token_urlsafe(32), time.monotonic()
        with self._lock:
            if len(self._of(person.id)) >= _MOST_OF_PERSON:
                self._end_oldest_of(person.id)
            if len(self._by_digest) >= _MOST:
                self._end_oldest_of(Counter(each.person.id for each in self._by_digest.values()).most_common(1)[0][0])
            self._by_digest[_digest(token)] = _Session(person, now, now, lasts, ended)
        return token

    def find(self, token: str | None) -> Person | None:
        """Return the person whose session a cookie names, or None if there is none or it has ended."""
        digest, now = _digest(token or ""), time.monotonic()
        with self._lock:
            session = self._by_digest.get(digest)
            if session is None:
                return None
            if _is_over(session, now):
                self._end(digest)
                return None
            session.seen = now
            return session.person

    def sweep(self) -> None:
        """End all sessions that have expired or whose person lost access."""
        now = time.monotonic()
        with self._lock:
            for digest in [each for each, session in self._by_digest.items() if _is_over(session, now)]:
                self._end(digest)

    def end_all(self) -> None:
        """Sign everyone out."""
        with self._lock:
            for digest in list(self._by_digest):
                self._end(digest)

    def end(self, token: str | None) -> None:
        """Sign a browser out."""
        with self._lock:
            self._end(_digest(token or ""))

    def has_ended(self, token: str | None) -> bool:
        """Whether a cookie belonged to a session, so that a signed-out tab can still load files to say so."""
        return _digest(token or "") in self._ended

    def _of(self, person_id: str) -> list[str]:
        return [digest for digest, session in self._by_digest.items() if session.person.id == person_id]

    def _end_oldest_of(self, person_id: str) -> None:
        self._end(min(self._of(person_id), key=lambda digest: self._by_digest[digest].seen))

    def _end(self, digest: str) -> None:
        session = self._by_digest.pop(digest, None)
        if session is not None:
            self._ended[digest] = None
            session.ended()
            for forget in self._forget:
                forget(session.person)
        while len(self._ended) > _MOST:
            self._ended.popitem(last=False)


def _is_over(session: _Session, now: float) -> bool:
    idle, old = now - session.seen > _IDLE_SECONDS, now - session.began > _LONGEST_SECONDS
    return idle or old or not session.lasts()


class StartLink:
    """The secret of the start-up link; only its hash is stored."""

    def __init__(self, secret: str) -> None:
        self._digest = _digest(secret)

    def opens(self, secret: str) -> bool:
        """Compare a secret in constant time; an empty one never matches."""
        return bool(secret) and hmac.compare_digest(self._digest, _digest(secret))


SESSIONS = Sessions()


def cookie_name(settings: Settings) -> str:
    """Return the cookie's name. It has the port, because a browser sends a host's cookies to all its ports."""
    return f"traitbench_session_{settings.port}"


def current() -> Person:
    """Return the person who uses this page; raise `SignedOut` if the browser is not signed in.

    If no sign-in is configured, everyone is the operator.
    """
    settings = read_settings()
    if settings.sign_in == "none":
        return OPERATOR
    person = SESSIONS.find(st.context.cookies.get(cookie_name(settings)))
    if person is None:
        raise SignedOut("You are signed out.")
    return person


def sign_out() -> None:
    """End the session of this browser; also used as a button's callback."""
    SESSIONS.end(st.context.cookies.get(cookie_name(read_settings())))


def holder(settings: Settings, secret: str) -> Person | None:
    """Ask the service who has an API key; return None if it does not accept the key."""
    with Traitbench(settings.base_url, secret, timeout=10.0) as client:
        try:
            me = client.me()
        except Unauthenticated:
            return None
    return Person(_digest(secret)[:16], me.name or f"{secret[:10]}…", me.scope, tuple(me.namespaces), key=secret)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()

"""Sign-in through an OpenID provider: the redirects, the list of people, and a key for each session.

`/sign-in/start` sends the browser to the provider, which sends it back to `/sign-in/callback`. In between, a cookie
binds the attempt to the browser that started it. An attempt is valid for ten minutes and only once.
"""

import asyncio
import hashlib
import hmac
import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from traitbench.errors import TraitbenchError
from traitbench.operations import console
from traitbench.settings import SettingInvalid, Settings
from traitbench_app.process.provider import Attempt, Identity, Provider, ProviderFailed, discover
from traitbench_app.process.roster import Roster, RosterDamaged, RosterEntry
from traitbench_app.shell import people
from traitbench_app.shell.people import SESSIONS, Person

START, CALLBACK = "/sign-in/start", "/sign-in/callback"

ATTEMPT_SECONDS = 600
_MOST_ATTEMPTS, _MOST_AT_ONCE = 10_000, 32
_SWEEP_SECONDS = 20.0

_log = logging.getLogger(__name__)


class NotSignedIn(Exception):
    """The sign-in was refused; the message says why. `stranger` is the id of a person who is not listed."""

    def __init__(self, message: str, *, status: int = 403, stranger: str = "") -> None:
        super().__init__(message)
        self.message, self.status, self.stranger = message, status, stranger


@dataclass(frozen=True)
class _PendingSignIn:
    attempt: Attempt
    browser: str
    following: str
    at: float


class OpenId:
    """Sign-ins through one provider, in the process that runs the service."""

    def __init__(self, settings: Settings) -> None:
        """Raise `SettingInvalid` if a setting is missing or the provider cannot be used."""
        if settings.api_url:
            raise SettingInvalid(
                "TRAITBENCH_SIGN_IN=oidc needs the service in the same process, but TRAITBENCH_API_URL names another "
                "one. Use TRAITBENCH_SIGN_IN=token here, or sign people in at the workbench of that service."
            )
        self.provider: Provider = discover(settings)
        self.cookie = f"traitbench_attempt_{settings.port}"
        self._base = (settings.oidc_redirect_url or "").rstrip("/")
        self._roster = Roster(settings.people_file)
        self._pending: OrderedDict[str, _PendingSignIn] = OrderedDict()
        self._at_once = 0
        self._keys = _SessionKeys()

    def begin(self, origin: str, following: str, *, choose: bool) -> tuple[str, str]:
        """Return the address to send the browser to, and the value of its cookie."""
        url, attempt = self.provider.begin(f"{self._base or origin}{CALLBACK}", choose=choose)
        browser, now = secrets.token_urlsafe(32), time.monotonic()
        self._pending[attempt.state] = _PendingSignIn(attempt, _digest(browser), following, now)
        while len(self._pending) > _MOST_ATTEMPTS or now - next(iter(self._pending.values())).at > ATTEMPT_SECONDS:
            self._pending.popitem(last=False)
        return url, browser

    async def finish(self, answer: Mapping[str, str], browser: str) -> tuple[str, str]:
        """Return the token of a new session and the path to continue with; raise `NotSignedIn` with the reason."""
        pending = self._pending.get(answer.get("state", ""))
        if pending is None or not hmac.compare_digest(pending.browser, _digest(browser)):
            raise NotSignedIn(self._unknown_attempt())
        del self._pending[pending.attempt.state]
        if time.monotonic() - pending.at > ATTEMPT_SECONDS:
            raise NotSignedIn(self._unknown_attempt())
        if self._at_once >= _MOST_AT_ONCE:
            raise NotSignedIn("Too many people are signing in. Try again in a moment.", status=503)
        self._at_once += 1
        try:
            identity = await self.provider.finish(pending.attempt, answer)
        except ProviderFailed as error:
            raise NotSignedIn(str(error)) from None
        finally:
            self._at_once -= 1
        name, entry = self._entry(identity)
        return await asyncio.to_thread(self._session, identity, name, entry), pending.following

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Clean up sessions while the process serves, and end them with it."""
        self._keys.start()
        try:
            yield
        finally:
            await asyncio.to_thread(self._keys.stop)
            await self.provider.close()

    def _entry(self, identity: Identity) -> tuple[str, RosterEntry]:
        try:
            match = self._roster.find(identity.subject, identity.address)
        except RosterDamaged:
            raise NotSignedIn(
                "This workbench cannot read its list of people, so sign-in does not work. Tell the operator.",
                status=503,
            ) from None
        if match is not None:
            return match
        _log.warning("the OpenID provider signed in a person who is not in %s", self._roster.file)
        if identity.unverified:
            raise NotSignedIn(
                f"{self.provider.host} has not verified the address {identity.unverified}, so it cannot be used here. "
                "Verify it there, or ask the operator to add your id to people.toml.",
                stranger=identity.subject,
            )
        raise NotSignedIn(
            f"{identity.address or identity.name or 'Your account'} may not use this workbench. "
            "Ask the operator to add you to people.toml.",
            stranger=identity.subject,
        )

    def _session(self, identity: Identity, name: str, entry: RosterEntry) -> str:
        """Start a session with its own key, and return the token."""
        shown = identity.address or identity.name or identity.subject[:100]
        try:
            issued = console.issue_for_session(
                scope=entry.scope, namespaces=entry.namespaces, name=shown, longest=people.LONGEST
            )
        except TraitbenchError:
            raise NotSignedIn(
                "The service does not answer, so sign-in does not work. Try again in a moment.", status=503
            ) from None
        person = Person(
            _digest(f"{self.provider.issuer}\0{identity.subject}")[:16],
            shown,
            entry.scope,
            entry.namespaces,
            operator=entry.operator,
            key=issued.secret,
        )
        return SESSIONS.begin(
            person,
            lasts=lambda: self._roster.still_has(name, entry),
            ended=lambda: self._keys.end(issued.key.id),
        )

    def _unknown_attempt(self) -> str:
        where = f" Open this workbench at {self._base}." if self._base else ""
        return f"This sign-in has expired, was already used, or was started in another browser. Start again.{where}"


class _SessionKeys:
    """Ends expired sessions and deletes their keys; retries later if the database fails."""

    def __init__(self) -> None:
        self._ended: set[str] = set()
        self._lock = threading.Lock()
        self._work = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="session keys", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self, key_id: str) -> None:
        """Delete a key soon."""
        with self._lock:
            self._ended.add(key_id)
        self._work.set()

    def stop(self) -> None:
        """End all sessions, and delete their keys before the process ends."""
        SESSIONS.end_all()
        self._stopping = True
        self._work.set()
        self._thread.join()
        self._delete()  # keys of sessions that ended after the thread's last check

    def _run(self) -> None:
        while not self._stopping:
            self._work.wait(_SWEEP_SECONDS)
            self._work.clear()
            SESSIONS.sweep()
            self._delete()

    def _delete(self) -> None:
        with self._lock:
            ended = list(self._ended)
        for key_id in ended:
            try:
                console.remove(key_id)
            except Exception as error:  # the thread must survive and retry
                _log.warning("the key of an ended session could not be deleted yet: %s", type(error).__name__)
                return
            with self._lock:
                self._ended.discard(key_id)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()

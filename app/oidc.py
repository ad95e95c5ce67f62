"""Signing in through an OpenID provider: there and back, who may come in, and a key for as long as the session lasts.

`/sign-in/start` sends the browser to the provider, which sends it back to `/sign-in/callback`. In between, a cookie
for ten minutes binds the attempt to the browser that began it; each attempt counts once.
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

from traitbench.app import console, people
from traitbench.app.people import SESSIONS, Person
from traitbench.app.provider import Attempt, Identity, Provider, ProviderFailed, discover
from traitbench.app.roster import Entry, Roster, RosterDamaged
from traitbench.errors import TraitbenchError
from traitbench.settings import SettingInvalid, Settings

START, CALLBACK = "/sign-in/start", "/sign-in/callback"

ATTEMPT_SECONDS = 600
_MOST_ATTEMPTS, _MOST_AT_ONCE = 10_000, 32
_SWEEP_SECONDS = 20.0

_log = logging.getLogger(__name__)


class NotSignedIn(Exception):
    """A person does not come in; the message says why. `stranger` is somebody whom the provider knows and we do not."""

    def __init__(self, message: str, *, status: int = 403, stranger: str = "") -> None:
        super().__init__(message)
        self.message, self.status, self.stranger = message, status, stranger


@dataclass(frozen=True)
class _Begun:
    attempt: Attempt
    browser: str
    following: str
    at: float


class OpenId:
    """Sign-ins through one provider, in the process that runs the service."""

    def __init__(self, settings: Settings) -> None:
        """Raise `SettingInvalid` when a setting is missing or the provider cannot be used."""
        if settings.api_url:
            raise SettingInvalid(
                "TRAITBENCH_SIGN_IN=oidc needs the service in the same process, but TRAITBENCH_API_URL names another "
                "one. Use TRAITBENCH_SIGN_IN=token here, or sign people in at the workbench of that service."
            )
        self.provider: Provider = discover(settings)
        self.cookie = f"traitbench_attempt_{settings.port}"
        self._base = (settings.oidc_redirect_url or "").rstrip("/")
        self._roster = Roster(settings.people_file)
        self._begun: OrderedDict[str, _Begun] = OrderedDict()
        self._at_once = 0
        self._keys = _SessionKeys()

    def begin(self, origin: str, following: str, *, choose: bool) -> tuple[str, str]:
        """Where to send a browser that came to `origin`, and what its cookie is to hold."""
        url, attempt = self.provider.begin(f"{self._base or origin}{CALLBACK}", choose=choose)
        browser, now = secrets.token_urlsafe(32), time.monotonic()
        self._begun[attempt.state] = _Begun(attempt, _digest(browser), following, now)
        while len(self._begun) > _MOST_ATTEMPTS or now - next(iter(self._begun.values())).at > ATTEMPT_SECONDS:
            self._begun.popitem(last=False)
        return url, browser

    async def finish(self, answer: Mapping[str, str], browser: str) -> tuple[str, str]:
        """The token of a new session, and the path to go on with; raise `NotSignedIn` with the reason."""
        begun = self._begun.get(answer.get("state", ""))
        if begun is None or not hmac.compare_digest(begun.browser, _digest(browser)):
            raise NotSignedIn(self._unknown_attempt())
        del self._begun[begun.attempt.state]
        if time.monotonic() - begun.at > ATTEMPT_SECONDS:
            raise NotSignedIn(self._unknown_attempt())
        if self._at_once >= _MOST_AT_ONCE:
            raise NotSignedIn("Too many people are signing in at this moment. Try again in a moment.", status=503)
        self._at_once += 1
        try:
            identity = await self.provider.finish(begun.attempt, answer)
        except ProviderFailed as error:
            raise NotSignedIn(str(error)) from None
        finally:
            self._at_once -= 1
        name, entry = self._entry(identity)
        return await asyncio.to_thread(self._session, identity, name, entry), begun.following

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Look after the sessions while the process serves, and end them with it."""
        self._keys.start()
        try:
            yield
        finally:
            await asyncio.to_thread(self._keys.stop)
            await self.provider.close()

    def _entry(self, identity: Identity) -> tuple[str, Entry]:
        try:
            found = self._roster.find(identity.subject, identity.address)
        except RosterDamaged:
            raise NotSignedIn(
                "The list of people of this workbench cannot be read, so nobody can sign in. Tell its operator.",
                status=503,
            ) from None
        if found is not None:
            return found
        _log.warning("the OpenID provider signed in somebody who is not in %s", self._roster.file)
        if identity.unverified:
            raise NotSignedIn(
                f"{self.provider.host} has not verified the address {identity.unverified}, so it cannot be used here. "
                "Verify it there, or ask the operator of this workbench to add your id to people.toml.",
                stranger=identity.subject,
            )
        raise NotSignedIn(
            f"{identity.address or identity.name or 'Your account'} may not use this workbench. "
            "Ask its operator to add you to people.toml.",
            stranger=identity.subject,
        )

    def _session(self, identity: Identity, name: str, entry: Entry) -> str:
        """A session with a key of its own."""
        shown = identity.address or identity.name or identity.subject[:100]
        try:
            issued = console.issue_for_session(
                scope=entry.scope, namespaces=entry.namespaces, name=shown, longest=people.LONGEST
            )
        except TraitbenchError:
            raise NotSignedIn(
                "The service does not answer, so nobody can sign in. Try again in a moment.", status=503
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
        return f"This sign-in has expired, was used already, or began in another browser. Start again.{where}"


class _SessionKeys:
    """Ends the sessions that are over, and deletes their keys; what the database refuses now is tried again later."""

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
        self._delete()  # what ended after the thread had looked for the last time

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
            except Exception as error:  # the thread must live on, and tries again
                _log.warning("the key of a session that has ended could not be deleted yet: %s", type(error).__name__)
                return
            with self._lock:
                self._ended.discard(key_id)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()

"""Sessions of the people whom a provider or a proxy has signed in: who may come in, and a key for each person.

The list of people (`app/traitbench_app/process/roster.py`) says what each of them may do. All sessions of a person have
one key, which is deleted when the last of them ends.
"""

import asyncio
import hashlib
import logging
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from traitbench.errors import TraitbenchError
from traitbench.operations import console, keys
from traitbench.settings import SettingInvalid, Settings
from traitbench_app.process.roster import Roster, RosterDamaged, RosterEntry
from traitbench_app.shell import people
from traitbench_app.shell.people import SESSIONS, Person

_SWEEP_SECONDS = 20.0
_SHARED_SECONDS = 24 * 3_600.0  # how long further sessions of a person get the same key

_log = logging.getLogger(__name__)


class NotSignedIn(Exception):
    """The sign-in was refused; the message says why. `stranger` is the id of a person who is not listed."""

    def __init__(self, message: str, *, status: int = 403, stranger: str = "") -> None:
        super().__init__(message)
        self.message, self.status, self.stranger = message, status, stranger


@dataclass(frozen=True)
class Identity:
    """A person according to the provider or the proxy, `host`, whose ids are unique within `issuer`.

    `address` is a verified e-mail address, `unverified` one that is not.
    """

    host: str
    issuer: str
    subject: str
    name: str
    address: str | None
    unverified: str | None

    @property
    def id(self) -> str:
        """The id of this person in the workbench."""
        return digest(f"{self.issuer}\0{self.subject}")[:16]


class ListedPeople:
    """The people who may sign in, and their sessions, in the process that runs the service."""

    def __init__(self, settings: Settings) -> None:
        """Raise `SettingInvalid` if the service, which issues the keys, is in another process."""
        if settings.api_url:
            raise SettingInvalid(
                f"TRAITBENCH_SIGN_IN={settings.sign_in} needs the service in the same process, but TRAITBENCH_API_URL "
                "names another one. Use TRAITBENCH_SIGN_IN=token here, or sign people in at the workbench of that "
                "service."
            )
        self._roster = Roster(settings.people_file)
        self._keys = _SessionKeys()

    def begin(self, identity: Identity) -> str:
        """Start a session and return the token; raise `NotSignedIn` with the reason."""
        name, entry = self._entry(identity)
        shown = identity.address or identity.name or identity.subject[:100]
        try:
            key = self._keys.take(identity.id, entry, shown)
        except TraitbenchError:
            raise NotSignedIn(
                "The service does not answer, so sign-in does not work. Try again in a moment.", status=503
            ) from None
        person = Person(
            identity.id,
            shown,
            entry.scope,
            entry.namespaces,
            operator=entry.operator,
            key=key.issued.secret,
        )
        return SESSIONS.begin(
            person,
            lasts=lambda: self._roster.still_has(name, entry),
            ended=lambda: self._keys.leave(key),
        )

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
        _log.warning("%s signed in a person who is not in %s", identity.host, self._roster.file)
        if identity.unverified:
            raise NotSignedIn(
                f"{identity.host} has not verified the address {identity.unverified}, so it cannot be used here. "
                "Verify it there, or ask the operator to add your id to people.toml.",
                stranger=identity.subject,
            )
        raise NotSignedIn(
            f"{identity.address or identity.name or 'Your account'} may not use this workbench. "
            "Ask the operator to add you to people.toml.",
            stranger=identity.subject,
        )

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Clean up sessions while the process serves, and end them with it."""
        self._keys.start()
        try:
            yield
        finally:
            await asyncio.to_thread(self._keys.stop)


@dataclass(eq=False)
class _SharedKey:
    """The key of a person who may do what `entry` says; `sessions` is how many have it, `since` when it was issued."""

    entry: RosterEntry
    issued: keys.Issued
    since: float
    sessions: int = 1


class _SessionKeys:
    """The keys of people who are signed in. Ends expired sessions and deletes their keys; retries if that fails."""

    def __init__(self) -> None:
        self._held: dict[str, _SharedKey] = {}
        self._ended: set[str] = set()
        self._lock = threading.Lock()
        self._work = threading.Event()
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="session keys", daemon=True)

    def take(self, person_id: str, entry: RosterEntry, name: str) -> _SharedKey:
        """Return the key of a person for one more session; raise the errors of the service."""
        with self._lock:
            held = self._held.get(person_id)
            if held and held.entry == entry and time.monotonic() - held.since < _SHARED_SECONDS:
                held.sessions += 1
                return held
        longest = people.LONGEST + timedelta(seconds=_SHARED_SECONDS)
        issued = keys.create_for_session(
            console.engine(),
            person=person_id,
            scope=entry.scope,
            namespaces=entry.namespaces,
            name=name,
            longest=longest,
        )
        with self._lock:
            # Sessions that began meanwhile have a key of their own, which ends with them.
            made = self._held[person_id] = _SharedKey(entry, issued, time.monotonic())
        return made

    def leave(self, key: _SharedKey) -> None:
        """End a session of a key; the last one deletes the key soon."""
        with self._lock:
            key.sessions -= 1
            if key.sessions:
                return
            self._held = {person: held for person, held in self._held.items() if held is not key}
            self._ended.add(key.issued.key.id)
        self._work.set()

    def start(self) -> None:
        self._thread.start()

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
                keys.remove(console.engine(), key_id)
            except Exception as error:  # the thread must survive and retry
                _log.warning("the key of an ended session could not be deleted yet: %s", type(error).__name__)
                return
            with self._lock:
                self._ended.discard(key_id)


def digest(secret: str) -> str:
    """Return the SHA-256 of a secret in hex."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()

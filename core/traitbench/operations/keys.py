"""API keys: issued with a scope and namespaces, shown once, stored as a hash, revocable.

A secret is a prefix that names its scope, 256 random bits and a checksum. So mistyped and leaked keys are recognised
without a database query. The response is the same whatever is wrong with a secret.
"""

import hashlib
import hmac
import os
import re
import secrets
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError
from ulid import ULID

from traitbench.contract import operations
from traitbench.contract.envelope import Me
from traitbench.contract.texts import why_no_text
from traitbench.errors import LocalError, Unauthenticated, ValidationFailed
from traitbench.names import NAMESPACE
from traitbench.operations import access, rules
from traitbench.operations.access import Caller
from traitbench.store import keys
from traitbench.store.database import reading, writing
from traitbench.store.errors import StoreUnavailable
from traitbench.store.keys import ApiKey as ApiKey
from traitbench.store.keys import Scope as Scope
from traitbench.store.rows import ListingRows, readable

if TYPE_CHECKING:
    from traitbench.operations.context import Context

FIRST_NAMESPACES = ("local", "demo")

BEARER = "Authorization: Bearer <API_KEY>"
_PREFIXES: dict[Scope, str] = {"scoring": "tbs", "authoring": "tba"}
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET = re.compile(r"(tb[as]_[0-9A-Za-z]{43})([0-9A-Za-z]{6})")
_SHOWN_CHARACTERS = 10
_RECORD_EVERY = timedelta(minutes=1)
_MOST_VALID = 10_000
_SESSION_PREFIX = "session_"


class KeyNotFound(LocalError):
    """No key has this id."""


@dataclass(frozen=True)
class Issued:
    """A new key and its secret, which cannot be shown again."""

    key: ApiKey
    secret: str


def create(
    engine: Engine,
    *,
    scope: Scope,
    namespaces: Sequence[str],
    name: str = "",
    id_prefix: str = "key_",
    person: str | None = None,
) -> Issued:
    """Issue a key. Whoever has it is one person, unless it is the key of a session of `person`."""
    _check(scope, namespaces, name)
    secret = _new_secret(scope)
    key = ApiKey(
        id=f"{id_prefix}{ULID()}",
        name=name,
        prefix=secret[:_SHOWN_CHARACTERS],
        scope=scope,
        namespaces=tuple(dict.fromkeys(namespaces)),
        created_at=rules.now(),
        last_used_at=None,
        revoked_at=None,
        person=person,
    )
    with writing(engine) as connection:
        keys.add(connection, key, digest=_digest(secret))
    return Issued(key, secret)


def create_for_session(
    engine: Engine, *, person: str, scope: Scope, namespaces: Sequence[str], name: str, longest: timedelta
) -> Issued:
    """Issue a key for a session of a person, which ends with `remove`; the next one has another key.

    Keys left behind by a crash are deleted here once they are older than the `longest` session.
    """
    with writing(engine) as connection:
        keys.remove_older(connection, _SESSION_PREFIX, before=rules.now() - longest)
    return create(engine, scope=scope, namespaces=namespaces, name=name, id_prefix=_SESSION_PREFIX, person=person)


def of_session(key: ApiKey) -> bool:
    """Whether a key belongs to a person's session."""
    return key.id.startswith(_SESSION_PREFIX)


def remove(engine: Engine, key_id: str) -> None:
    """Delete a key, which revokes it at once."""
    with writing(engine) as connection:
        keys.remove(connection, key_id)


def every(engine: Engine) -> ListingRows[ApiKey]:
    """All keys, oldest first, including revoked ones. An unreadable one grants no access and can be revoked."""
    with reading(engine) as connection:
        return keys.every(connection)


def revoke(engine: Engine, key_id: str) -> None:
    """Revoke a key at once; raise `KeyNotFound` if no key has this id."""
    with writing(engine) as connection:
        if not keys.revoke(connection, key_id, now=rules.now()):
            raise KeyNotFound(f"There is no key {key_id}.")


def caller(context: "Context | Engine", secret: str | None, *, sent_as: str = BEARER) -> Caller:
    """The caller behind a secret; raise `Unauthenticated`, which says how to send one, if it is unknown or revoked."""
    engine = context if isinstance(context, Engine) else context.engine
    key = _key(context, secret)
    _valid.note(secret or "", key is not None)
    if key is None:
        raise Unauthenticated(f"This needs a valid API key: {sent_as}.", headers={"WWW-Authenticate": "Bearer"})
    _uses.record(engine, key.id)
    return Caller(key.id, key.scope, frozenset(key.namespaces), key.name, key.person or key.id)


def me(caller: Caller) -> Me:
    """Who a caller is, and what its key may do."""
    access.check_scope(caller, operations.ME)
    return Me(
        key_id=caller.key_id,
        person=caller.person,
        name=caller.name,
        scope=caller.scope,
        namespaces=sorted(caller.namespaces),
    )


def was_valid(secret: str) -> bool:
    """Whether a secret was valid when it was last used here, without a query. It may be revoked by now."""
    return _valid.has(secret)


def first_key(context: "Context") -> None:
    """Write a new key for the workbench to its file, unless the file holds a valid one."""
    file = context.settings.first_key_file
    if file.exists() and _key(context, file.read_text().strip()) is not None:
        return
    issued = create(context.engine, scope="authoring", namespaces=FIRST_NAMESPACES, name="workbench")
    new = file.with_suffix(".new")
    # A new file, because an existing one would keep its rights.
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write(issued.secret + "\n")
    new.replace(file)


def _key(context: "Context | Engine", secret: str | None) -> ApiKey | None:
    match = _SECRET.fullmatch(secret or "")
    if not match or not hmac.compare_digest(_checksum(match[1]), match[2]):
        return None
    digest = _digest(match[0])
    if isinstance(context, Engine):
        stored = _stored(context, digest)
    else:
        engine = context.engine
        stored = context.cached(("key", digest), lambda: _stored(engine, digest))
    if stored is None or not hmac.compare_digest(stored[1], digest) or stored[0].revoked_at is not None:
        return None
    return stored[0]


def _stored(engine: Engine, digest: str) -> tuple[ApiKey, str] | None:
    with reading(engine) as connection:
        return readable(lambda: keys.by_digest(connection, digest))


def _check(scope: str, namespaces: Sequence[str], name: str) -> None:
    errors = []
    if scope not in _PREFIXES:
        errors.append(rules.problem(["scope"], "unknown_scope", "the scope must be scoring or authoring"))
    if not namespaces:
        errors.append(rules.problem(["namespaces"], "too_few", "a key needs at least one namespace"))
    for index, namespace in enumerate(namespaces):
        if not NAMESPACE.fullmatch(namespace):
            message = "a namespace is 1-64 characters of a-z, 0-9, - and _, starting with a letter or digit"
            errors.append(rules.problem(["namespaces", index], "not_a_namespace", message))
    if "\x00" in name or why_no_text(name):
        errors.append(rules.problem(["name"], "not_a_text", "the name has U+0000 or a lone surrogate; type it again"))
    if errors:
        messages = "; ".join(dict.fromkeys(error["msg"] for error in errors))
        raise ValidationFailed(f"The key was not issued: {messages}.", details={"errors": errors})


def _new_secret(scope: Scope) -> str:
    # 43 digits to the base 62 are the fewest that hold 256 bits.
    body = f"{_PREFIXES[scope]}_{_base62(secrets.randbits(256), 43)}"
    return body + _checksum(body)


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode()), 6)


def _base62(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        number, digit = divmod(number, 62)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class _ValidLately:
    """The digests of secrets that were valid when they were last used."""

    def __init__(self) -> None:
        self._digests: OrderedDict[str, None] = OrderedDict()
        self._lock = Lock()

    def has(self, secret: str) -> bool:
        return _digest(secret) in self._digests

    def note(self, secret: str, is_valid: bool) -> None:
        digest = _digest(secret)
        with self._lock:
            self._digests.pop(digest, None)
            if is_valid:
                self._digests[digest] = None
            if len(self._digests) > _MOST_VALID:
                self._digests.popitem(last=False)


class _Uses:
    """Records when a key was last used: at most once a minute, and without delaying the request."""

    def __init__(self) -> None:
        self._recorded: dict[str, float] = {}
        self._lock = Lock()
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="key-uses")

    def record(self, engine: Engine, key_id: str) -> None:
        now = monotonic()
        with self._lock:
            if now - self._recorded.get(key_id, -1e9) < _RECORD_EVERY.total_seconds():
                return
            self._recorded[key_id] = now
        # A write per request would make every read wait for SQLite's write lock. So `last_used_at` may be a minute
        # late, and is lost if the write fails.
        self._writer.submit(self._write, engine, key_id)

    def _write(self, engine: Engine, key_id: str) -> None:
        # Not worth a failure: by now the database may be gone, or closed.
        with suppress(StoreUnavailable, SQLAlchemyError), writing(engine) as connection:
            keys.used(connection, key_id, now=rules.now(), every=_RECORD_EVERY)


_uses = _Uses()
_valid = _ValidLately()

"""Requests with an idempotency key: a repeat gets the answer of the first one and has no further effect.

The answer is stored in the transaction of the effect (`store.database.as_one`): whatever kills the service, there are
both or neither. A request that fails, or that writes nothing, leaves no answer, so a repeat of it is carried out. Key
and body are stored as hashes, keyed with the API key, which is nowhere in the store: nobody can find out from the store
which text was sent. An answer may be as private as samples, so a purge deletes it with them.

See core/docs/contract.md, "Repeated requests".
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from sqlalchemy import Connection, Engine

from traitbench.errors import IdempotencyConflict
from traitbench.operations import rules
from traitbench.store import answers
from traitbench.store.answers import StoredAnswer
from traitbench.store.database import as_one, reading, writing

ANSWERED_FOR = timedelta(days=1)
"""How long the answer of a key is stored."""


@dataclass(frozen=True)
class KeyedRequest:
    """A request with an idempotency key: `key` and `request` are keyed hashes of who sent which key where, and what.

    `request_id` is the id of the request itself.
    """

    key: str
    request: str
    request_id: str


@dataclass(frozen=True)
class SentAnswer:
    """An answer as it is sent, and the handle of the model that it is about."""

    status: int
    media_type: str
    content: bytes
    handle: str | None


class _AnsweredMeanwhile(Exception):
    """Another request with the same key was carried out while this one waited for it."""


def once(engine: Engine, keyed: KeyedRequest, carry_out: Callable[[], SentAnswer]) -> SentAnswer:
    """Carry out a request or, if that was done before, return the answer from then, with the id of this request.

    Raise `IdempotencyConflict` if the key was sent with another request, and `StoreUnavailable` if the first one takes
    too long.
    """
    if (before := _before(engine, keyed)) is not None:
        return before
    try:
        with as_one(partial(_begin, keyed)) as one:
            answer = carry_out()
            if one.connection is not None:
                _store(one.connection, keyed, answer)
            return answer
    except _AnsweredMeanwhile:
        return once(engine, keyed, carry_out)


def sweep(engine: Engine) -> None:
    """Delete the answers that are no longer given."""
    with writing(engine) as connection:
        answers.expire(connection, rules.now() - ANSWERED_FOR)


def _before(engine: Engine, keyed: KeyedRequest) -> SentAnswer | None:
    with reading(engine) as connection:
        stored = _find(connection, keyed)
    if stored is None:
        return None
    if stored.request != keyed.request:
        raise IdempotencyConflict(
            "This Idempotency-Key was sent before, with another body, query or Accept. Nothing was changed. Send a new"
            " key with a new request, and the same key only with the same request.",
            details={"header": "Idempotency-Key"},
        )
    content = stored.content.replace(stored.request_id.encode(), keyed.request_id.encode())
    return SentAnswer(stored.status, stored.media_type, content, None)


def _begin(keyed: KeyedRequest, connection: Connection) -> None:
    answers.lock(connection, keyed.key)
    if _find(connection, keyed) is not None:
        raise _AnsweredMeanwhile


def _find(connection: Connection, keyed: KeyedRequest) -> StoredAnswer | None:
    return answers.find(connection, keyed.key, since=rules.now() - ANSWERED_FOR)


def _store(connection: Connection, keyed: KeyedRequest, answer: SentAnswer) -> None:
    stored = StoredAnswer(keyed.request, keyed.request_id, answer.status, answer.media_type, answer.content)
    answers.put(connection, keyed.key, stored, handle=answer.handle, now=rules.now())

"""Requests with an idempotency key: one transaction for effect and answer, whatever happens beside or in between."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import pytest

from tests.contexts import AUTHOR, ON_BOTH, new_handle
from tests.patience import PATIENCE_S
from traitbench.contract.models import ModelCreate
from traitbench.errors import ModelNotFound
from traitbench.operations import models, repeats
from traitbench.operations.context import Context
from traitbench.operations.repeats import KeyedRequest, SentAnswer
from traitbench.store import answers
from traitbench.store.database import after_commit, writing
from traitbench.store.errors import StoreUnavailable


def keyed(handle: str, *, request_id: str = "req_1") -> KeyedRequest:
    return KeyedRequest(sha256(handle.encode()).hexdigest(), "what was sent", request_id)


def creation(context: Context, handle: str, then: Callable[[], object] = lambda: None) -> Callable[[], SentAnswer]:
    def carry_out() -> SentAnswer:
        models.create(context, AUTHOR, ModelCreate(handle=handle))
        then()
        return SentAnswer(201, "text/plain", f"{handle} by req_1".encode(), handle)

    return carry_out


def there(context: Context, handle: str) -> bool:
    try:
        return models.get(context, AUTHOR, handle).handle == handle
    except ModelNotFound:
        return False


def fail() -> None:
    raise ZeroDivisionError


class Slow:
    """A request that has written and does not end before it may."""

    def __init__(self, context: Context, handle: str) -> None:
        self._has_written, self.may_end = threading.Event(), threading.Event()
        self._threads = ThreadPoolExecutor(1)
        self.answer = self._threads.submit(
            repeats.once, context.engine, keyed(handle), creation(context, handle, self._wait)
        )
        assert self._has_written.wait(PATIENCE_S)

    def _wait(self) -> None:
        self._has_written.set()
        assert self.may_end.wait(PATIENCE_S)


@ON_BOTH
def test_two_at_once_are_carried_out_once(context: Context) -> None:
    """The second waits until the first has ended."""
    handle = new_handle()
    first = Slow(context, handle)
    with ThreadPoolExecutor(1) as threads:
        other = keyed(handle, request_id="req_2")
        second = threads.submit(repeats.once, context.engine, other, creation(context, handle))
        with pytest.raises(TimeoutError):
            second.result(0.3)
        assert not there(context, handle), "what the first has written is not committed"
        first.may_end.set()
        assert first.answer.result(PATIENCE_S).content.decode() == f"{handle} by req_1"
        assert second.result(PATIENCE_S).content.decode() == f"{handle} by req_2"


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_what_waits_too_long_is_told_to_come_back(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """On SQLite every transaction waits for the lock in the same way: see `store/test_errors`."""
    handle = new_handle()
    first = Slow(context, handle)
    monkeypatch.setattr(answers, "_LOCK_MS", 200)
    with pytest.raises(StoreUnavailable) as caught:
        repeats.once(context.engine, keyed(handle), creation(context, handle))
    assert (caught.value.status, caught.value.headers["Retry-After"]) == (503, "2")
    first.may_end.set()
    assert first.answer.result(PATIENCE_S).status == 201


@ON_BOTH
def test_a_request_that_fails_after_its_effect_leaves_neither_effect_nor_answer(context: Context) -> None:
    handle, done = new_handle(), list[str]()

    def remember() -> None:
        after_commit(lambda: done.append("committed"))

    def remember_and_fail() -> None:
        remember()
        fail()

    with pytest.raises(ZeroDivisionError):
        repeats.once(context.engine, keyed(handle), creation(context, handle, remember_and_fail))
    assert (there(context, handle), done) == (False, [])
    repeats.once(context.engine, keyed(handle), creation(context, handle, remember))
    assert (there(context, handle), done) == (True, ["committed"])


def test_a_failure_that_an_operation_swallows_commits_nothing(context: Context) -> None:
    handle = new_handle()

    def swallow() -> None:
        with pytest.raises(ZeroDivisionError), writing(context.engine):
            fail()

    with pytest.raises(RuntimeError, match="rolled back"):
        repeats.once(context.engine, keyed(handle), creation(context, handle, swallow))
    assert not there(context, handle)


def test_a_request_reads_what_it_has_written_and_others_do_not(context: Context) -> None:
    handle, seen = new_handle(), list[bool]()

    def look() -> None:
        with ThreadPoolExecutor(1) as threads:
            seen.extend((there(context, handle), threads.submit(there, context, handle).result()))
        fail()

    with pytest.raises(ZeroDivisionError):
        repeats.once(context.engine, keyed(handle), creation(context, handle, look))
    assert seen == [True, False]
    assert not there(context, handle), "nothing of it is cached"

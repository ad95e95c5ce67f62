"""Admission control: limits for each kind of work, and 503 beyond them instead of an endless queue.

Each kind has slots for active requests, and bytes for bodies in memory from before the first byte is read until the
answer is sent. A request without a slot or memory waits in a queue of limited length and time. Kinds share nothing, so
a plain score never waits behind explanations, batches or imports.

Everything here runs on the event loop and needs no lock. `snapshot` may be read from any thread.
"""

import asyncio
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from starlette.requests import Request
from starlette.types import Scope

from traitbench.contract.operation import Work
from traitbench.encoders.scheduler import processors
from traitbench.errors import Unavailable
from traitbench.operations.context import Context
from traitbench.settings import Settings

MEBIBYTE = 2**20
LONG = 4 * 1024
"""Bytes. A score with a larger body is of the kind `long`: encoding it takes from 0.1 s to some seconds, and a score
that takes milliseconds must not wait behind it."""

_SCOPE_KEY = "traitbench.claim"
_WORDS: Mapping[Work, str] = {
    "score": "scores",
    "long": "scores of long texts",
    "explain": "explanations",
    "batch": "batches",
    "write": "changes",
    "transfer": "imports and exports",
    "read": "reads",
}


@dataclass(frozen=True)
class Bound:
    """The limits of a kind: active requests, requests that wait, bytes of bodies, and seconds to wait."""

    slots: int
    waiting: int
    bytes: int
    seconds: float


def bounds_for(settings: Settings, *, cores: int | None = None) -> Mapping[Work, Bound]:
    """Return the limits of each kind. Slots depend on the processors, bytes on the largest body that is allowed.

    The body of an explanation counts as that of a score. An explanation encodes hundreds of texts on all processors.
    """
    cores = processors() if cores is None else cores
    body, bundle = settings.max_body_bytes, settings.max_import_bytes
    return {
        # In one queue for everything, explanations delayed every score, and four long texts took gigabytes. The price
        # of slots by kind: a burst of one kind gets 503 while the slots of others are free.
        "score": Bound(slots=32, waiting=128, bytes=16 * MEBIBYTE, seconds=2),
        "long": Bound(slots=cores, waiting=8 * cores, bytes=max(24 * MEBIBYTE, body), seconds=5),
        "explain": Bound(slots=max(1, cores // 2), waiting=8 * cores, bytes=0, seconds=5),
        "batch": Bound(slots=8 * cores, waiting=16 * cores, bytes=max(32 * MEBIBYTE, body), seconds=5),
        "write": Bound(slots=8, waiting=32, bytes=max(32 * MEBIBYTE, body), seconds=5),
        "transfer": Bound(slots=1, waiting=2, bytes=max(bundle, body), seconds=5),
        "read": Bound(slots=8, waiting=128, bytes=0, seconds=5),
    }


class ResourceShare:
    """A limited amount of one resource, and the queue of requests that wait for it."""

    def __init__(self, most: int, waiting: int) -> None:
        self.most, self.most_waiting = most, waiting
        self.taken = 0
        self._line: deque[tuple[int, asyncio.Future[bool]]] = deque()

    @property
    def waiting(self) -> int:
        """The number of requests in the queue."""
        return len(self._line)

    def take_now(self, amount: int) -> bool:
        """Take the amount and return True, or return False if it is not free or others wait for it."""
        if self._line or self.taken + amount > self.most:
            return False
        self.taken += amount
        return True

    async def take(self, amount: int, seconds: float) -> bool:
        """Take the amount now or within `seconds`; return False if the queue is full or the time is up."""
        if self.take_now(amount):
            return True
        if not seconds or len(self._line) >= self.most_waiting or amount > self.most:
            return False
        loop = asyncio.get_running_loop()
        slot: asyncio.Future[bool] = loop.create_future()
        self._line.append((amount, slot))
        clock = loop.call_later(seconds, _late, slot)
        try:
            return await slot
        except asyncio.CancelledError:
            # It was granted in the moment of the cancellation, so nobody else gives it back.
            if slot.done() and not slot.cancelled() and slot.result():
                self.give(amount)
            raise
        finally:
            clock.cancel()
            if (amount, slot) in self._line:
                self._line.remove((amount, slot))
                # A smaller request behind it may fit now.
                self._serve()

    def give(self, amount: int) -> None:
        """Give the amount back, and serve the first request in the queue."""
        self.taken -= amount
        self._serve()

    def _serve(self) -> None:
        while self._line and (self._line[0][1].done() or self.taken + self._line[0][0] <= self.most):
            amount, waits = self._line.popleft()
            if not waits.done():
                self.taken += amount
                waits.set_result(True)


class _Work:
    """The shares and counts of one kind."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.slots = ResourceShare(bound.slots, bound.waiting)
        self.room = ResourceShare(bound.bytes, bound.waiting)
        self.admitted = 0
        self.refused = 0


class Capacity:
    """The limits and current use of all kinds of work."""

    def __init__(self, bounds: Mapping[Work, Bound]) -> None:
        self.work: Mapping[Work, _Work] = {kind: _Work(bound) for kind, bound in bounds.items()}
        # Parsing holds the GIL, so parsing several large bodies at once would save no time and take more memory.
        self.parsing = asyncio.Lock()

    def snapshot(self) -> dict[Work, dict[str, int]]:
        """Return by kind: `admitted` and `refused` since the start; `at_work`, `waiting` and `bytes` at this moment."""
        return {
            kind: {
                "admitted": work.admitted,
                "refused": work.refused,
                "at_work": work.slots.taken,
                "waiting": work.slots.waiting + work.room.waiting,
                "bytes": work.room.taken,
            }
            for kind, work in self.work.items()
        }


class Claim:
    """The slots and bytes that one request holds; `release` returns them all."""

    def __init__(self) -> None:
        self._taken: list[tuple[ResourceShare, int]] = []

    async def room(self, capacity: Capacity, kind: Work, amount: int, request: Request) -> None:
        """Reserve bytes for a body before it is read; raise `Unavailable` if there are none in time."""
        work = capacity.work[kind]
        if not work.room.take_now(amount) and not await work.room.take(amount, _patience(work, request)):
            raise _refused(work, kind)
        self._taken.append((work.room, amount))

    def more_room(self, capacity: Capacity, kind: Work, amount: int) -> None:
        """Reserve more bytes for a body of unknown length; raise `Unavailable` at once, as a holder must not wait."""
        work = capacity.work[kind]
        if not work.room.take_now(amount):
            raise _refused(work, kind)
        self._taken.append((work.room, amount))

    async def slot(self, capacity: Capacity, kind: Work, request: Request) -> None:
        """Take a slot; raise `Unavailable` if none is free in time."""
        work = capacity.work[kind]
        if not work.slots.take_now(1):
            if not await work.slots.take(1, _patience(work, request)):
                raise _refused(work, kind)
            self._taken.append((work.slots, 1))
            if await request.is_disconnected():
                raise Unavailable("The caller left while the request was waiting.")
        else:
            self._taken.append((work.slots, 1))
        work.admitted += 1

    def release(self) -> None:
        """Return everything that was taken."""
        while self._taken:
            share, amount = self._taken.pop()
            share.give(amount)


def capacity_of(request: Request) -> Capacity:
    """Return the capacity of the application; create it from the settings on first use."""
    state = request.app.state
    if state.capacity is None:
        state.capacity = Capacity(bounds_for(context_of(request).settings))
    capacity: Capacity = state.capacity
    return capacity


def claim_in(scope: Scope) -> Claim:
    """Put an empty claim into the scope of a request. The caller must release it when the request ends."""
    claim = scope[_SCOPE_KEY] = Claim()
    return claim


def claim_of(request: Request) -> Claim:
    """Return the claim of a request."""
    claim: Claim = request.scope[_SCOPE_KEY]
    return claim


def kinds() -> Iterator[Work]:
    """Yield every kind of work."""
    yield from get_args(Work)


def _patience(work: _Work, request: Request) -> float:
    """Return the seconds that a request may wait: 0 if it sent `Prefer: wait=0` (RFC 7240, 4.3)."""
    return 0.0 if request.headers.get("prefer", "") == "wait=0" else work.bound.seconds


def _late(waits: "asyncio.Future[bool]") -> None:
    if not waits.done():
        waits.set_result(False)


def _refused(work: _Work, kind: Work) -> Unavailable:
    work.refused += 1
    seconds = max(1, round(work.bound.seconds))
    return Unavailable(
        f"The service is busy with other {_WORDS[kind]}. Try again in {seconds} s.",
        details={"busy": kind, "at_once": work.bound.slots},
        headers={"Retry-After": str(seconds)},
    )


def context_of(request: Request) -> Context:
    """Return the open context; raise `Unavailable` while the service starts or stops."""
    context: Context | None = request.app.state.context_of()
    if context is None:
        raise Unavailable("The service is starting or stopping. Try again in a moment.")
    return context

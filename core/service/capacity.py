"""How much the service does at once: a bound for every kind of work, and 503 beyond it instead of a queue without end.

Each kind has slots for requests at work and a number of bytes for bodies in memory, from before the first byte is read
until the answer is sent. A request that finds no slot or no room waits in line; lines have an end and a time limit.
Kinds share nothing, so a plain score never waits behind explanations, batches or imports.

Everything here runs on the event loop, so nothing needs a lock. `snapshot` may be read from any thread.
"""

import asyncio
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from starlette.requests import Request
from starlette.types import Scope

from traitbench.encoders.lanes import processors
from traitbench.errors import Unavailable
from traitbench.service.bench import bench_of
from traitbench.settings import Settings

Kind = Literal["score", "long", "explain", "batch", "write", "transfer", "read"]

MEBIBYTE = 2**20
LONG = 4 * 1024
"""Bytes; a larger body to score is of the kind `long`: its encoding takes from a tenth of a second up to some seconds,
and one that takes milliseconds is not to wait behind it."""

_SCOPE_KEY = "traitbench.claim"
_WORDS: Mapping[Kind, str] = {
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
    """What a kind may take: requests at work, requests in line for a slot or for room, bytes of bodies, and the seconds
    that a request waits at most."""

    slots: int
    waiting: int
    bytes: int
    seconds: float


def bounds_for(settings: Settings, *, cores: int | None = None) -> Mapping[Kind, Bound]:
    """The table. Slots follow from the processors, bytes from the largest body that the operator allows.

    An explanation's body counts as the one of a score. An explanation encodes hundreds of texts on all processors.
    """
    cores = processors() if cores is None else cores
    body, bundle = settings.max_body_bytes, settings.max_import_bytes
    return {
        "score": Bound(slots=32, waiting=128, bytes=16 * MEBIBYTE, seconds=2),
        "long": Bound(slots=cores, waiting=8 * cores, bytes=max(24 * MEBIBYTE, body), seconds=5),
        "explain": Bound(slots=max(1, cores // 2), waiting=8 * cores, bytes=0, seconds=5),
        "batch": Bound(slots=8 * cores, waiting=16 * cores, bytes=max(32 * MEBIBYTE, body), seconds=5),
        "write": Bound(slots=8, waiting=32, bytes=max(32 * MEBIBYTE, body), seconds=5),
        "transfer": Bound(slots=1, waiting=2, bytes=max(bundle, body), seconds=5),
        "read": Bound(slots=8, waiting=128, bytes=0, seconds=5),
    }


class Share:
    """So much of one thing; who finds it taken waits in line."""

    def __init__(self, most: int, waiting: int) -> None:
        self.most, self.most_waiting = most, waiting
        self.taken = 0
        self._line: deque[tuple[int, asyncio.Future[bool]]] = deque()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._line)

    def take_now(self, amount: int) -> bool:
        """Take it, unless it is taken or somebody waits for it."""
        if self._line or self.taken + amount > self.most:
            return False
        self.taken += amount
        return True

    async def take(self, amount: int, seconds: float) -> bool:
        """Take it, now or within so many seconds; False when the line or the time is at its end."""
        if self.take_now(amount):
            return True
        if not seconds or len(self._line) >= self.most_waiting or amount > self.most:
            return False
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[bool] = loop.create_future()
        self._line.append((amount, turn))
        clock = loop.call_later(seconds, _late, turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.result():
                self.give(amount)
            raise
        finally:
            clock.cancel()
            if (amount, turn) in self._line:
                self._line.remove((amount, turn))
                self._serve()

    def give(self, amount: int) -> None:
        """Give it back, to the first in line."""
        self.taken -= amount
        self._serve()

    def _serve(self) -> None:
        while self._line and (self._line[0][1].done() or self.taken + self._line[0][0] <= self.most):
            amount, waits = self._line.popleft()
            if not waits.done():
                self.taken += amount
                waits.set_result(True)


class _Work:
    """One kind: its shares and its counts."""

    def __init__(self, bound: Bound) -> None:
        self.bound = bound
        self.slots = Share(bound.slots, bound.waiting)
        self.room = Share(bound.bytes, bound.waiting)
        self.admitted = 0
        self.refused = 0


class Capacity:
    """What the service has to give, by kind."""

    def __init__(self, bounds: Mapping[Kind, Bound]) -> None:
        self.work: Mapping[Kind, _Work] = {kind: _Work(bound) for kind, bound in bounds.items()}
        # Parsing holds Python's lock, so several large bodies at a time would take no less time, only more memory.
        self.parsing = asyncio.Lock()

    def snapshot(self) -> dict[Kind, dict[str, int]]:
        """By kind: `admitted` and `refused` since the start; `at_work`, `waiting` and `bytes` of now."""
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
    """What one request has taken; `release` gives all of it back."""

    def __init__(self) -> None:
        self._taken: list[tuple[Share, int]] = []

    async def room(self, capacity: Capacity, kind: Kind, amount: int, request: Request) -> None:
        """Take bytes for a body before it is read; raise `Unavailable`."""
        work = capacity.work[kind]
        if not work.room.take_now(amount) and not await work.room.take(amount, _patience(work, request)):
            raise _refused(work, kind)
        self._taken.append((work.room, amount))

    def more_room(self, capacity: Capacity, kind: Kind, amount: int) -> None:
        """Take more bytes for a body that says no length; raise `Unavailable` at once: who holds some never waits."""
        work = capacity.work[kind]
        if not work.room.take_now(amount):
            raise _refused(work, kind)
        self._taken.append((work.room, amount))

    async def slot(self, capacity: Capacity, kind: Kind, request: Request) -> None:
        """Take a slot; raise `Unavailable`."""
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
        """Give everything back."""
        while self._taken:
            share, amount = self._taken.pop()
            share.give(amount)


def capacity_of(request: Request) -> Capacity:
    """The capacity of the application, made by the settings of its bench."""
    state = request.app.state
    if state.capacity is None:
        state.capacity = Capacity(bounds_for(bench_of(request).settings))
    capacity: Capacity = state.capacity
    return capacity


def claim_in(scope: Scope) -> Claim:
    """Put an empty claim into the scope of a request; who does so releases it when the request has ended."""
    claim = scope[_SCOPE_KEY] = Claim()
    return claim


def claim_of(request: Request) -> Claim:
    """The claim of a request."""
    claim: Claim = request.scope[_SCOPE_KEY]
    return claim


def kinds() -> Iterator[Kind]:
    """Every kind of work."""
    yield from get_args(Kind)


def _patience(work: _Work, request: Request) -> float:
    """The seconds that a request waits at most; none when it says so (RFC 7240, 4.3)."""
    return 0.0 if request.headers.get("prefer", "") == "wait=0" else work.bound.seconds


def _late(waits: "asyncio.Future[bool]") -> None:
    if not waits.done():
        waits.set_result(False)


def _refused(work: _Work, kind: Kind) -> Unavailable:
    work.refused += 1
    seconds = max(1, round(work.bound.seconds))
    return Unavailable(
        f"The service has as many {_WORDS[kind]} at work as it can take. Try again in {seconds} s.",
        details={"busy": kind, "at_once": work.bound.slots},
        headers={"Retry-After": str(seconds)},
    )

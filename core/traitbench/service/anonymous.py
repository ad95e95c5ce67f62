"""A fair queue for anonymous requests, which have no session and no valid key: they get a third of the event loop.

Anonymous clients that send requests without a pause would otherwise take the whole loop: beside 16 such connections, a
score took up to 20 times longer. So anonymous requests start one after another, each after a pause that is twice as
long as the work of those before it. A single anonymous request starts at once. If several wait, client addresses take
turns, so that one address cannot block the others.

Only the time on the event loop counts. A client that does not send its body blocks nobody.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Generator, Sequence
from ipaddress import IPv4Network, IPv6Network
from time import monotonic
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from traitbench.service.addresses import client_address

_SHARE = 1 / 3
_OVERHEAD_SECONDS = 0.0002  # of the server per request, outside the application: parsing, writing, a task
_SHORTEST_PAUSE = 0.001  # seconds; the clock of some loops has no shorter unit
_LONGEST_PAUSE = 1.0  # seconds; one costly request must not prevent sign-ins


class AnonymousQueue:
    """Starts anonymous requests. All methods run on one event loop, so it needs no lock."""

    def __init__(self, proxies: Sequence[IPv4Network | IPv6Network]) -> None:
        """`proxies` are the networks whose `X-Forwarded-For` is trusted."""
        self._proxies = proxies
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        self._free_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def serve(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Wait until the request may start, then let the application handle it."""
        loop = asyncio.get_running_loop()
        if self._waiting or monotonic() < self._free_at:
            start: asyncio.Future[None] = loop.create_future()
            self._waiting.setdefault(client_address(scope, self._proxies), deque()).append(start)
            self._schedule(loop)
            await start
        else:
            self._charge(_OVERHEAD_SECONDS)
        await _Timed(app(scope, receive, send), self._charge)

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer is None and self._waiting:
            delay = max(_SHORTEST_PAUSE, self._free_at - monotonic())
            self._timer = loop.call_later(delay, self._start_next, loop)

    def _start_next(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start one request, of the address that is next, unless earlier requests worked meanwhile."""
        self._timer = None
        while self._waiting and monotonic() >= self._free_at:
            address, queue = self._waiting.popitem(last=False)
            start = queue.popleft()
            if queue:
                self._waiting[address] = queue
            if not start.done():
                start.set_result(None)
                self._charge(_OVERHEAD_SECONDS)
        self._schedule(loop)

    def _charge(self, seconds: float) -> None:
        """Postpone the next request after so much work."""
        now = monotonic()  # not the time of the loop, which may be that of the start of its turn
        self._free_at = min(max(now - seconds, self._free_at) + seconds / _SHARE, now + _LONGEST_PAUSE)


class _Timed:
    """Awaits a coroutine, and reports the seconds of each of its steps on the event loop."""

    def __init__(self, work: Awaitable[None], report: Callable[[float], None]) -> None:
        self._work = work
        self._report = report

    def __await__(self) -> Generator[Any, None, None]:
        steps = self._work.__await__()
        raised: BaseException | None = None
        while True:
            began = monotonic()
            try:
                awaited = steps.send(None) if raised is None else steps.throw(raised)
            except StopIteration:
                return
            finally:
                self._report(monotonic() - began)
            try:
                yield awaited
            except BaseException as error:  # a cancellation, which the request handles
                raised = error
            else:
                raised = None

"""The queue of anonymous requests: who waits for whom."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from ipaddress import ip_network
from itertools import pairwise

from starlette.types import Message, Receive, Scope, Send

from tests.patience import PATIENCE_S
from traitbench.service.anonymous import AnonymousQueue

STRANGERS, TURNS_OF_LOOP = 16, 10


async def _receive() -> Message:
    return {"type": "http.request", "body": b""}


async def _send(_message: Message) -> None:
    pass


def _from(address: str, **headers: str) -> Scope:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "client": (address, 1), "headers": raw}


def _run(statement: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(statement(), PATIENCE_S))


def test_beside_strangers_who_never_pause_at_most_one_is_served_in_each_turn_of_the_loop() -> None:
    served = 0

    async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
        nonlocal served
        served += 1

    async def statement() -> None:
        queue = AnonymousQueue([])

        async def asks_again_and_again() -> None:
            while True:
                await queue.serve(app, _from("192.0.2.1"), _receive, _send)
                await asyncio.sleep(0)

        strangers = [asyncio.create_task(asks_again_and_again()) for _ in range(STRANGERS)]
        while served < STRANGERS:
            await asyncio.sleep(0.001)
        before = served
        for _ in range(TURNS_OF_LOOP):  # what someone with a key needs
            await asyncio.sleep(0)
        assert served - before <= TURNS_OF_LOOP
        for each in strangers:
            each.cancel()
        await asyncio.gather(*strangers, return_exceptions=True)

    _run(statement)


def test_work_for_a_stranger_is_followed_by_a_pause_of_twice_its_length() -> None:
    began: list[float] = []

    async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
        began.append(time.monotonic())
        time.sleep(0.03)
        await asyncio.sleep(0)  # not work
        time.sleep(0.02)

    async def statement() -> None:
        queue = AnonymousQueue([])
        await asyncio.gather(*(queue.serve(app, _from("192.0.2.1"), _receive, _send) for _ in range(3)))

    _run(statement)
    assert all(later - earlier >= 0.14 for earlier, later in pairwise(began))


def test_each_address_has_its_turn_also_behind_a_proxy() -> None:
    order: list[str] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        order.append(dict(scope["headers"])[b"x-forwarded-for"].decode())

    async def statement() -> None:
        queue = AnonymousQueue([ip_network("10.0.0.1")])
        asking = ["192.0.2.1"] * 40 + ["192.0.2.2", "192.0.2.3"]
        scopes = [_from("10.0.0.1", x_forwarded_for=each) for each in asking]
        await asyncio.gather(*(queue.serve(app, scope, _receive, _send) for scope in scopes))

    _run(statement)
    assert len(order) == 42
    assert {"192.0.2.2", "192.0.2.3"} <= set(order[:5])


def test_no_stranger_holds_the_turn_of_others_by_sending_nothing_or_by_leaving() -> None:
    served: list[str] = []

    async def app(scope: Scope, receive: Receive, _send: Send) -> None:
        await receive()
        served.append(scope["client"][0])

    async def never() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def statement() -> None:
        queue = AnonymousQueue([])
        silent = [asyncio.create_task(queue.serve(app, _from("192.0.2.1"), never, _send)) for _ in range(3)]
        await asyncio.sleep(0)
        silent[2].cancel()  # it waits for its turn
        await queue.serve(app, _from("192.0.2.2"), _receive, _send)
        silent[0].cancel()  # it is being served
        await queue.serve(app, _from("192.0.2.2"), _receive, _send)
        silent[1].cancel()
        ended = await asyncio.gather(*silent, return_exceptions=True)
        assert [type(each) for each in ended] == [asyncio.CancelledError] * 3

    _run(statement)
    assert served == ["192.0.2.2"] * 2


def test_a_failure_of_the_application_comes_through() -> None:
    async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
        await asyncio.sleep(0)
        raise LookupError

    async def statement() -> None:
        try:
            await AnonymousQueue([]).serve(app, _from("192.0.2.1"), _receive, _send)
        except LookupError:
            return
        raise AssertionError

    _run(statement)

"""Bounded work: beyond the slots or bytes of a kind it is refused, nothing is lost, and all of it is given back."""

import asyncio
import http.client
import json
import socket
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contexts import until
from tests.contract.world import served
from tests.gate import Gate
from tests.patience import PATIENCE_S
from tests.service.conftest import ADDRESS, Quiet
from tests.size import sized
from traitbench.client import Traitbench
from traitbench.contract.operation import Work
from traitbench.service.app import create_app
from traitbench.service.capacity import Bound, Capacity, ResourceShare, bounds_for, kinds
from traitbench.settings import Settings

KIB = 1024
FREE = Bound(slots=8, waiting=8, bytes=2**20, seconds=0.2)


# ---- shares ----------------------------------------------------------------------------------------------------------

Wish = tuple[int, float, bool]  # how much, for how many ms, and whether who wishes gives up in the middle


@settings(max_examples=sized(15, 40), deadline=None)
@given(
    most=st.integers(1, 20),
    waiting=st.integers(0, 6),
    wishes=st.lists(st.tuples(st.integers(0, 24), st.floats(0, 4), st.booleans()), max_size=24),
)
def test_a_share_is_never_exceeded_and_always_comes_back(most: int, waiting: int, wishes: list[Wish]) -> None:
    share = ResourceShare(most, waiting)
    seen: list[int] = []

    async def one(amount: int, ms: float) -> None:
        if await share.take(amount, 0.002):
            seen.append(share.taken)
            try:
                await asyncio.sleep(ms / 1_000)
            finally:
                share.give(amount)

    async def everyone() -> None:
        tasks = [asyncio.create_task(one(amount, ms)) for amount, ms, _ in wishes]
        await asyncio.sleep(0.001)
        assert share.waiting <= waiting
        for task, (_, _, gives_up) in zip(tasks, wishes, strict=True):
            if gives_up:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(everyone())
    assert all(taken <= most for taken in seen)
    assert (share.taken, share.waiting) == (0, 0)


def test_who_came_first_is_served_first() -> None:
    share, order = ResourceShare(1, 5), list[int]()

    async def one(number: int) -> None:
        assert await share.take(1, 5)
        order.append(number)
        await asyncio.sleep(0)
        share.give(1)

    async def everyone() -> None:
        await asyncio.gather(*map(one, range(5)))

    asyncio.run(everyone())
    assert order == [0, 1, 2, 3, 4]


def test_the_table_has_every_kind_and_room_for_the_largest_body(tmp_path: Any) -> None:
    given = Settings(home=tmp_path, database_url="", max_body_bytes=80 * 2**20, max_import_bytes=90 * 2**20)
    for cores in (1, 2, 64):
        table = bounds_for(given, cores=cores)
        assert set(table) == set(kinds())
        assert all(bound.slots >= 1 and bound.waiting >= 1 and bound.seconds > 0 for bound in table.values())
        assert all(table[kind].bytes >= given.max_body_bytes for kind in ("long", "batch", "write"))
        assert table["transfer"].bytes >= given.max_import_bytes
        # All that come without the framework's threads find one of the endpoints' own.
        assert sum(table[kind].slots for kind in ("score", "long", "explain")) <= 128


# ---- a service that is small enough to overload ----------------------------------------------------------------------


@dataclass
class Place:
    """A service, a model in it, a gate before its addresses, and a key that may do everything."""

    base_url: str
    handle: str
    secret: str
    gate: Gate
    app: Any

    @property
    def capacity(self) -> Capacity:
        result: Capacity = self.app.state.capacity
        return result

    def now(self, kind: Work) -> Mapping[str, int]:
        return self.capacity.snapshot()[kind]

    def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.secret}", **headers}
        return httpx.post(f"{self.base_url}/v1/models{path}", json=body, headers=headers, timeout=PATIENCE_S)

    def score(self, content: str = "how kind", **fields: Any) -> httpx.Response:
        return self.post(f"/{self.handle}/score", {"content": content, **fields})

    def begin(self, path: str, head: str, body: bytes = b"") -> socket.socket:
        """A request of which only this much is sent."""
        connection = socket.create_connection(("127.0.0.1", int(self.base_url.rpartition(":")[2])), timeout=PATIENCE_S)
        lines = (f"POST /v1/models{path} HTTP/1.1", "Host: x", f"Authorization: Bearer {self.secret}", head)
        connection.sendall("\r\n".join([*lines, "Content-Type: application/json", "", ""]).encode() + body)
        return connection

    def is_idle(self) -> bool:
        return not any(
            work[count] for work in self.capacity.snapshot().values() for count in ("at_work", "waiting", "bytes")
        )


@contextmanager
def small(quiet: Quiet, **bounds: Bound) -> Iterator[Place]:
    """A service with these bounds, idle again at the end."""
    gate = Gate()
    app = create_app(replace(quiet.context, extract=gate))
    inner: Any = app._app  # type: ignore[attr-defined]
    inner.state.capacity = Capacity({kind: bounds.get(kind, FREE) for kind in kinds()})
    with served(app) as base_url:
        place = Place(base_url, quiet.handle, quiet.secret, gate, inner)
        try:
            yield place
            gate.open.set()
            until(place.is_idle, what="everything to be given back")
            assert place.score().status_code == 200
        finally:
            gate.open.set()


ONE = Bound(slots=1, waiting=1, bytes=2**20, seconds=0.2)
HELD: dict[str, tuple[str, dict[str, Any]]] = {
    "score": ("/{}/score", {"content": ADDRESS}),
    "long": ("/{}/score", {"content": ADDRESS, "traits": ["warmth"] * 8_000}),
    "explain": ("/{}/score", {"content": ADDRESS, "explain": True}),
    "batch": ("/{}/score/batch", {"contents": [ADDRESS, "and more"]}),
}


@pytest.mark.parametrize("kind", HELD)
def test_beyond_its_slots_a_kind_is_refused_and_no_other(quiet: Quiet, kind: Work) -> None:
    path, body = HELD[kind]
    with small(quiet, **{kind: ONE}) as place, ThreadPoolExecutor(8) as callers:
        first = callers.submit(place.post, path.format(place.handle), body)
        until(lambda: place.now(kind)["at_work"] == 1, what="the first to be at work")
        refused = list(callers.map(lambda _: place.post(path.format(place.handle), body), range(6)))
        for answer in refused:
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
            assert answer.json()["error"]["details"] == {"busy": kind, "at_once": 1}
            assert int(answer.headers["Retry-After"]) >= 1
        for other in set(HELD) - {kind}:
            path_of_other, body_of_other = HELD[other]
            free = json.loads(json.dumps(body_of_other).replace(ADDRESS, "how kind"))
            assert place.post(path_of_other.format(place.handle), free).status_code == 200, other
        place.gate.open.set()
        assert first.result().status_code == 200
        until(place.is_idle, what="everything to be given back")
        counts = place.now(kind)
        assert (counts["admitted"], counts["refused"]) == (1, 6)
        assert place.post(path.format(place.handle), body).status_code == 200


def test_on_the_wire_of_perspective_load_is_a_quota(quiet: Quiet) -> None:
    with small(quiet, score=ONE) as place, ThreadPoolExecutor(1) as callers:
        first = callers.submit(place.score, ADDRESS)
        until(lambda: place.now("score")["at_work"] == 1, what="the first to be at work")
        answer = httpx.post(
            f"{place.base_url}/v1alpha1/comments:analyze",
            params={"key": place.secret},
            json={"comment": {"text": "how kind"}, "requestedAttributes": {"WARMTH": {}}},
            headers={"Prefer": "wait=0"},
            timeout=PATIENCE_S,
        )
        place.gate.open.set()
        assert first.result().status_code == 200
    error = answer.json()["error"]
    assert (answer.status_code, error["status"]) == (429, "RESOURCE_EXHAUSTED")
    assert error["details"][0] == {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        **{"reason": "RATE_LIMIT_EXCEEDED", "domain": "googleapis.com"},
    }
    assert int(answer.headers["Retry-After"]) >= 1


def test_what_waits_is_served_when_there_is_a_slot(quiet: Quiet) -> None:
    with small(quiet, score=replace(ONE, seconds=30.0)) as place, ThreadPoolExecutor(2) as callers:
        both = [callers.submit(place.score, ADDRESS) for _ in range(2)]
        until(lambda: place.now("score")["waiting"] == 1, what="the second to wait")
        place.gate.open.set()
        assert [each.result().status_code for each in both] == [200, 200]


def test_who_will_not_wait_is_refused_at_once(quiet: Quiet) -> None:
    with small(quiet, score=replace(ONE, seconds=600.0)) as place, ThreadPoolExecutor(1) as callers:
        first = callers.submit(place.score, ADDRESS)
        until(lambda: place.now("score")["at_work"] == 1, what="the first to be at work")
        assert place.post(f"/{place.handle}/score", {"content": "x"}, Prefer="wait=0").status_code == 503
        place.gate.open.set()
        assert first.result().status_code == 200


@pytest.mark.parametrize("head", ["Content-Length: 60000", "Transfer-Encoding: chunked"])
def test_bytes_are_taken_before_they_are_read_and_given_back_to_whoever_leaves(quiet: Quiet, head: str) -> None:
    room = Bound(slots=8, waiting=1, bytes=100 * KIB, seconds=0.2)
    sent = b"" if "Length" in head else b"ea60\r\n" + b" " * 60_000 + b"\r\n"
    with small(quiet, write=room) as place:
        path = f"/{place.handle}/samples"
        connection = place.begin(path, head, sent)
        until(lambda: place.now("write")["bytes"] >= 60_000, what="the first to take its bytes")
        refused = place.post(path, {"samples": [{"trait": "warmth", "text": "x" * 60_000, "quality": 1}]})
        assert (refused.status_code, refused.json()["error"]["details"]["busy"]) == (503, "write")
        assert place.now("write")["bytes"] <= room.bytes
        connection.close()
        until(lambda: place.now("write")["bytes"] == 0, what="the bytes to come back")
        answer = place.post(path, {"samples": [{"trait": "warmth", "text": "x" * 60_000, "quality": 1}]})
        assert answer.status_code == 422  # longer than a sample may be: it was read


def test_a_body_of_unknown_length_takes_more_as_it_comes(quiet: Quiet) -> None:
    room = Bound(slots=8, waiting=1, bytes=130 * KIB, seconds=0.2)
    with small(quiet, write=room) as place:
        connection = place.begin(f"/{place.handle}/samples", "Transfer-Encoding: chunked")
        with connection:
            for _ in range(40):
                connection.sendall(b"2000\r\n" + b" " * 0x2000 + b"\r\n")
            answer = connection.recv(65_536)
            while not answer.endswith(b"}}}"):
                answer += connection.recv(65_536)
        assert answer.startswith(b"HTTP/1.1 503")
        assert b'"busy":"write"' in answer


def test_whoever_leaves_a_batch_in_mid_stream_gives_everything_back(quiet: Quiet) -> None:
    with small(quiet, batch=ONE) as place:
        connection = http.client.HTTPConnection(place.base_url.removeprefix("http://"), timeout=PATIENCE_S)
        headers = {"Authorization": f"Bearer {place.secret}", "Content-Type": "application/json"}
        body = json.dumps({"contents": ["first", *(f"{ADDRESS}{number}" for number in range(50))]}).encode()
        connection.request("POST", f"/v1/models/{place.handle}/score/batch", body, headers)
        answer = connection.getresponse()
        assert json.loads(answer.readline())["index"] == 0
        assert (place.now("batch")["at_work"], place.now("batch")["bytes"]) == (1, len(body))
        answer.close()
        connection.close()
        until(place.is_idle, what="everything to be given back")


def test_whoever_leaves_while_waiting_is_not_worked_for(quiet: Quiet) -> None:
    with small(quiet, score=replace(ONE, seconds=30.0)) as place, ThreadPoolExecutor(1) as callers:
        first = callers.submit(place.score, ADDRESS)
        until(lambda: place.now("score")["at_work"] == 1, what="the first to be at work")
        body = json.dumps({"content": ADDRESS}).encode()
        left = place.begin(f"/{place.handle}/score", f"Content-Length: {len(body)}", body)
        until(lambda: place.now("score")["waiting"] == 1, what="the second to wait")
        left.close()
        place.gate.open.set()
        assert first.result().status_code == 200
        until(place.is_idle, what="everything to be given back")
        assert place.now("score")["admitted"] == 1


def test_errors_give_everything_back(quiet: Quiet) -> None:
    with small(quiet) as place:
        assert place.score("").status_code == 422
        assert place.post(f"/{place.handle}/score", [1]).status_code == 422
        assert place.post("/local.nobody/score", {"content": "x"}).status_code == 404
        assert place.post("/import", {"format": "x"}).status_code == 422
        assert place.post(f"/{place.handle}/samples", {"samples": []}).status_code == 422
        until(place.is_idle, what="everything to be given back")


def test_reads_and_exports_have_slots_too(quiet: Quiet) -> None:
    with small(quiet) as place:
        headers = {"Authorization": f"Bearer {place.secret}"}
        assert httpx.get(f"{place.base_url}/v1/models/{place.handle}", headers=headers).status_code == 200
        assert httpx.get(f"{place.base_url}/v1/models/{place.handle}/export", headers=headers).status_code == 200
        assert (place.now("read")["admitted"], place.now("transfer")["admitted"]) == (1, 1)


# ---- the client ------------------------------------------------------------------------------------------------------


def test_the_client_comes_back_until_it_is_served(quiet: Quiet) -> None:
    """More of everything at once than there are slots, through the client: nothing fails."""
    one = Bound(slots=1, waiting=1, bytes=2**20, seconds=0.05)
    with small(quiet, score=one, explain=one, batch=one) as place, ThreadPoolExecutor(12) as callers:
        place.gate.open.set()
        clients = [Traitbench(place.base_url, place.secret) for _ in range(3)]
        texts = [f"text number {number}" for number in range(60)]

        def lines(client: Traitbench) -> list[int]:
            return [line.index for line in client.scores.batch(place.handle, texts, size=10)]

        batches = [callers.submit(lines, client) for client in clients]
        scores = [callers.submit(clients[0].scores.score, place.handle, "how kind") for _ in range(4)]
        reasons = [callers.submit(clients[1].scores.score, place.handle, "so kind", explain=True) for _ in range(4)]
        assert [each.result() for each in batches] == [[*range(60)]] * 3
        assert all(each.result().scores for each in (*scores, *reasons))
        assert place.now("batch")["refused"] > 0
        for client in clients:
            client.close()

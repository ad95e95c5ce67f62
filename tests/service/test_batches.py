"""Lines over a real socket: each as soon as it is ready, and no work for whoever has left or a service that stops."""

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Thread
from threading import enumerate as threads
from typing import Any

import pytest

from tests.contexts import until
from tests.contract.world import served
from tests.gate import Gate
from tests.patience import PATIENCE_S
from tests.service.conftest import ADDRESS, Quiet
from traitbench.operations.context import Context
from traitbench.service.app import create_app


@dataclass
class Place:
    """A service, and the gate before its addresses."""

    context: Context
    base_url: str
    quiet: Quiet
    gate: Gate

    @contextmanager
    def asked(self, contents: list[str]) -> Iterator[http.client.HTTPResponse]:
        """The answer, of which nothing was read."""
        connection = http.client.HTTPConnection(self.base_url.removeprefix("http://"), timeout=PATIENCE_S)
        try:
            headers = {"Authorization": f"Bearer {self.quiet.secret}", "Content-Type": "application/json"}
            path = f"/v1/models/{self.quiet.handle}/score/batch"
            connection.request("POST", path, json.dumps({"contents": contents}).encode(), headers)
            yield connection.getresponse()
        finally:
            connection.close()

    def is_idle(self) -> bool:
        """Whether no batch is at work."""
        return not self.context.batches.live and not [each for each in threads() if each.name == "batch"]


@pytest.fixture
def place(quiet: Quiet) -> Iterator[Place]:
    gate = Gate()
    gated = replace(quiet.context, extract=gate, batches=type(quiet.context.batches)())
    with served(create_app(gated)) as base_url:
        place = Place(gated, base_url, quiet, gate)
        try:
            yield place
        finally:
            gate.open.set()
    until(place.is_idle, what="all threads to end")


def line(answer: http.client.HTTPResponse) -> Any:
    return json.loads(answer.readline())


def test_a_line_is_sent_while_the_next_is_still_being_worked_on(place: Place) -> None:
    with place.asked(["first", "second", ADDRESS, "behind", ADDRESS, "last"]) as answer:
        assert (answer.status, answer.getheader("Content-Type")) == (200, "application/x-ndjson")
        assert [line(answer)["index"], line(answer)["index"]] == [0, 1]
        assert not place.gate.open.is_set()
        place.gate.open.set()
        assert [line(answer)["index"] for _ in range(4)] == [2, 3, 4, 5]
        assert answer.read() == b""
    assert place.gate.asked == [ADDRESS]


def test_whoever_leaves_ends_the_work(place: Place) -> None:
    urls = [f"{ADDRESS}{number}" for number in range(50)]
    with place.asked(["first", *urls, *(f"text {number}" for number in range(900))]) as answer:
        assert line(answer)["index"] == 0
    until(lambda: all(each.closed for each in place.context.batches.live), what="the batch to be closed")
    place.gate.open.set()
    until(place.is_idle, what="the threads to end")
    assert len(place.gate.asked) < len(urls)


def test_a_service_that_stops_ends_the_batch_and_says_that_it_is_not_whole(place: Place) -> None:
    # More addresses than are fetched at a time: what is in hand when it stops cannot be all of it.
    with place.asked(["first", *(f"{ADDRESS}{number}" for number in range(5))]) as answer:
        assert line(answer)["index"] == 0
        (batch,) = place.context.batches.live
        stopping = Thread(target=place.context.batches.close)
        stopping.start()
        until(lambda: batch.closed, what="the batch to be closed")
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            answer.read()
        place.gate.open.set()
        stopping.join()
    assert place.is_idle()
    with place.asked(["first"]) as answer:
        assert (answer.status, json.loads(answer.read())["error"]["code"]) == (503, "unavailable")


def test_many_batches_at_once_have_all_their_lines(place: Place) -> None:
    place.gate.open.set()
    contents = [f"text {number}" for number in range(60)]
    with place.asked(contents) as one, place.asked(contents[::-1]) as two, place.asked([ADDRESS, *contents]) as three:
        counts = [len(answer.read().splitlines()) for answer in (three, one, two)]
    assert counts == [61, 60, 60]

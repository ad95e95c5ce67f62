"""What a connection may cost: over real sockets, on a server with short clocks, and on the real processes."""

import asyncio
import http.client
import json
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from tests.app.processes import Started, eventually, serving
from tests.conftest import COLD, WARM, train
from tests.patience import PATIENCE_S
from tests.size import sized
from traitbench.contract.samples import SampleInput
from traitbench.contract.traits import TraitInput
from traitbench.service.connections import (
    LARGEST_HEAD,
    LONGEST_SOCKET_LINE,
    LONGEST_URL,
    MOST_FIELDS,
    Limits,
    limits_for,
    protocol,
)

MEBIBYTE = 2**20
SHORT = Limits(connections=16, head_seconds=0.5, body_seconds=0.5, answer_seconds=1.0)
LARGE = 30 * MEBIBYTE


@dataclass
class Place:
    """A server, what its application has seen, and what lets it answer requests for `/held`."""

    port: int
    seen: list[str]
    release: threading.Event

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)

    def hold(self, *connections: socket.socket) -> None:
        """Make requests that are at work until their release."""
        self.release.clear()
        before = self.seen.count("held")
        for connection in connections:
            connection.sendall(b"GET /held HTTP/1.1\r\nConnection: close\r\n\r\n")
        assert eventually(lambda: self.seen.count("held") == before + len(connections))

    def ask(self, *sent: bytes) -> bytes:
        """All that comes back until the other side hangs up."""
        with self.connect() as connection:
            for some in sent:
                connection.sendall(some)
            return rest_of(connection)


def rest_of(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65_536), b""))


def error_of(answer: bytes) -> tuple[int, str]:
    """Status and code; the answer must be an envelope with its request id."""
    head, _, body = answer.partition(b"\r\n\r\n")
    error = json.loads(body)["error"]
    assert set(error) == {"code", "message", "request_id", "details"}
    assert f"x-request-id: {error['request_id']}".encode() in head
    return int(head.split()[1]), error["code"]


GET = b"GET / HTTP/1.1\r\nHost: x\r\n"
LAST = GET + b"Connection: close\r\n\r\n"


@contextmanager
def server(limits: Limits) -> Iterator[Place]:
    """A small application behind these limits."""
    seen: list[str] = []
    release = threading.Event()

    async def held(request: Request) -> Response:
        seen.append("held")
        while not release.is_set():
            await asyncio.sleep(0.05)
        return Response("at last")

    async def size(request: Request) -> Response:
        try:
            return Response(str(len(await request.body())))
        except ClientDisconnect:
            seen.append("left")
            return Response()

    async def fields(request: Request) -> Response:
        await request.body()
        return Response(str(request.scope["headers"]))

    async def slow(request: Request) -> Response:
        await asyncio.sleep(2)
        return Response("at last")

    async def large(request: Request) -> Response:
        return Response(b" " * LARGE)

    async def page(websocket: WebSocket) -> None:
        await websocket.accept()
        try:
            while True:
                await websocket.send_text(await websocket.receive_text())
        except WebSocketDisconnect:
            seen.append("closed")

    further = [
        Route("/fields", fields, methods=["POST"]),
        Route("/slow", slow),
        Route("/large", large),
        Route("/held", held),
    ]
    routes = [Route("/", size, methods=["GET", "POST"]), *further]
    app = Starlette(routes=[*routes, WebSocketRoute("/page", page)])
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(
            app, http=protocol(limits), lifespan="off", log_config=None, timeout_graceful_shutdown=1
        )
        running = uvicorn.Server(config)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            assert eventually(lambda: running.started)
            yield Place(listener.getsockname()[1], seen, release)
        finally:
            release.set()
            running.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with server(SHORT) as place:
        yield place


def upgrade(path: bytes = b"/page", more: bytes = b"") -> bytes:
    return (
        b"GET " + path + b" HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" + more + b"\r\n"
    )


CHUNKED = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
MANY = b"".join(b"x%d: y\r\n" % number for number in range(MOST_FIELDS + 1))
WIDE = b"".join(b"x%d: %s\r\n" % (number, b"y" * (LARGEST_HEAD // 50)) for number in range(60))


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"GET /" + b"a" * LONGEST_URL + b" HTTP/1.1\r\n\r\n", 414, "url_too_long"),
        (b"GET /" + b"a" * 8 * MEBIBYTE, 414, "url_too_long"),
        (GET + MANY + b"\r\n", 431, "headers_too_large"),
        (GET + WIDE + b"\r\n", 431, "headers_too_large"),
        (GET + b"x: " + b"y" * 8 * MEBIBYTE, 431, "headers_too_large"),
        (upgrade(b"/page?" + b"a" * LONGEST_URL), 414, "url_too_long"),
        (upgrade(more=MANY), 431, "headers_too_large"),
        (upgrade(b"/page?" + b"a" * (LONGEST_SOCKET_LINE - 18)), 414, "url_too_long"),
        (upgrade(more=b"x: " + b"y" * (LONGEST_SOCKET_LINE - 2) + b"\r\n"), 431, "headers_too_large"),
        (b"nonsense\r\n\r\n", 400, "invalid_request"),
        (b"GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "invalid_request"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: braille\r\n\r\nx", 400, "invalid_request"),
        (CHUNKED + b"nonsense\r\n", 400, "invalid_request"),
        (CHUNKED + b"1\r\nx\r\n0\r\n" + WIDE + b"\r\n", 431, "headers_too_large"),
        (CHUNKED + b"1\r\nx\r\n0\r\nx: " + b"y" * 8 * MEBIBYTE, 431, "headers_too_large"),
        (CHUNKED + b"1;" + b"y" * 8 * MEBIBYTE, 431, "headers_too_large"),
    ],
)
def test_what_is_too_much_of_a_request_is_refused_in_words(place: Place, sent: bytes, status: int, code: str) -> None:
    with place.connect() as connection:
        begin = time.monotonic()
        with suppress(OSError):  # it need not read all of it
            connection.sendall(sent)
        assert error_of(rest_of(connection)) == (status, code)
        # Not at once, or clients that come back at once would hold up others.
        assert 0.04 < time.monotonic() - begin < 10
    assert place.ask(LAST).endswith(b"\r\n\r\n0")


def test_what_is_just_within_the_bounds_is_answered(place: Place) -> None:
    fields = b"".join(b"x%d: y\r\n" % number for number in range(MOST_FIELDS - 2))
    assert place.ask(GET + fields + b"Connection: close\r\n\r\n").startswith(b"HTTP/1.1 200")
    query = b"GET /?" + b"a" * (LONGEST_URL - 2) + b" HTTP/1.1\r\nConnection: close\r\n\r\n"
    assert place.ask(query).startswith(b"HTTP/1.1 200")
    field = b"x: " + b"y" * (LONGEST_SOCKET_LINE - 3) + b"\r\n"
    # There is no such page, but the application is asked for it.
    assert place.ask(upgrade(b"/none?" + b"a" * (LONGEST_SOCKET_LINE - 19), more=field)).startswith(b"HTTP/1.1 403")
    body = b" " * MEBIBYTE
    head = b"POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)
    assert place.ask(head + body).endswith(b"\r\n\r\n%d" % len(body))
    parts = (each for _ in range(LARGEST_HEAD // 10) for each in (b"1;" + b"e" * 9 + b"\r\n", b"x\r\n"))
    assert place.ask(CHUNKED, *parts, b"0\r\n\r\n", LAST).count(b"HTTP/1.1 200") == 2
    assert place.ask(*(LAST[at : at + 1] for at in range(len(LAST)))).startswith(b"HTTP/1.1 200")


def test_several_requests_on_one_connection_are_answered_and_very_many_at_once_are_not(place: Place) -> None:
    assert place.ask((GET + b"\r\n") * 9 + LAST).count(b"HTTP/1.1 200") == 10
    answers = place.ask((GET + b"\r\n") * 900)
    assert 10 < answers.count(b"HTTP/1.1 200") < 100
    assert error_of(answers[answers.rindex(b"HTTP/1.1 ") :]) == (503, "unavailable")
    assert place.ask(LAST).startswith(b"HTTP/1.1 200")


def test_fields_after_a_body_are_not_read_as_its_header(place: Place) -> None:
    body = b"1\r\nx\r\n0\r\nX-Forwarded-Email: mallory@example.org\r\nAuthorization: Bearer x\r\n\r\n"
    answer = place.ask(CHUNKED.replace(b"POST /", b"POST /fields") + body + LAST)
    assert answer.count(b"HTTP/1.1 200") == 2
    assert b"transfer-encoding" in answer
    assert b"mallory" not in answer.lower()
    assert b"authorization" not in answer.lower()


def test_whoever_takes_too_long_is_not_waited_for(place: Place) -> None:
    """All clocks at once: nothing sent, a slow header, a body that stops, one that trickles, an answer not read."""

    def trickled(first: bytes, more: bytes) -> bytes:
        with place.connect() as connection:
            connection.sendall(first)
            for _ in range(90):
                try:
                    connection.sendall(more)
                except OSError:
                    return b"closed"
                time.sleep(0.1)
        return b"still open"

    def silent() -> bytes:
        return place.ask()

    def slow_header() -> bytes:
        return trickled(GET, b"x: y\r\n")

    def stopped_header() -> bytes:
        return place.ask(GET)

    def stopped_body() -> bytes:
        return place.ask(b"POST / HTTP/1.1\r\nContent-Length: 1000\r\n\r\n" + b"x" * 10)

    def trickling_body() -> bytes:
        return trickled(b"POST / HTTP/1.1\r\nContent-Length: 100000\r\n\r\n", b"x" * 10)

    def unread() -> bytes:
        with place.connect() as connection:
            connection.sendall(b"GET /large HTTP/1.1\r\nConnection: close\r\n\r\n")
            time.sleep(3.5)
            try:
                values = rest_of(connection)
            except ConnectionResetError:
                return b"closed"
            assert len(values) < LARGE
        return b"closed"

    def patient() -> bytes:
        return place.ask(b"GET /slow HTTP/1.1\r\nConnection: close\r\n\r\n")

    asked: Sequence[Callable[[], bytes]] = (
        *(silent, slow_header, stopped_header, stopped_body, trickling_body, unread, patient),
    )
    before = place.seen.count("left")
    with ThreadPoolExecutor(len(asked)) as threads:
        values = {
            each.__name__: answer for each, answer in zip(asked, threads.map(lambda each: each(), asked), strict=True)
        }
    assert error_of(values["stopped_header"]) == error_of(values["stopped_body"]) == (408, "request_timeout")
    assert values["silent"] == b""
    assert values["slow_header"] == values["trickling_body"] == values["unread"] == b"closed"
    assert values["patient"].endswith(b"at last")
    assert place.seen.count("left") == before + 2


def test_a_steady_body_may_take_longer_than_any_clock(place: Place) -> None:
    with place.connect() as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nConnection: close\r\nContent-Length: 18000\r\n\r\n")
        for _ in range(18):
            connection.sendall(b"x" * 1_000)
            time.sleep(0.1)
        assert rest_of(connection).endswith(b"\r\n\r\n18000")


def test_half_open_connections_make_room_and_those_at_work_do_not(place: Place) -> None:
    with ExitStack() as held:
        working = held.enter_context(place.connect())
        place.hold(working)
        for _ in range(3 * SHORT.connections):
            held.enter_context(place.connect()).sendall(b"GET / HTTP/1.1\r\n")
        assert place.ask(LAST).startswith(b"HTTP/1.1 200")
        place.release.set()
        assert rest_of(working).endswith(b"at last")


def test_when_all_are_at_work_one_more_is_refused_and_those_go_on(place: Place) -> None:
    with ExitStack() as held:
        working = [held.enter_context(place.connect()) for _ in range(SHORT.connections)]
        place.hold(*working)
        refused = place.ask(LAST)
        assert error_of(refused) == (503, "unavailable")
        assert b"retry-after: 2" in refused
        place.release.set()
        assert all(rest_of(connection).endswith(b"at last") for connection in working)
    assert place.ask(LAST).startswith(b"HTTP/1.1 200")


def test_only_some_of_the_connections_may_be_pages(place: Place) -> None:
    with ExitStack() as held:
        pages = [held.enter_context(place.connect()) for _ in range(SHORT.websockets)]
        for connection in pages:
            connection.sendall(upgrade())
            assert connection.recv(4_096).startswith(b"HTTP/1.1 101")
        assert error_of(place.ask(upgrade())) == (503, "unavailable")
        time.sleep(2.2)  # longer than any clock: an open page has none
        pages[0].sendall(b"\x81\x82\x00\x00\x00\x00ok")
        assert pages[0].recv(4_096) == b"\x81\x02ok"
    assert eventually(lambda: place.seen.count("closed") == SHORT.websockets)


def test_the_bound_follows_from_the_files_that_may_be_open() -> None:
    assert [limits_for(files).connections for files in (256, 1_024, 20_000)] == [64, 512, 1_024]


# ---- the real processes ----------------------------------------------------------------------------------------------


# Both commands serve in the same way; the first serves the workbench too.
@pytest.fixture(scope="module", params=sized(["traitbench serve"], ["traitbench", "traitbench serve"]))
def started(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """Begun with few files, as a desk gives them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    try:
        home = tmp_path_factory.mktemp("connections")
        with serving(home, *request.param.split()[1:]) as process:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4_096), hard))
            yield process
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def peak_of(started: Started) -> float:
    """The most memory that the serving process ever had, in MiB."""
    status = Path(f"/proc/{started.process.pid}/status").read_text()
    return float(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def test_eleven_hundred_half_open_connections_and_a_long_address_change_nothing(started: Started) -> None:
    with ExitStack() as held:
        for _ in range(1_100):
            connection = held.enter_context(socket.create_connection(("127.0.0.1", started.port), timeout=PATIENCE_S))
            connection.sendall(b"POST /v1/models HTTP/1.1\r\n")
        assert started.get("/v1/health")[0] == 200
        with started.client() as client:
            assert client.models.list(namespace="local").items == []
        with socket.create_connection(("127.0.0.1", started.port), timeout=PATIENCE_S) as connection:
            with suppress(OSError):  # it need not read all of it
                connection.sendall(b"GET /v1/" + b"a" * 16 * MEBIBYTE)
            assert error_of(rest_of(connection)) == (414, "url_too_long")
        assert started.get("/v1/health")[0] == 200


def test_memory_is_bounded_and_a_score_is_answered_beside_too_much_of_everything(started: Started) -> None:
    """Long texts, explanations, batches and samples, each as large as they may be and far more than are taken."""
    handle = "local.flood"
    with started.client() as client:
        client.models.create(handle, max_depth=3)
        client.traits.add(handle, [TraitInput(name="Warmth")])
        poles = [(text, 1.0) for text in WARM] + [(text, 0.0) for text in COLD]
        client.samples.add(handle, [SampleInput(trait="warmth", text=text, quality=quality) for text, quality in poles])
        client.models.create("local.draft")
        client.traits.add("local.draft", [TraitInput(name="Warmth")])
        train(client, handle)
    key = (started.home / "first.key").read_text("utf-8").strip()
    sentence = "The committee thanked everyone for a long evening of questions about roads. "
    long = (sentence * 4_000)[:100_000]  # fewer words than are too many for one text
    floods = {
        f"{handle}/score": json.dumps({"content": long}),
        f"{handle}/score?": json.dumps({"content": long[:30_000], "explain": True}),
        f"{handle}/score/batch": json.dumps({"contents": [long[: 9_000 + place] for place in range(1_000)]}),
        "local.draft/samples": json.dumps(
            {"samples": [{"trait": "warmth", "text": long[:20_000], "quality": 1}] * 500}
        ),
    }
    answers: list[int] = []
    enough, asking = threading.Event(), set[http.client.HTTPConnection]()

    def flood(path: str) -> None:
        while not enough.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", started.port, timeout=PATIENCE_S)
            asking.add(connection)
            headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
            try:
                connection.request("POST", f"/v1/models/{path.rstrip('?')}", floods[path].encode(), headers)
                answer = connection.getresponse()
                answers.append(answer.status)
                while not enough.is_set() and answer.read(4_096):
                    pass
            except (OSError, http.client.HTTPException):
                assert enough.is_set()
            finally:
                asking.discard(connection)
                connection.close()

    with ThreadPoolExecutor(32) as threads:
        flooding = [threads.submit(flood, [*floods][number % len(floods)]) for number in range(32)]
        try:
            with started.client() as client:
                assert eventually(lambda: 503 in answers)
                for number in range(10):
                    assert client.scores.score(handle, f"How kind of you, number {number}.").scores
        finally:
            enough.set()
            for connection in list(asking):
                if connection.sock is not None:
                    connection.sock.shutdown(socket.SHUT_RDWR)
    for each in flooding:
        each.result()
    assert set(answers) <= {200, 413, 503}
    assert peak_of(started) < 1_536
    with started.client() as client:
        assert client.scores.score(handle, "How kind of you.").scores

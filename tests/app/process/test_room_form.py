"""The form of a room: who reaches it, what it says, and that a text leaves no trace."""

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from starlette.types import Message, Receive, Scope, Send

from traitbench.settings import Settings
from traitbench_app.process.room_form import RoomForm
from traitbench_app.process.sign_in import SignIn
from traitbench_app.workspace import rooms
from traitbench_app.workspace.rooms import LONGEST, Room

SECRET = "A text that only the presenter should see <b>"


@pytest.fixture
def room() -> Iterator[Room]:
    room = rooms.open_room()
    yield room
    rooms.close(room.token)


@pytest.fixture
def form(here: Settings) -> RoomForm:
    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError(f"{scope['path']} was let in")

    return RoomForm(SignIn(inside, here, secret="the secret"), replace(here, proxies=("10.0.0.1",)))


def ask(
    form: RoomForm, path: str, text: str | None = None, *, method: str = "", peer: str = "192.0.2.1", **headers: str
) -> tuple[int, dict[str, str], str]:
    """Status, headers and body of an answer."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": urlencode({"text": text}).encode() if text is not None else b""}

    raw = [
        (b"host", b"localhost"),
        *((name.replace("_", "-").encode(), each.encode()) for name, each in headers.items()),
    ]
    scope = {"type": "http", "method": method or ("GET" if text is None else "POST"), "path": path, "headers": raw}
    asyncio.run(form({**scope, "query_string": b"", "client": (peer, 1)}, receive, send))
    given = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], given, b"".join(each.get("body", b"") for each in sent).decode()


def test_a_text_is_accepted_without_a_sign_in_and_waits(form: RoomForm, room: Room) -> None:
    status, headers, page = ask(form, f"/room/{room.token}")
    assert (status, "<form" in page, "Sent" in page) == (200, True, False)
    assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert headers["cache-control"] == "no-store"
    assert "Sent: it waits for the presenter." in ask(form, f"/room/{room.token}", SECRET)[2]
    assert room.take() == SECRET


def test_what_is_not_accepted_is_said_and_stays_in_the_field(form: RoomForm, room: Room) -> None:
    status, _, page = ask(form, f"/room/{room.token}", f"</textarea><b>{'x' * LONGEST}")
    assert (status, "Sent" in page, room.waiting) == (422, False, 0)
    assert f"Send up to {LONGEST}." in page
    assert "&lt;/textarea&gt;&lt;b&gt;xxx" in page


@pytest.mark.parametrize("path", ["/room/", "/room/unknown", "/room/unknown/more"])
def test_a_room_that_is_not_open_takes_nothing(form: RoomForm, path: str) -> None:
    for text in (None, SECRET):
        status, _, page = ask(form, path, text)
        assert (status, "<form" in page, "closed" in page) == (404, False, True)


def test_other_paths_and_methods_stay_closed(form: RoomForm, room: Room) -> None:
    assert ask(form, "/score", accept="text/html")[0] == 303  # to the sign-in
    assert ask(form, f"/room/{room.token}", method="DELETE")[0] == 405


def test_addresses_behind_a_proxy_are_limited_one_by_one(form: RoomForm, room: Room) -> None:
    path = f"/room/{room.token}"
    for client, accepted in (("198.51.100.1", 30), ("198.51.100.2", 30)):
        answers = [
            ask(form, path, "text", peer="10.0.0.1", x_forwarded_for=client)[0]
            for _ in range(31)
            if room.take() or True
        ]
        assert answers == [200] * accepted + [422]


def test_a_text_leaves_no_trace(form: RoomForm, room: Room, caplog: pytest.LogCaptureFixture, here: Settings) -> None:
    with caplog.at_level(logging.DEBUG):
        ask(form, f"/room/{room.token}", SECRET)
    assert SECRET not in caplog.text
    assert room.token not in caplog.text
    assert not [file for file in here.home.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]

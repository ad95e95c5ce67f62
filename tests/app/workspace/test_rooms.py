"""Rooms: what they accept and how much of it, in which order texts wait, and when they close."""

from collections.abc import Iterator

import pytest

from traitbench_app.workspace import rooms
from traitbench_app.workspace.rooms import LONGEST, MOST_WAITING, NotAccepted, Room


class Clock:
    """A clock that a test sets."""

    now = 1_000.0

    def monotonic(self) -> float:
        """The time."""
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(rooms, "time", clock)
    return clock


@pytest.fixture
def room(clock: Clock) -> Iterator[Room]:
    room = rooms.open_room()
    yield room
    rooms.close(room.token)


def test_texts_wait_in_order_until_they_are_taken(room: Room) -> None:
    for each in ("first", " second\r\nline "):
        room.send(each, "a")
    assert (room.first(), room.waiting) == ("first", 2)
    assert [room.take(), room.take(), room.take()] == ["first", "second\nline", None]


@pytest.mark.parametrize(("text", "says"), [(" \n", "Write a text"), ("x" * (LONGEST + 1), "501 characters")])
def test_an_empty_or_long_text_is_not_accepted(room: Room, text: str, says: str) -> None:
    with pytest.raises(NotAccepted, match=says):
        room.send(text, "a")
    assert room.waiting == 0


def test_one_address_a_minute_and_the_whole_room_are_limited(room: Room, clock: Clock) -> None:
    accepted = dict.fromkeys("abcd", 0)
    for address in accepted:
        for _ in range(50):
            try:
                room.send("text", address)
                accepted[address] += 1
            except NotAccepted:
                pass
            room.take()
    assert accepted == {"a": 30, "b": 30, "c": 30, "d": 0}
    clock.now += 61
    room.send("text", "d")


def test_no_more_texts_wait_than_somebody_reads(room: Room) -> None:
    for number in range(MOST_WAITING):
        room.send("text", f"address {number}")
    with pytest.raises(NotAccepted, match="Too many"):
        room.send("text", "another address")


@pytest.mark.parametrize(("seen_every", "seconds"), [(10, 3_590), (None, 50)])
def test_a_room_closes_after_an_hour_or_when_its_presentation_is_gone(
    room: Room, clock: Clock, seen_every: int | None, seconds: int
) -> None:
    room.send("text", "a")
    for _ in range(seconds // (seen_every or seconds)):
        clock.now += seen_every or seconds
        if seen_every:
            room.first()
    assert rooms.room_of(room.token) is room
    clock.now += 20
    assert rooms.room_of(room.token) is None


def test_a_closed_room_is_forgotten_and_an_old_one_makes_place(room: Room) -> None:
    rooms.close(room.token)
    assert rooms.room_of(room.token) is None
    opened = [rooms.open_room() for _ in range(21)]
    assert [rooms.room_of(each.token) is not None for each in opened] == [False, *[True] * 20]
    for each in opened:
        rooms.close(each.token)

"""Rooms: texts that an audience sends to a presentation. They wait in memory until the presenter shows or rejects them.

Nothing is written to a disk or a log. A room is open for an hour at most, and only while its presentation is on screen.
"""

import threading
import time
from collections import deque
from dataclasses import dataclass, field
from secrets import token_urlsafe

LONGEST = 500
"""The most characters of a text."""

MOST_WAITING = 50
_OPEN_SECONDS, _UNSEEN_SECONDS = 3600.0, 60.0
_MINUTE, _OF_ADDRESS, _OF_ROOM = 60.0, 30, 90  # one address may be that of a whole room
_MOST_ROOMS = 20


class NotAccepted(Exception):
    """A text is not accepted; the message tells its sender why."""


@dataclass
class Room:
    """An open room. `token` is the secret part of its address."""

    token: str = field(default_factory=lambda: token_urlsafe(16))
    _opened: float = field(default_factory=lambda: time.monotonic())
    _seen: float = field(default_factory=lambda: time.monotonic())
    _waiting: deque[str] = field(default_factory=deque)
    _accepted: deque[tuple[float, str]] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def send(self, text: str, address: str) -> None:
        """Let a text from an address wait; raise `NotAccepted`."""
        text = text.replace("\r\n", "\n").strip()
        if not text:
            raise NotAccepted("Write a text first.")
        if len(text) > LONGEST:
            raise NotAccepted(f"The text has {len(text):,} characters. Send up to {LONGEST}.")
        now = time.monotonic()
        with self._lock:
            while self._accepted and now - self._accepted[0][0] > _MINUTE:
                self._accepted.popleft()
            own = sum(each == address for _, each in self._accepted)
            if own >= _OF_ADDRESS or len(self._accepted) >= _OF_ROOM or len(self._waiting) >= MOST_WAITING:
                raise NotAccepted("Too many texts have arrived. Try again in a minute.")
            self._accepted.append((now, address))
            self._waiting.append(text)

    def first(self) -> str | None:
        """The text that waits longest. The presentation asks for it, which keeps the room open."""
        with self._lock:
            self._seen = time.monotonic()
            return self._waiting[0] if self._waiting else None

    def take(self) -> str | None:
        """The text that waits longest, which waits no longer."""
        with self._lock:
            return self._waiting.popleft() if self._waiting else None

    @property
    def waiting(self) -> int:
        """How many texts wait."""
        return len(self._waiting)

    @property
    def is_over(self) -> bool:
        """Whether its hour is over, or its presentation is no longer on screen."""
        now = time.monotonic()
        return now - self._opened > _OPEN_SECONDS or now - self._seen > _UNSEEN_SECONDS


_rooms: dict[str, Room] = {}
_lock = threading.Lock()


def open_room() -> Room:
    """Open a room; the oldest is closed if there are too many."""
    room = Room()
    with _lock:
        for token in [token for token, each in _rooms.items() if each.is_over] or [*_rooms][: 1 - _MOST_ROOMS]:
            del _rooms[token]
        _rooms[room.token] = room
    return room


def close(token: str) -> None:
    """Close a room and forget its texts."""
    with _lock:
        _rooms.pop(token, None)


def room_of(token: str) -> Room | None:
    """Return the open room with a token."""
    room = _rooms.get(token)
    if room is not None and room.is_over:
        close(token)
        return None
    return room

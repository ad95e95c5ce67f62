"""The room of a presentation: its address as a QR code, and the texts that it sent. They are in memory only.

It is closed until the presenter opens it, and only where the operator has named its address (`TRAITBENCH_ROOM_URL`).
"""

from typing import Any

import segno

from traitbench.display.text import count, shortened
from traitbench.settings import read_settings
from traitbench_app.shell import session
from traitbench_app.workspace.rooms import Room, close, open_room, room_of

POLL_SECONDS = 2.0

_ROOM, _SHOWN = "present.room", "present.room_text"


def room() -> Room | None:
    """The room that this presentation has opened."""
    return room_of(session.get(_ROOM, ""))


def for_browser() -> dict[str, Any]:
    """Return what the browser draws of the room; empty if no room can be opened."""
    url, is_open = read_settings().room_url, room()
    if not url:
        return {}
    if is_open is None:
        return {"open": False}
    address = f"{url}/room/{is_open.token}"
    code = segno.make(address, error="m", micro=False).svg_inline(dark="#000", light="#fff", omitsize=True)
    text = is_open.first() or ""
    begins = shortened(text, min(40, len(" ".join(text.split()[:3])) + 2))  # three words: the room reads them too
    waiting = f"{is_open.waiting} sent: “{begins}” ({count(len(text), 'character')})" if text else ""
    return {"open": True, "address": address, "code": code, "waiting": waiting}


def act(kind: str) -> str | None:
    """Open or close the room, or reject the text that waits first; return that text if it is to be shown."""
    is_open = room()
    if kind == "open" and is_open is None and read_settings().room_url:
        session.store(_ROOM, open_room().token)
    elif kind == "close" and is_open:
        close(is_open.token)
    elif kind in ("show", "reject") and is_open:
        text = is_open.take()
        if kind == "show":
            session.store(_SHOWN, text)
            return text
    return None


def leave(*fields: str) -> None:
    """Close the room, and empty these fields if they have the text that it sent last: the page would keep it."""
    act("close")
    for each in fields:
        if session.get(_SHOWN) and session.get(each) == session.get(_SHOWN):
            session.store(each, "")
    session.store(_SHOWN, None)

"""The page on which an audience sends texts to a presentation: a plain form without script, at a secret address.

It needs no sign-in and shows nothing of the workbench. Texts are kept in memory only (`workspace/rooms.py`).
"""

import base64
import hashlib
from html import escape
from ipaddress import ip_network
from pathlib import Path
from string import Template

from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from traitbench.service.addresses import client_address
from traitbench.settings import Settings
from traitbench_app.process.sign_in import read_form
from traitbench_app.workspace.rooms import LONGEST, NotAccepted, room_of

PATH = "/room/"

_FOLDER = Path(__file__).with_name("static")
_STYLE = (_FOLDER / "sign_in.css").read_text("utf-8")
_PAGE = Template((_FOLDER / "room.html").read_text("utf-8"))
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
}


class RoomForm:
    """Answers requests below `/room/`, and passes all others on."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._proxies = [ip_network(each) for each in settings.proxies]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the form, accept a text, or let the application answer."""
        if scope["type"] != "http" or not scope["path"].startswith(PATH):
            await self._app(scope, receive, send)
            return
        await (await self._answer(scope, receive))(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive) -> Response:
        room = room_of(scope["path"].removeprefix(PATH))
        if room is None:
            return _page("This room is closed.", status=404)
        if scope["method"] in ("GET", "HEAD"):
            return _page("", is_open=True)
        if scope["method"] != "POST":
            return PlainTextResponse("Method Not Allowed", 405, {"Allow": "GET, HEAD, POST"})
        text = (await read_form(receive)).get("text", [""])[0]
        try:
            room.send(text, client_address(scope, self._proxies))
        except NotAccepted as refusal:
            return _page(str(refusal), is_open=True, text=text, status=422)
        return _page("Sent: it waits for the presenter.", is_open=True)


def _page(notice: str, *, is_open: bool = False, text: str = "", status: int = 200) -> Response:
    form = (
        '<form method="post"><label for="text">Your text</label>'
        f'<textarea id="text" name="text" rows="6" maxlength="{LONGEST}" required autofocus dir="auto">\n{escape(text)}'
        '</textarea><button type="submit">Send</button></form>'
        f"<p>Up to {LONGEST} characters. The presenter decides what is shown to the room. Nothing is stored.</p>"
    )
    said = f'<p role="status"><strong>{escape(notice)}</strong></p>' if notice else ""
    return HTMLResponse(
        _PAGE.substitute(style=_STYLE, said=said, form=form if is_open else ""), status, headers=_HEADERS
    )

"""Streamlit's WebSocket without a browser: a page is asked for as a tab does, and its messages are read to the end."""

import time
from contextlib import ExitStack
from types import TracebackType

import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from tests.patience import PATIENCE_S


class Tab:
    """A tab that stays open and goes from page to page."""

    def __init__(self, port: int) -> None:
        self._base_url = f"http://127.0.0.1:{port}"
        own = Origin(self._base_url)
        address, spoken = f"ws://127.0.0.1:{port}/_stcore/stream", [Subprotocol("streamlit")]
        self._open = ExitStack()
        self._socket = self._open.enter_context(
            connect(address, origin=own, subprotocols=spoken, max_size=None, proxy=None)
        )

    def __enter__(self) -> "Tab":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def messages(self, page: str, query: str = "") -> list[ForwardMsg]:
        """Every message of one run of a page, the last of which says that the script has finished."""
        return self._answers(_asking(page, query))

    def upload(self, page: str, query: str, name: str, content: bytes) -> list[ForwardMsg]:
        """Drop a file on the first uploader of a page; every message of the run that reads it."""
        session = uploader = ""
        for message in self.messages(page, query):
            session = message.new_session.initialize.session_id or session
            uploader = uploader or message.delta.new_element.file_uploader.id
        assert uploader, "the page has no uploader"
        with httpx.Client(base_url=self._base_url, timeout=PATIENCE_S, trust_env=False) as browser:
            browser.get("/_stcore/health")
            token = browser.cookies["_streamlit_xsrf"]
            address, headers = f"/_stcore/upload_file/{session}/{name}", {"X-Xsrftoken": token}
            sent = browser.put(address, files={"file": (name, content)}, headers=headers)
            assert sent.status_code == 204, sent.text
        ask = _asking(page, query)
        state = ask.rerun_script.widget_states.widgets.add()
        state.id = uploader
        state.file_uploader_state_value.uploaded_file_info.add(file_id=name, name=name, size=len(content))
        return self._answers(ask)

    def _answers(self, ask: BackMsg) -> list[ForwardMsg]:
        self._socket.send(ask.SerializeToString())
        messages: list[ForwardMsg] = []
        while not (messages and messages[-1].WhichOneof("type") == "script_finished"):
            received = self._socket.recv(timeout=PATIENCE_S, decode=False)
            messages.append(ForwardMsg.FromString(received))
        return messages

    def open(self, page: str, query: str = "") -> float:
        """The seconds that one run of a page takes."""
        began = time.perf_counter()
        self.messages(page, query)
        return time.perf_counter() - began


def _asking(page: str, query: str) -> BackMsg:
    ask = BackMsg()
    ask.rerun_script.page_name = page
    ask.rerun_script.query_string = query
    return ask


def render(port: int, page: str, query: str = "") -> list[ForwardMsg]:
    """Every message of one run of a page in a fresh tab."""
    with Tab(port) as tab:
        return tab.messages(page, query)


def refusal(port: int, *, origin: str) -> int | None:
    """The HTTP status that a handshake of another origin is refused with; None when it is accepted."""
    try:
        with connect(f"ws://127.0.0.1:{port}/_stcore/stream", origin=Origin(origin), proxy=None):
            return None
    except InvalidStatus as refused:
        return refused.response.status_code

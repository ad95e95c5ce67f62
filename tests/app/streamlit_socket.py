"""Streamlit's WebSocket without a browser: a page is asked for as a tab does, and its messages are read to the end."""

import time
from contextlib import ExitStack
from types import TracebackType

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from tests.patience import PATIENCE_S


class Tab:
    """A tab that stays open and goes from page to page."""

    def __init__(self, port: int) -> None:
        own = Origin(f"http://127.0.0.1:{port}")
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
        ask = BackMsg()
        ask.rerun_script.page_name = page
        ask.rerun_script.query_string = query
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

"""Streamlit's WebSocket without a browser: a page is asked for as a tab does, and its messages are read to the end."""

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from tests.patience import PATIENCE_S


def render(port: int, page: str, query: str = "") -> list[ForwardMsg]:
    """Every message of one run of a page, the last of which says that the script has finished."""
    address = f"ws://127.0.0.1:{port}/_stcore/stream"
    own = Origin(f"http://127.0.0.1:{port}")
    with connect(address, origin=own, subprotocols=[Subprotocol("streamlit")], max_size=None, proxy=None) as socket:
        ask = BackMsg()
        ask.rerun_script.page_name = page
        ask.rerun_script.query_string = query
        socket.send(ask.SerializeToString())
        messages: list[ForwardMsg] = []
        while not (messages and messages[-1].WhichOneof("type") == "script_finished"):
            received = socket.recv(timeout=PATIENCE_S, decode=False)
            messages.append(ForwardMsg.FromString(received))
        return messages


def refusal(port: int, *, origin: str) -> int | None:
    """The HTTP status that a handshake of another origin is refused with; None when it is accepted."""
    try:
        with connect(f"ws://127.0.0.1:{port}/_stcore/stream", origin=Origin(origin), proxy=None):
            return None
    except InvalidStatus as refused:
        return refused.response.status_code

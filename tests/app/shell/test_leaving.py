"""A tab with an uploaded file is closed: what it has of the file is gone soon, unless the tab comes back."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.modules import ROOT
from tests.patience import PATIENCE_S

# The real uploader, in a process of its own because Streamlit has one runtime for each.
PROGRAM = """
import gc, os, sys, time, weakref
from pathlib import Path
import streamlit as st
from starlette.testclient import TestClient
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import get_instance
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from traitbench_app.shell import leaving

leaving.AWAY_S = float(sys.argv[2])
page = Path(sys.argv[1])
page.write_text('''
import streamlit as st
from traitbench_app.parts.upload import upload_table
upload = upload_table("form", empty=lambda: None)
if upload:
    st.write(f"{upload.source.count} texts")
''')

class Tab:
    def __init__(self, client, session="", uploader=""):
        spoken = ["streamlit", "token", session] if session else ["streamlit"]
        self.socket = client.websocket_connect("/_stcore/stream", subprotocols=spoken)
        self.socket.__enter__()
        self.session, self.uploader, self.said = session, uploader, []

    def run(self, file=""):
        ask = BackMsg()
        ask.rerun_script.page_name = ""
        if file:
            state = ask.rerun_script.widget_states.widgets.add()
            state.id = self.uploader
            state.file_uploader_state_value.uploaded_file_info.add(file_id=file, name="texts.csv", size=9)
        self.socket.send_bytes(ask.SerializeToString())
        self.said = []
        while True:
            message = ForwardMsg.FromString(self.socket.receive_bytes())
            kind = message.WhichOneof("type")
            if kind == "new_session":
                self.session = message.new_session.initialize.session_id
            if kind == "delta":
                element = message.delta.new_element
                self.uploader = element.file_uploader.id or self.uploader
                self.said += filter(None, [element.markdown.body or element.alert.body])
            if kind == "script_finished":
                return "".join(self.said[-1:])

    def close(self):
        self.socket.__exit__(None, None, None)

with TestClient(st.App(page)) as client:
    tab = Tab(client)
    tab.run()
    runtime = get_instance()
    runtime.uploaded_file_mgr.add_file(tab.session, UploadedFileRec("one", "texts.csv", "text/csv", b"text\\na\\nb\\n"))
    print(tab.run("one"))
    session = weakref.ref(runtime.get_app_session(tab.session))
    tab.close()
    time.sleep(1)
    back = Tab(client, tab.session, tab.uploader)
    print(back.run("one"))
    gc.collect()
    print(session() is not None, flush=True)
    os._exit(0)  # the test client waits for a runtime that nobody stops
"""


@pytest.mark.parametrize(
    ("away_s", "said", "is_there"),
    [
        ("60", "2 texts", True),
        ("0.2", "The file is not in this session any more. Drop it again.", False),
    ],
)
def test_a_session_with_a_file_ends_soon_after_its_tab(
    tmp_path: Path, away_s: str, said: str, *, is_there: bool
) -> None:
    program = [sys.executable, "-c", PROGRAM, str(tmp_path / "page.py"), away_s]
    environment = os.environ | {"STREAMLIT_SERVER_FILE_WATCHER_TYPE": "none"}
    done = subprocess.run(
        program, cwd=ROOT, env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE_S
    )
    assert done.stdout.splitlines() == ["2 texts", said, str(is_there)]

"""Sessions with a file end soon after their tab was closed.

Streamlit keeps the session of a closed tab for two minutes, and then until another tab is closed. A small file may hold
hundreds of megabytes of rows, which callbacks and fragments refer to, so nothing but the end of the session frees them.
"""

import asyncio

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

AWAY_S = 40.0
"""How long a tab with a file may be without a connection and come back to its session."""

_endings = dict[str, asyncio.TimerHandle]()


def end_soon_after_tab() -> None:
    """End the session of this run `AWAY_S` seconds after its tab was closed, unless the tab is back by then."""
    context = get_script_run_ctx()
    if context is not None:
        _connection(context.session_id)


def _left(session_id: str) -> None:
    """Wait for the tab; Streamlit calls this in its event loop when the connection ends."""
    if waiting := _endings.pop(session_id, None):
        waiting.cancel()
    _endings[session_id] = asyncio.get_running_loop().call_later(AWAY_S, _end, session_id)


def _end(session_id: str) -> None:
    _endings.pop(session_id, None)
    if runtime.exists() and not runtime.get_instance().is_active_session(session_id):
        runtime.get_instance().close_session(session_id)


@st.cache_resource(scope="session", show_spinner=False, on_release=_left)
def _connection(session_id: str) -> str:
    """Return the id; Streamlit forgets it when the connection of the session ends."""
    return session_id

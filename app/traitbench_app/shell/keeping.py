"""What was typed survives an error.

Streamlit drops the value of every widget that a run does not draw, so an error in the middle of a page would empty the
fields below it. `keep_input` puts their values aside. `restore_input` sets them before the next run draws the fields.
"""

from collections.abc import Iterator
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner import get_script_run_ctx

_KEPT = "shell.kept"
_TYPED = frozenset(
    {"string_value", "bool_value", "int_value", "double_value"}
    | {"string_array_value", "int_array_value", "double_array_value"}
)
"""Kinds of values that people enter. Buttons, files and edits of tables cannot be set by a program."""


def keep_input() -> None:
    """Put the values of the fields aside that this run has not drawn; call it when an error ends the run."""
    st.session_state[_KEPT] = {**st.session_state.get(_KEPT, {}), **dict(_not_drawn())}


def restore_input() -> None:
    """Set the values that an error of the run before has put aside; call it before the fields are drawn."""
    for key, value in st.session_state.pop(_KEPT, {}).items():
        try:
            st.session_state[key] = value
        except StreamlitAPIException:
            continue  # a field outside this fragment, which is drawn already


def _not_drawn() -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of the fields that this run has not reached."""
    context = get_script_run_ctx()
    if context is None:
        return
    state, drawn = context.session_state._state, context.shared.widget_ids_this_run.snapshot()
    for key in list(st.session_state):
        widget = state.get_widget_id_from_key(str(key))
        metadata = None if widget is None or widget in drawn else state.get_widget_metadata(widget)
        if metadata is not None and metadata.value_type in _TYPED:
            value = st.session_state[key]
            if not isinstance(value, dict):
                yield str(key), value

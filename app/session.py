"""Everything that is kept between two runs of a page: the names of the keys, their defaults, and how they change.

A session is one browser tab and ends with it, so nothing stands here that the service or the address should know.
Keys of the shell have no prefix, keys of a page begin with the page's name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

MODEL = "model"
"""The shell's model picker, bound to the query parameter of the same name: a handle or None."""

_FLASHES = "flashes"
_ROUNDS = "rounds"
_NEXT_MODEL = "shell.next_model"


@dataclass(frozen=True)
class Flash:
    """A short message that must outlive the rerun which follows an action."""

    text: str
    icon: str


_ICONS = {"done": ":material/check_circle:", "note": ":material/info:", "problem": ":material/error:"}


def flash(text: str, kind: Literal["done", "note", "problem"] = "done") -> None:
    """Say `text` once, in this run or in the next one."""
    st.session_state.setdefault(_FLASHES, []).append(Flash(text, _ICONS[kind]))


def show_flashes() -> None:
    """Draw what waits to be said; the shell calls this once a run."""
    for waiting in st.session_state.pop(_FLASHES, []):
        st.toast(waiting.text, icon=waiting.icon, duration="long")


def next_model(handle: str) -> None:
    """Choose a model for the next run; also a button's callback. A widget can only be set before it is drawn."""
    st.session_state[_NEXT_MODEL] = handle


def take_next_model() -> None:
    """Set the picker, which is about to be drawn, to what was chosen for it."""
    if following := st.session_state.pop(_NEXT_MODEL, None):
        st.session_state[MODEL] = following


def chosen_handle() -> str | None:
    """The handle in the model picker."""
    handle = st.session_state.get(MODEL)
    return handle if isinstance(handle, str) and handle else None


def round_key(form: str) -> str:
    """The key of a form's present round: a form that was sent starts over under a new key, empty."""
    return f"{form}:{st.session_state.get(_ROUNDS, {}).get(form, 0)}"


def next_round(form: str) -> None:
    """Empty a form after what was typed has arrived."""
    rounds: dict[str, int] = st.session_state.setdefault(_ROUNDS, {})
    rounds[form] = rounds.get(form, 0) + 1


def kept(key: str, default: Any = None) -> Any:
    """A value kept under a page's key."""
    return st.session_state.get(key, default)


def keep(key: str, value: Any) -> None:
    """Keep a value; None forgets it."""
    if value is None:
        st.session_state.pop(key, None)
    else:
        st.session_state[key] = value


def put(values: Mapping[str, Any]) -> None:
    """Set widgets by their keys; a button's callback."""
    for key, value in values.items():
        st.session_state[key] = value


def on_screen(key: str, default: str) -> str:
    """What a widget bound to the address shows or, before it is drawn for the first time, is about to show."""
    value = st.session_state.get(key, st.query_params.get(key))
    return value if isinstance(value, str) and value else default

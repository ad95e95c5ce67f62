"""State between two runs of a page: session keys, defaults and changes.

A session is one browser tab and ends with it. State that belongs to the service or the address is not stored here. Keys
of the shell have no prefix; keys of a page begin with the page's name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import streamlit as st

T = TypeVar("T")

MODEL = "model"
"""The key of the model picker, bound to the query parameter of the same name: a handle or None."""

FOLLOWED = "open"
"""The query parameter of a link to a model, because a link cannot set the one that is bound to the picker."""

KNOWN_MODELS = "shell.models"
"""The models that the picker of the shell listed in this run."""

_FLASHES = "flashes"
_ROUNDS = "rounds"
_NEXT_MODEL = "shell.next_model"


@dataclass(frozen=True)
class Flash:
    """A short message that survives the rerun after an action."""

    text: str
    icon: str


_ICONS = {"done": ":material/check_circle:", "note": ":material/info:", "problem": ":material/error:"}


def flash(text: str, kind: Literal["done", "note", "problem"] = "done") -> None:
    """Show `text` once, in this run or the next one."""
    st.session_state.setdefault(_FLASHES, []).append(Flash(text, _ICONS[kind]))


def show_flashes() -> None:
    """Show the pending messages; the shell calls this once per run."""
    for waiting in st.session_state.pop(_FLASHES, []):
        st.toast(waiting.text, icon=waiting.icon, duration="long")


def next_model(handle: str) -> None:
    """Choose a model for the next run, because a widget can only be set before it is drawn. Also a callback."""
    st.session_state[_NEXT_MODEL] = handle


def take_next_model() -> None:
    """Set the picker to the model of `next_model`, or of the link that was followed, before it is drawn."""
    following = st.session_state.pop(_NEXT_MODEL, None) or st.query_params.get(FOLLOWED)
    # Otherwise a reload would choose that model again.
    if FOLLOWED in st.query_params:
        del st.query_params[FOLLOWED]
    if following:
        # Streamlit writes into the address only what a picker that was drawn before is set to.
        if MODEL not in st.session_state:
            st.query_params[MODEL] = following
        st.session_state[MODEL] = following


def chosen_handle() -> str | None:
    """Return the handle in the model picker, or None."""
    handle = st.session_state.get(MODEL)
    return handle if isinstance(handle, str) and handle else None


def round_key(form: str) -> str:
    """Return the current key of a form. After submission, the key changes, so that the form is empty again."""
    return f"{form}:{st.session_state.get(_ROUNDS, {}).get(form, 0)}"


def next_round(form: str) -> None:
    """Clear a form after its input was saved."""
    rounds: dict[str, int] = st.session_state.setdefault(_ROUNDS, {})
    rounds[form] = rounds.get(form, 0) + 1


def get(key: str, default: Any = None) -> Any:
    """Return a stored value."""
    return st.session_state.get(key, default)


def store(key: str, value: Any) -> None:
    """Store a value; None removes it."""
    if value is None:
        st.session_state.pop(key, None)
    else:
        st.session_state[key] = value


def once(key: str, about: object, make: Callable[[], T]) -> T:
    """Return what `make` returns; it is called again only if `about` differs from that of the call before."""
    stored: tuple[object, T] | None = st.session_state.get(key)
    if stored is None or stored[0] != about:
        stored = st.session_state[key] = (about, make())
    return stored[1]


def put(values: Mapping[str, Any]) -> None:
    """Set widgets by their keys; used as a button's callback."""
    for key, value in values.items():
        st.session_state[key] = value


def on_screen(key: str, default: str) -> str:
    """Return the value of a widget that is bound to the address, even before it is drawn."""
    value = st.session_state.get(key, st.query_params.get(key))
    return value if isinstance(value, str) and value else default

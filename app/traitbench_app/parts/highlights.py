"""A text with the words that decided its score, by the reasons of one version."""

from typing import Any

import streamlit as st

from traitbench.contract.explanations import Explanation
from traitbench.display.reasons import highlighted
from traitbench.display.text import is_address, shortened
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt, client

_KNOWN = "highlights.explained"
_MOST_KNOWN = 64
_LONGEST = 2_000


def draw_highlighted(pinned: str, trait: str, text: str) -> None:
    """Draw the text with the highlights of a pinned version; without them if it is an address or cannot be scored."""
    if is_address(text):
        st.text(text)
        return
    with st.spinner("Finding the reasons", show_time=True), attempt() as asking:
        reasons = explained(pinned, trait, text)
    if not asking.done or reasons is None:
        st.text(shortened(text, _LONGEST))
        return
    st.html(highlighted(reasons, text, by_pieces=any(part.pieces for part in reasons.parts)))


def explained(pinned: str, trait: str, text: str) -> Explanation | None:
    """The reasons of a pinned version for one trait, kept for the last few texts."""
    return kept((pinned, trait, text), lambda: _ask(pinned, trait, text))  # type: ignore[no-any-return]


def kept(asked: tuple[str, ...], ask: Any) -> Any:
    """The answer to a question, asked once per session and kept while it is among the last few."""
    known: dict[tuple[str, ...], Any] = session.get(_KNOWN, {})
    if asked not in known:
        known = {**dict(list(known.items())[1 - _MOST_KNOWN :]), asked: ask()}
        session.store(_KNOWN, known)
    return known[asked]


def _ask(pinned: str, trait: str, text: str) -> Explanation | None:
    card = client().scores.score(pinned, text, traits=[trait], explain=True)
    return (card.explanation or {}).get(trait)

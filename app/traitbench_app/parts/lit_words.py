"""The words of a text that pull towards a pole, highlighted in the text; on by default where that is quick."""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from traitbench.contract.explanations import Explanation
from traitbench.display.colours import NEGATIVE_SIGN, POSITIVE_SIGN
from traitbench.display.reasons import highlighted, strongest
from traitbench.display.text import plain, shortened
from traitbench_app.shell import session

ON, TRAIT = "score.highlight", "score.trait"
QUICK_S = 0.5
"""Texts that take longer than this are highlighted on request."""

_CHOSEN, _SLOW_FROM, _KEPT = "score.highlight_chosen", "score.slow_from", "score.highlights"
_LONGEST = 1_500
_MOST_KEPT = 16
_MOST_IN_PILLS = 36  # characters
_EXCERPT = 40

Explain = Callable[[str], Mapping[str, Explanation]]


def pick_highlights(keys: Sequence[str], names: Mapping[str, str], texts: Sequence[str], *, quick: bool) -> str | None:
    """Draw the switch and the choice of a trait; return the trait whose words are highlighted, None for none.

    Without a choice of the user, texts are highlighted if that is `quick` and they are short enough for it.
    """
    chosen = session.get(_CHOSEN)
    session.store(ON, quick and are_quick(texts) if chosen is None else chosen)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        on = st.toggle(
            "Highlight words",
            key=ON,
            on_change=_choose,
            help="Shows which words pull the score towards which pole: by colour, by underline and in the line below.",
        )
        if not on or not keys:
            return None
        if len(keys) == 1:
            return keys[0]
        trait = _pick_trait(keys, names)
    return trait if trait in keys else keys[0]


def are_quick(texts: Sequence[str]) -> bool:
    """Whether the texts are short enough to be explained while someone types."""
    slow_from: int = session.get(_SLOW_FROM, _LONGEST)
    return sum(map(len, texts)) < min(slow_from, _LONGEST)


def highlights_of(text: str, source: str, explain: Explain) -> Mapping[str, Explanation]:
    """Return the explanation by trait; of the last texts from memory. `source` identifies what scores."""
    asked = hashlib.sha256(f"{source}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
    kept: dict[str, Mapping[str, Explanation]] = session.get(_KEPT, {})
    if asked not in kept:
        started = time.perf_counter()
        kept = dict([*kept.items()][1 - _MOST_KEPT :]) | {asked: explain(text)}
        session.store(_KEPT, kept)
        _time(len(text), time.perf_counter() - started)
    return kept[asked]


def draw_highlighted(explanation: Explanation, text: str, poles: tuple[str, str]) -> None:
    """Draw the text with its words highlighted, and those that count most in a sentence."""
    by_pieces = any(part.pieces for part in explanation.parts)
    st.html(highlighted(explanation, text, by_pieces=by_pieces))
    draw_strongest(explanation, text, poles)


def draw_strongest(explanation: Explanation, text: str, poles: tuple[str, str]) -> None:
    """Draw the words that count most in a sentence."""
    said = [
        f"{sign} **{plain(pole)}**: {', '.join(plain(shortened(each, _EXCERPT)) for each in words)}"
        for sign, pole, words in (
            (POSITIVE_SIGN, poles[1], strongest(explanation, text, positive=True)),
            (NEGATIVE_SIGN, poles[0], strongest(explanation, text, positive=False)),
        )
        if words
    ]
    st.caption(" · ".join(said) or "No word points to either pole.")


def _pick_trait(keys: Sequence[str], names: Mapping[str, str]) -> str | None:
    """Draw short names side by side, and others in a list."""
    label = "Trait to highlight"
    if sum(len(names.get(key, key)) for key in keys) > _MOST_IN_PILLS:
        return st.selectbox(
            label,
            keys,
            format_func=lambda key: names.get(key, key),
            key=f"{TRAIT}:list",
            label_visibility="collapsed",
            width=240,
            persist_state="session",
        )
    return st.pills(
        label,
        keys,
        format_func=lambda key: plain(names.get(key, key)),
        default=keys[0],
        required=True,
        key=TRAIT,
        label_visibility="collapsed",
        persist_state="session",
    )


def _choose() -> None:
    session.store(_CHOSEN, session.get(ON))


def _time(length: int, seconds: float) -> None:
    """Remember from which length on texts take too long."""
    slow_from = session.get(_SLOW_FROM, _LONGEST)
    if seconds > QUICK_S:
        session.store(_SLOW_FROM, min(slow_from, length))
    elif length >= slow_from:
        session.store(_SLOW_FROM, length + 1)

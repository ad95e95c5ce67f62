"""Why a text has its score: the words that decide, lit in the text and in a sentence; the same from every page.

There is one explanation of a score, that of the service. Its parts add up to the score.
"""

import hashlib
import time
from collections.abc import Mapping, Sequence

import streamlit as st

from traitbench.contract.explanations import Explanation
from traitbench.display.colours import SIDES
from traitbench.display.reasons import highlighted, strongest
from traitbench.display.text import is_address, isolated, plain, shortened
from traitbench_app.parts.scorer import PageScorer
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt

QUICK_S = 0.5
"""Texts that take longer than this are explained on request."""

_KNOWN, _SLOW_FROM = "reasons.known", "reasons.slow_from"
_MOST_KNOWN = 64
_LONG = 1_500  # characters
_LONGEST_SHOWN, _EXCERPT = 2_000, 40


def reasons_of(scorer: PageScorer, text: str) -> Mapping[str, Explanation]:
    """Return the explanation by trait; of the last texts from memory. Raise the service's errors."""
    asked = hashlib.sha256(f"{scorer.identity}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
    known: dict[str, Mapping[str, Explanation]] = session.get(_KNOWN, {})
    if asked not in known:
        started = time.perf_counter()
        known = dict([*known.items()][1 - _MOST_KNOWN :]) | {asked: scorer.explain(text)}
        session.store(_KNOWN, known)
        _time(len(text), time.perf_counter() - started)
    return known[asked]


def are_quick(texts: Sequence[str]) -> bool:
    """Whether the texts are short enough to be explained while someone types."""
    slow_from: int = session.get(_SLOW_FROM, _LONG)
    return sum(map(len, texts)) < min(slow_from, _LONG)


def by_words(explanation: Explanation) -> bool:
    """Whether words or phrases of the text were analysed, not only sentences."""
    return any(part.pieces for part in explanation.parts)


def draw_highlighted(scorer: PageScorer, trait: str, text: str) -> None:
    """Draw the text with its words highlighted; without them if it is an address or cannot be scored."""
    reasons = None
    if not is_address(text):
        with st.spinner("Finding the reasons", show_time=True), attempt():
            reasons = reasons_of(scorer, text).get(trait)
    if reasons is None:
        st.text(shortened(text, _LONGEST_SHOWN))
    else:
        st.html(highlighted(reasons, text, by_pieces=by_words(reasons)))


def draw_strongest(explanation: Explanation, text: str, poles: tuple[str, str], *, name: str = "") -> None:
    """Draw the words that count most: `**Warmth**: “hoped for” pulls towards warm; “not covered” towards cold.`

    Among several traits, `name` says which one it is about.
    """
    said = list[str]()
    for positive, pole in zip((True, False), reversed(poles), strict=True):
        words = [_quoted(each) for each in strongest(explanation, text, positive=positive)]
        if words:
            pull = "" if said else " pull" if len(words) > 1 else " pulls"
            said.append(f"{_listed(words)}{pull} towards :{SIDES[positive].badge}[**{plain(pole)}**]")
    about = f"**{plain(shortened(name, _EXCERPT))}**: " if name else ""
    st.markdown(about + (f"{'; '.join(said)}." if said else "no word points to either pole."))


def _quoted(words: str) -> str:
    return f"“{isolated(plain(shortened(words, _EXCERPT)))}”"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _time(length: int, seconds: float) -> None:
    """Remember from which length on texts take too long."""
    slow_from = session.get(_SLOW_FROM, _LONG)
    if seconds > QUICK_S:
        session.store(_SLOW_FROM, min(slow_from, length))
    elif length >= slow_from:
        session.store(_SLOW_FROM, length + 1)

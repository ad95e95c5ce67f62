"""Why a text has its score: the words that decide, lit in the text and in a sentence; the same from every page.

There is one explanation of a score, that of the service. Its parts add up to the score.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from traitbench.analysis.texts import is_long
from traitbench.contract.explanations import Explanation, Neighbour
from traitbench.display.colours import SIDES
from traitbench.display.reasons import COLUMNS, adding, highlighted, rows, strongest
from traitbench.display.text import count, is_address, plain, shortened
from traitbench_app.parts.chart import download_table
from traitbench_app.parts.controls import download, question
from traitbench_app.parts.scorer import PageScorer
from traitbench_app.shell import session
from traitbench_app.shell.service import attempt

_KNOWN = "reasons.known"
_MOST_KNOWN = 64
_LONGEST_SHOWN, _EXCERPT = 2_000, 40


def reasons_of(scorer: PageScorer, text: str) -> Mapping[str, Explanation]:
    """Return the explanation by trait; of the last texts from memory. Raise the service's errors."""
    asked = hashlib.sha256(f"{scorer.identity}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
    known: dict[str, Mapping[str, Explanation]] = session.get(_KNOWN, {})
    if asked not in known:
        # The oldest one makes room.
        known = dict([*known.items()][1 - _MOST_KNOWN :]) | {asked: scorer.explain(text)}
        session.store(_KNOWN, known)
    return known[asked]


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
        st.html(highlighted(reasons, text, by_pieces=shows_words(reasons, text)))


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
    return f"“{plain(shortened(words, _EXCERPT))}”"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


_BY, _WORDS, _SENTENCES = "adding.by", "By words", "By sentences"
_PART_EXCERPT, _NEAREST = 160, 2
_LONGEST = 200  # parts in the picture; the file has all of them


def shows_words(explanation: Explanation, text: str) -> bool:
    """Whether the text is lit by its words or phrases: as the person chose, else if it is not long."""
    if not by_words(explanation):
        return False
    if len(explanation.parts) < 2:
        return True
    chosen = session.get(_BY)
    return not is_long(text) if chosen is None else chosen == _WORDS


def pick_text(texts: int) -> int:
    """Draw the choice between two texts; return the place of the chosen one."""
    if texts < 2:
        return 0
    names = ("Text", "Second text")
    return names.index(
        st.segmented_control("Of", names, default=names[0], required=True, key="adding.text", persist_state="page")
    )


def draw_adding(reasons: Mapping[str, Explanation], key: str, name: str, text: str, *, file_name: str) -> None:
    """Draw the numbers for the trait `key`; `reasons` are those of all traits, which are in a file."""
    explanation = reasons[key]
    by_pieces = shows_words(explanation, text)
    if by_words(explanation) and len(explanation.parts) > 1:
        session.put({_BY: _WORDS if by_pieces else _SENTENCES})
        st.segmented_control(
            "Parts", [_WORDS, _SENTENCES], required=True, key=_BY, label_visibility="collapsed",
            persist_state="session",
        )  # fmt: skip
    unit = (
        "Each number is in points of the score." if explanation.unit == "score" else "1.00 moves a score of 50 to 73."
    )
    st.caption(f"The parts add up to the score of **{plain(shortened(name, 40))}**. {unit}")
    st.html(adding(explanation, text, by_pieces=by_pieces, most=_LONGEST))
    _draw_notes(explanation, text)
    with st.container(horizontal=True, horizontal_alignment="right"):
        table = pd.DataFrame(rows(explanation, text), columns=list(COLUMNS))
        download_table(table, key="adding", file_name=f"{file_name}-reasons-{key}")
        download(
            "JSON",
            json.dumps({each: one.model_dump(mode="json") for each, one in reasons.items()}, indent=2),
            f"{file_name}-reasons.json",
            key="adding.json",
            type="tertiary",
            help="The reasons of all traits.",
        )


def draw_nearest(explanation: Explanation, poles: tuple[str, str]) -> None:
    """Draw the samples that are most like the text, or why there are none."""
    with question("Most like this text", key="nearest"):
        nearest = explanation.nearest
        sides = () if nearest is None else zip((True, False), (nearest.positive, nearest.negative), strict=True)
        for positive, samples in sides:
            pole = f":{SIDES[positive].badge}[**{plain(poles[positive])}**]"
            for each in samples[:_NEAREST]:
                st.markdown(f":small[{pole} {_in_words(each)}]", help=f"Sample {each.id}, cosine {each.similarity:.2f}")
        if explanation.note:
            st.caption(plain(explanation.note))


def _in_words(near: Neighbour) -> str:
    return plain(shortened(near.text, _PART_EXCERPT)) if near.text else f"sample {near.id}"


def _draw_notes(explanation: Explanation, text: str) -> None:
    decided = explanation.decided_by
    if decided is not None:
        excerpt = plain(shortened(text[decided.start : decided.end], _PART_EXCERPT))
        st.caption(f"Only this part counts for the trait: “{excerpt}”")
    if not explanation.refined:
        st.caption("The text is long, so only its most important passages are divided into sentences.")
    parts = sum(len(part.pieces) or 1 for part in explanation.parts)
    if parts > _LONGEST:
        st.caption(f"The first {count(_LONGEST, 'part')} of {parts:,} are shown. The files have all of them.")

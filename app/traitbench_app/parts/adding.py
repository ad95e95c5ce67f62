"""What each part of a text adds to a trait's score, in numbers, and the samples that are most like the text."""

import json
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from traitbench.analysis.texts import is_long
from traitbench.contract.explanations import Explanation, Neighbour
from traitbench.display.colours import SIDES
from traitbench.display.reasons import COLUMNS, adding, rows
from traitbench.display.text import count, plain, shortened
from traitbench_app.parts.chart import download_table
from traitbench_app.parts.question import question
from traitbench_app.parts.reasons import by_words
from traitbench_app.shell import session

_BY, _WORDS, _SENTENCES = "adding.by", "By words", "By sentences"
_EXCERPT, _NEAREST = 160, 2
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
    return names.index(st.segmented_control("Of", names, default=names[0], required=True, key="adding.text"))


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
        st.download_button(
            "JSON",
            json.dumps({each: one.model_dump(mode="json") for each, one in reasons.items()}, indent=2),
            file_name=f"{file_name}-reasons.json",
            mime="application/json",
            icon=":material/download:",
            key="adding.json",
            on_click="ignore",
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
    return plain(shortened(near.text, _EXCERPT)) if near.text else f"sample {near.id}"


def _draw_notes(explanation: Explanation, text: str) -> None:
    decided = explanation.decided_by
    if decided is not None:
        excerpt = plain(shortened(text[decided.start : decided.end], _EXCERPT))
        st.caption(f"Only this part counts for the trait: “{excerpt}”")
    if not explanation.refined:
        st.caption("The text is long, so only its most important passages are divided into sentences.")
    parts = sum(len(part.pieces) or 1 for part in explanation.parts)
    if parts > _LONGEST:
        st.caption(f"The first {count(_LONGEST, 'part')} of {parts:,} are shown. The files have all of them.")
